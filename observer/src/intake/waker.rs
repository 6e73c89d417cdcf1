//! Wakes the observing thread, without keeping the queue open.

use std::sync::mpsc::Sender;
use std::sync::{Arc, PoisonError, Weak};

use observer_core::series::{ProbeAddresses, ProbeFiles};

use super::Notice;
use super::queue::{Delivered, Shared};

/// For readers that ask the observing thread for something.
#[derive(Clone, Debug)]
pub struct Waker {
    /// Weak, because the observing thread ends when all senders are dropped.
    sender: Weak<Sender<Delivered>>,
    shared: Arc<Shared>,
}

impl Waker {
    pub(super) const fn new(sender: Weak<Sender<Delivered>>, shared: Arc<Shared>) -> Self {
        Self { sender, shared }
    }

    /// Wakes the observing thread. It needs no room in the queue, so the caller bounds the number of calls. Once all taps have
    /// stopped, the thread wakes by itself, within a second.
    pub fn wake(&self) {
        if let Some(sender) = self.sender.upgrade() {
            // Without a receiver there is no thread to wake.
            sender.send(Delivered::of_notice(Notice::Asked, None)).ok();
        }
    }

    /// The files of the probe; `None` without one, or before it has examined any.
    pub fn probe_files(&self) -> Option<ProbeFiles> {
        *self.shared.probe_files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The addresses of the probe's API servers; `None` without one.
    pub fn probe_addresses(&self) -> Option<ProbeAddresses> {
        *self.shared.probe_addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forwarded bytes that wait in the queue. The reserve is left out, since open connections are charged to it.
    pub fn queued(&self) -> usize {
        self.shared.data.used()
    }
}
