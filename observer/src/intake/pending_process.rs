//! A tap's obligation to report the process of a client.

use std::sync::mpsc::Sender;

use observer_core::observation::Process;

use super::ConnectionId;
use super::account::Charge;
use super::queue::Delivered;

/// Reports the process of one connection's client. If it is dropped without [`Self::found`], it reports an unknown process, since
/// the observer waits for an answer.
#[derive(Debug)]
pub struct PendingProcess {
    connection: ConnectionId,
    sender: Sender<Delivered>,
    /// Room in the queue for the report, charged in advance.
    charge: Option<Charge>,
    found: Option<Process>,
}

impl PendingProcess {
    pub(super) fn new(connection: ConnectionId, sender: Sender<Delivered>, charge: Charge) -> Self {
        Self { connection, sender, charge: Some(charge), found: None }
    }

    /// Reports `process`.
    pub fn found(mut self, process: Process) {
        self.found = Some(process);
    }
}

impl Drop for PendingProcess {
    fn drop(&mut self) {
        let delivered = Delivered::of_process(self.connection, self.found.take(), self.charge.take());
        // If the receiver is gone, no Observer waits for the process.
        self.sender.send(delivered).ok();
    }
}
