//! What the two threads of a probe tell each other.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use super::options::ProbeOutcome;

/// Orders that wait, at most.
const MAX_ORDERS: usize = 4_096;
/// Findings that wait, at most.
const MAX_FINDINGS: usize = 1_024;

/// What is to be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// A process runs another program from now on.
    Executed(u32),
    /// A process is gone.
    Exited(u32),
    /// Orders found no room: processes were started or are gone, and which is not known.
    Missed,
}

/// What came of looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// A file is probed no more.
    Left {
        /// Its number.
        file: u16,
        /// Nothing was recorded of it after that, by the kernel's clock.
        at: u64,
    },
    /// Header fields of a process are told, from before the first that is, or not any more.
    Explained(Explained),
    /// Connections of a file are not seen.
    NotProbed {
        /// As a process has it.
        file: String,
        /// Why.
        why: String,
    },
    /// The last one: nobody gives orders any more. Behind it all that is attached is ended, and then the findings end.
    Outcome(ProbeOutcome),
}

/// Whether header fields of a process are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Explained {
    /// Which one.
    pub(super) process: u32,
    /// Whether they are.
    pub(super) is_told: bool,
    /// Since when, by the kernel's clock: the process that had this number before is gone by then.
    pub(super) at: u64,
}

/// The end at which findings are waited for room for.
pub(super) type Findings = SyncSender<Finding>;

/// The end at which orders are given, without ever waiting.
#[derive(Debug)]
pub(super) struct Orders {
    orders: SyncSender<Order>,
    are_missed: bool,
}

impl Orders {
    pub(super) fn new() -> (Self, Receiver<Order>) {
        let (orders, receiver) = sync_channel(MAX_ORDERS);
        (Self { orders, are_missed: false }, receiver)
    }

    /// Gives an order. Where it finds no room, it is told that one was missed as soon as there is.
    pub(super) fn give(&mut self, order: Order) {
        self.catch_up();
        self.are_missed = self.are_missed || self.finds_no_room(order);
    }

    /// Tells that orders were missed, if any were and there is room now.
    pub(super) fn catch_up(&mut self) {
        self.are_missed = self.are_missed && self.finds_no_room(Order::Missed);
    }

    fn finds_no_room(&self, order: Order) -> bool {
        // Who is gone misses none.
        matches!(self.orders.try_send(order), Err(TrySendError::Full(_)))
    }
}

pub(super) fn findings() -> (Findings, Receiver<Finding>) {
    sync_channel(MAX_FINDINGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_that_finds_no_room_is_not_forgotten_and_not_waited_for() {
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
