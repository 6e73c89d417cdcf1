//! The messages between the two threads of a probe.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use observer_core::observation::Process;
use observer_core::series::ProbeFiles;

use crate::tap::probe::options::ProbeOutcome;

/// Maximum number of waiting orders.
const MAX_ORDERS: usize = 4_096;
/// Maximum number of waiting findings.
const MAX_FINDINGS: usize = 1_024;

/// An order to the attaching thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tap::probe) enum Order {
    /// A process executed a program.
    Executed(u32),
    /// A process has exited.
    Exited(u32),
    /// Orders were lost because the queue was full, so unknown processes have started or exited.
    Missed,
    /// API servers have got addresses, which are published.
    Readdressed,
}

/// A result of examining processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tap::probe) enum Finding {
    /// A file is no longer probed.
    Detached {
        /// The file's number.
        file: u16,
        /// No record of the file is later than this time of the kernel's clock.
        at: u64,
    },
    /// Recording of a process's header fields begins or ends. The finding that it begins comes before the first field.
    FieldRecording(FieldRecording),
    /// Connections of a file are not seen.
    NotProbed {
        /// The file's path, as a process sees it.
        file: String,
        /// The reason, as text.
        why: String,
    },
    /// A client of an API server is not seen, because its TLS library cannot be probed.
    UnprobedClient {
        /// The path of the file with the library, as the client sees it.
        file: String,
        /// Why the library cannot be probed.
        why: &'static str,
        /// One process that runs the file and is connected with an API server; its owner is unknown.
        client: Process,
    },
    /// The header fields of connections with new addresses of API servers are recorded, as far as they can be.
    Readdressed,
    /// How many files are probed, completely or not.
    Files(ProbeFiles),
    /// The last finding: the sender of orders is gone. Then all probes are detached, and the channel closes.
    Outcome(ProbeOutcome),
}

/// Whether header fields of a process are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tap::probe) struct FieldRecording {
    /// Its PID.
    pub(in crate::tap::probe) process: u32,
    /// Whether its header fields are recorded from `at` on.
    pub(in crate::tap::probe) is_on: bool,
    /// The time of the change, by the kernel's clock. A former process with this PID was gone by then.
    pub(in crate::tap::probe) at: u64,
}

/// The sender of findings, which waits for room.
pub(in crate::tap::probe) type FindingSender = SyncSender<Finding>;

/// The sender of orders, which never waits.
#[derive(Debug)]
pub(in crate::tap::probe) struct Orders {
    orders: SyncSender<Order>,
    are_missed: bool,
}

impl Orders {
    pub(in crate::tap::probe) fn new() -> (Self, Receiver<Order>) {
        let (orders, receiver) = sync_channel(MAX_ORDERS);
        (Self { orders, are_missed: false }, receiver)
    }

    /// Gives an order. If it finds no room, [`Order::Missed`] follows as soon as there is room.
    pub(in crate::tap::probe) fn give(&mut self, order: Order) {
        self.catch_up();
        self.are_missed = self.are_missed || self.finds_no_room(order);
    }

    /// Sends [`Order::Missed`] if orders were missed and there is room now.
    pub(in crate::tap::probe) fn catch_up(&mut self) {
        self.are_missed = self.are_missed && self.finds_no_room(Order::Missed);
    }

    fn finds_no_room(&self, order: Order) -> bool {
        // A dropped receiver needs no notice.
        matches!(self.orders.try_send(order), Err(TrySendError::Full(_)))
    }
}

pub(in crate::tap::probe) fn findings() -> (FindingSender, Receiver<Finding>) {
    sync_channel(MAX_FINDINGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_order_queue_reports_the_loss_without_blocking() {
        let (mut orders, receiver) = Orders::new();
        let most = u32::try_from(MAX_ORDERS).unwrap();
        (0..most + 10).for_each(|process| orders.give(Order::Executed(process)));
        orders.catch_up();
        let taken: Vec<Order> = receiver.try_iter().collect();
        assert_eq!(taken, (0..most).map(Order::Executed).collect::<Vec<_>>());
        orders.catch_up();
        orders.give(Order::Exited(7));
        orders.catch_up();
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [Order::Missed, Order::Exited(7)]);
    }
}
