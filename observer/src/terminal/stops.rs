//! Being stopped and continued while a page has the terminal: ctrl-Z, SIGTSTP, SIGCONT.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Signal, kill_current_process_group};
use signal_hook::consts::{SIGCONT, SIGTSTP};
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

use super::modes::can_be_continued;
use crate::signals::Ignored;

/// Holds SIGTSTP back until the terminal was given back, and tells of SIGCONT; until it is dropped, from when on SIGTSTP stops us as ever.
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

    /// Does what ctrl-Z does at a terminal that is not ours alone: asks all of our process group to stop.
    pub(super) fn ask() -> io::Result<()> {
        Ok(kill_current_process_group(Signal::TSTP)?)
    }

    /// Whether we were asked to stop since this was asked last. Where nobody could continue us, that means nothing, as it would to the system.
    pub(super) fn are_asked_for(&self) -> bool {
        self.asked.swap(false, Ordering::SeqCst) && can_be_continued()
    }

    /// Stops; returns when we are continued.
    pub(super) fn stop() -> io::Result<()> {
        emulate_default_handler(SIGTSTP)
    }

    /// Whether we were continued since this was asked last: by whom that was, and what became of the terminal, is not known.
    pub(super) fn are_over(&self) -> bool {
        self.continued.swap(false, Ordering::SeqCst)
    }
}

impl Drop for Stops {
    fn drop(&mut self) {
        self.by_default.store(can_be_continued(), Ordering::SeqCst);
    }
}
