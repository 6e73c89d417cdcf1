//! The sending end of one connection: it sends events within the connection's budgets, and merges the gaps between them.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use bytes::Bytes;
use observer_core::http::{Direction, Gap};
use observer_core::time::Timestamp;

use super::account::{Account, Charge};
use super::queue::{Delivered, Shared};
use super::{ConnectionId, TapEvent};

/// Sends one connection's events in order.
///
/// Gaps are kept here until the next event is sent, so that they always fit and adjacent gaps merge.
#[derive(Debug)]
pub(super) struct Outbox {
    id: ConnectionId,
    sender: Sender<Delivered>,
    shared: Arc<Shared>,
    data: Arc<Account>,
    reserve: Arc<Account>,
    gaps: Vec<PendingGap>,
    last: Timestamp,
}

#[derive(Clone, Copy, Debug)]
struct PendingGap {
    at: Timestamp,
    direction: Direction,
    gap: Gap,
}

/// Bytes that a queued event costs besides its payload: its list entry, its allocation header, and the gaps before it.
const EVENT_COST: usize = 256;

impl Outbox {
    pub(super) fn new(id: ConnectionId, sender: Sender<Delivered>, shared: Arc<Shared>) -> Self {
        let limits = shared.limits;
        let data = Account::part_of(&shared.data, limits.connection);
        let reserve = Account::part_of(&shared.reserve, limits.connection_reserve);
        Self { id, sender, shared, data, reserve, gaps: Vec::new(), last: Timestamp::default() }
    }

    /// Time of the last event or gap.
    pub(super) fn last(&self) -> Timestamp {
        self.last
    }

    /// Charges `bytes` to the budget of forwarded bytes. Returns `None` if there is no room.
    pub(super) fn room(&self, bytes: &[u8]) -> Option<Charge> {
        self.room_for(bytes.len())
    }

    /// Charges `length` bytes to the budget of forwarded bytes. Returns `None` if there is no room.
    pub(super) fn room_for(&self, length: usize) -> Option<Charge> {
        self.data.charge(length + EVENT_COST)
    }

    /// Charges `bytes`, which the decoder needs, to the reserve. Returns `None` if there is no room.
    pub(super) fn reserved_room(&self, bytes: &[u8]) -> Option<Charge> {
        self.reserve.charge(bytes.len() + EVENT_COST)
    }

    /// Sends a copy of `bytes`, paid for by `charge`.
    pub(super) fn bytes(&mut self, at: Timestamp, direction: Direction, bytes: &[u8], charge: Charge) {
        let event = TapEvent::Bytes { at, direction, bytes: Bytes::copy_from_slice(bytes) };
        self.event(at, event, Some(charge));
        self.shared.hurry_if_much_waits();
    }

    /// Records bytes that are not sent.
    pub(super) fn gap(&mut self, at: Timestamp, direction: Direction, gap: Gap) {
        self.last = at;
        self.shared.losses.bytes.fetch_add(gap.length, Ordering::Relaxed);
        match self.mergeable(direction, gap) {
            Some(pending) => pending.gap.length += gap.length,
            None => self.gaps.push(PendingGap { at, direction, gap }),
        }
    }

    /// Counts a read that was not sent completely.
    pub(super) fn count_lossy_read(&self) {
        self.shared.losses.reads.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a direction whose decoding stops here.
    pub(super) fn count_stopped_direction(&self) {
        self.shared.losses.stopped_directions.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends an event whose room is already charged. Returns false if the receiver is gone.
    pub(super) fn event(&mut self, at: Timestamp, event: TapEvent, charge: Option<Charge>) -> bool {
        self.last = at;
        for PendingGap { at, direction, gap } in mem::take(&mut self.gaps) {
            self.send(TapEvent::Gap { at, direction, gap }, None);
        }
        self.send(event, charge)
    }

    fn send(&self, event: TapEvent, charge: Option<Charge>) -> bool {
        self.sender.send(Delivered::of_connection(self.id, event, charge)).is_ok()
    }

    /// The last pending gap of this direction, if it has the same stream: `gap` continues it. A gap of the other direction may be
    /// in between, since nothing was sent after either.
    fn mergeable(&mut self, direction: Direction, gap: Gap) -> Option<&mut PendingGap> {
        let same_direction = self.gaps.iter_mut().rev().find(|pending| pending.direction == direction);
        same_direction.filter(|pending| pending.gap.stream == gap.stream)
    }
}
