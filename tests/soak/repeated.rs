//! A task that repeats on a thread of its own.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Repeats until it is dropped.
#[derive(Debug)]
pub(crate) struct Repeated {
    goes_on: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Repeated {
    /// Calls `what` with the number of the turn, and again `pace` after it has returned.
    pub(crate) fn every(pace: Duration, mut what: impl FnMut(u64) + Send + 'static) -> Self {
        let (goes_on, over) = channel::<()>();
        let thread = thread::spawn(move || {
            for turn in 0.. {
                what(turn);
                if over.recv_timeout(pace) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
            }
        });
        Self { goes_on: Some(goes_on), thread: Some(thread) }
    }
}

impl Drop for Repeated {
    fn drop(&mut self) {
        self.goes_on = None;
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}
