//! The receiving end of the queue.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use std::vec::Drain;

use super::queue::{Delivered, Shared};
use super::{IntakeLosses, Waker};

/// How long a first event may wait for others.
const COLLECT: Duration = Duration::from_millis(5);
/// Maximum number of entries in one batch, so that a drain ends however fast the traffic is.
const BATCH: usize = 8192;

/// The receiving end, for the observing thread.
#[derive(Debug)]
pub struct IntakeReceiver {
    receiver: Receiver<Delivered>,
    hurry: Receiver<()>,
    shared: Arc<Shared>,
    waker: Waker,
    batch: Vec<Delivered>,
    closed: bool,
}

impl IntakeReceiver {
    pub(super) const fn new(receiver: Receiver<Delivered>, hurry: Receiver<()>, shared: Arc<Shared>, waker: Waker) -> Self {
        Self { receiver, hurry, shared, waker, batch: Vec::new(), closed: false }
    }

    /// Waits up to `max_wait` for a first entry, then briefly for more, and returns them in order of arrival.
    ///
    /// Empty if nothing arrived; see [`Self::is_closed`].
    pub fn drain(&mut self, max_wait: Duration) -> Drain<'_, Delivered> {
        match self.receiver.recv_timeout(max_wait) {
            Ok(first) => {
                self.batch.push(first);
                self.collect();
                self.batch.extend(self.receiver.try_iter().take(BATCH));
            }
            Err(RecvTimeoutError::Disconnected) => self.closed = true,
            Err(RecvTimeoutError::Timeout) => {}
        }
        self.batch.drain(..)
    }

    /// Whether all [`Intake`](super::Intake)s and connections are gone and the queue is empty.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Wakes the thread that drains this queue.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Losses so far.
    pub fn losses(&self) -> IntakeLosses {
        self.shared.losses.snapshot()
    }

    /// Sleeps while little is queued: waking this thread costs more than handling a small event.
    fn collect(&self) {
        while self.hurry.try_recv().is_ok() {}
        self.shared.hurried.store(false, Ordering::SeqCst);
        if !self.shared.is_much_waiting() {
            // The batch is due in both cases: the time is up, or a sender reports that much is queued.
            self.hurry.recv_timeout(COLLECT).ok();
        }
    }
}
