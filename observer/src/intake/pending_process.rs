//! A tap's duty to say which process a client is.

use std::sync::mpsc::Sender;

use observer_core::observation::Process;

use super::account::Charge;
use super::{ConnectionId, Delivered};

/// Says of one connection which process its client is. Dropped without [`Self::found`] it says that this is unknown: who observes waits for it.
#[derive(Debug)]
pub struct PendingProcess {
    connection: ConnectionId,
    sender: Sender<Delivered>,
    /// Pays for what will be said.
    charge: Option<Charge>,
    found: Option<Process>,
}

impl PendingProcess {
    pub(super) fn new(connection: ConnectionId, sender: Sender<Delivered>, charge: Charge) -> Self {
        Self { connection, sender, charge: Some(charge), found: None }
    }

    /// Says that it is `process`.
    pub fn found(mut self, process: Process) {
        self.found = Some(process);
    }
}

impl Drop for PendingProcess {
    fn drop(&mut self) {
        let told = Delivered::of_process(self.connection, self.found.take(), self.charge.take());
        // Nobody waits for it where nobody receives.
        self.sender.send(told).ok();
    }
}
