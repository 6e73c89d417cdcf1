//! Ctrl-C during work whose result so far is worth a report.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use super::ignored::Ignored;

/// Notes the first SIGINT. The next one, or one after this is dropped, ends the process as if it had no handler.
///
/// A SIGINT that was ignored when the process started stays ignored.
#[derive(Debug)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub(crate) fn listen() -> io::Result<Self> {
        let noted = Arc::new(AtomicBool::new(false));
        if !Ignored::at_start().contains(SIGINT) {
            // In this order: the first signal must not find its own note.
            flag::register_conditional_default(SIGINT, Arc::clone(&noted))?;
            flag::register(SIGINT, Arc::clone(&noted))?;
        }
        Ok(Self(noted))
    }

    /// Whether the first SIGINT has come.
    pub(crate) fn is_noted(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Becomes true with the first SIGINT.
    pub(crate) fn noted(&self) -> &AtomicBool {
        &self.0
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
