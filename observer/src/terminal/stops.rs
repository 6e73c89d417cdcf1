//! Stops and continues the process while a page has the terminal: Ctrl-Z, SIGTSTP, SIGCONT.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Signal, kill_current_process_group};
use signal_hook::consts::{SIGCONT, SIGTSTP};
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

use super::modes::can_be_continued;
use crate::signals::Ignored;

/// Handlers that delay SIGTSTP until the terminal is restored, and note SIGCONT. After this is dropped, SIGTSTP has its default
/// action.
#[derive(Debug)]
pub(super) struct Stops {
    asked: Arc<AtomicBool>,
    continued: Arc<AtomicBool>,
    by_default: Arc<AtomicBool>,
}

impl Stops {
    pub(super) fn open() -> io::Result<Self> {
        let stops = Self { asked: Arc::default(), continued: Arc::default(), by_default: Arc::default() };
        if !Ignored::at_start().contains(SIGTSTP) {
            flag::register_conditional_default(SIGTSTP, Arc::clone(&stops.by_default))?;
            flag::register(SIGTSTP, Arc::clone(&stops.asked))?;
        }
        flag::register(SIGCONT, Arc::clone(&stops.continued))?;
        Ok(stops)
    }

    /// Sends SIGTSTP to the entire process group, as Ctrl-Z does outside a page.
    pub(super) fn ask() -> io::Result<()> {
        Ok(kill_current_process_group(Signal::TSTP)?)
    }

    /// Whether SIGTSTP arrived since the last call. False if no shell could continue this process; the system ignores SIGTSTP then,
    /// too.
    pub(super) fn are_asked_for(&self) -> bool {
        self.asked.swap(false, Ordering::SeqCst) && can_be_continued()
    }

    /// Stops this process, and returns when it is continued.
    pub(super) fn stop() -> io::Result<()> {
        emulate_default_handler(SIGTSTP)
    }

    /// Whether SIGCONT arrived since the last call. The cause of the stop and the state of the terminal are unknown.
    pub(super) fn are_over(&self) -> bool {
        self.continued.swap(false, Ordering::SeqCst)
    }
}

impl Drop for Stops {
    fn drop(&mut self) {
        self.by_default.store(can_be_continued(), Ordering::SeqCst);
    }
}
