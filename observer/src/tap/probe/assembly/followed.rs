//! A followed connection: its position in each direction, and its feed to the intake.

use std::time::Duration;

use observer_core::http::{Direction, Protocol, Start};
use observer_core::time::Timestamp;
use observer_ebpf::Role;

use super::header_recovery::HeldRead;
use super::socket::Socket;
use super::socket_ends::{End, SocketEnds};
use super::transfer::{Plaintext, Transfer, Way};
use crate::api_server::UpstreamId;
use crate::intake::{ConnectionFeed, EndManner};

/// How a connection leaves the probe's sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    /// It ended. The process ended its own direction in this manner, unless the socket reported another end.
    Ended(EndManner),
    /// It may continue.
    NotObserved,
}

/// A connection and its position in each direction.
#[derive(Debug)]
pub(super) struct Followed {
    pub socket: Socket,
    /// The API server at its server's address, if there is one.
    pub upstream: Option<UpstreamId>,
    pub ends: SocketEnds,
    /// Since when the process no longer has the connection: it has exited, or has given the connection up without `close_notify`.
    pub abandoned: Option<Timestamp>,
    feed: ConnectionFeed,
    sent: u64,
    received: u64,
    /// The latest reported time.
    latest: Timestamp,
    /// Whether its beginning was seen. Otherwise its header blocks refer to an unknown HPACK table.
    start: Start,
    /// Bytes that wait for their header fields, if those are recorded.
    held: Option<HeldRead>,
}

/// A connection's protocol, and whether the first record contains the first bytes of the connection.
pub(super) fn beginning(role: Role, first: &Transfer<'_>) -> (Option<Protocol>, Start) {
    let is_of_client = matches!((role, first.way), (Role::Client, Way::Sent) | (Role::Server, Way::Received));
    match Protocol::of_client(first.bytes.known()).filter(|_| is_of_client && first.offset == 0) {
        Some(protocol) => (Some(protocol), Start::Beginning),
        None => (None, Start::Middle),
    }
}

impl Followed {
    pub(super) fn new(socket: Socket, upstream: Option<UpstreamId>, start: Start, feed: ConnectionFeed, ends: SocketEnds) -> Self {
        let latest = Timestamp::default();
        Self { socket, upstream, ends, abandoned: None, feed, sent: 0, received: 0, latest, start, held: None }
    }

    /// Uses header fields, which are recorded from now on. If the beginning was seen, the bytes alone are enough.
    pub(super) fn recover_fields(&mut self) {
        if self.start == Start::Middle && self.held.is_none() {
            self.held = Some(HeldRead::default());
        }
    }

    /// The last read, if recorded header fields are wanted.
    pub(super) const fn held_read(&mut self) -> Option<&mut HeldRead> {
        self.held.as_mut()
    }

    /// Stops using header fields, which are no longer recorded.
    pub(super) fn recover_no_fields(&mut self) {
        self.release();
        self.held = None;
    }

    /// Takes bytes, with the fields of their header blocks. If fields are recorded, received bytes wait for their fields. Bytes
    /// that are sent meanwhile wait, too, so that the order is kept.
    pub(super) fn take(&mut self, transfer: Transfer<'_>) {
        let is_received = transfer.way == Way::Received;
        if is_received {
            self.release();
        }
        match &mut self.held {
            Some(held) if is_received || held.is_waiting() => {
                if !held.push(transfer) {
                    self.release();
                }
            }
            Some(_) | None => self.forward(transfer),
        }
    }

    /// Since when the connection has been over and no bytes have come. `None` while its process has it and its socket is not
    /// closed.
    pub(super) fn over(&self) -> Option<Timestamp> {
        self.abandoned.or(self.ends.over()).map(|since| since.max(self.latest))
    }

    /// Notes that all records up to `taken` were taken; bytes that have waited for `wait` are passed on.
    pub(super) fn release_overdue(&mut self, taken: Timestamp, wait: Duration) {
        if self.held.as_mut().is_some_and(|held| held.is_overdue(taken, wait)) {
            self.release();
        }
    }

    /// Passes on everything that waits.
    pub(super) fn release(&mut self) {
        for transfer in self.held.as_mut().map(HeldRead::take).unwrap_or_default() {
            self.forward(transfer);
        }
    }

    /// Passes on bytes at their position in their direction. Missing bytes before it are a gap.
    fn forward(&mut self, transfer: Transfer<'_>) {
        let Transfer { at, way, offset, bytes, fields } = transfer;
        self.latest = self.latest.max(at);
        let bytes = match bytes {
            Plaintext::Known(bytes) => bytes,
            Plaintext::Unreadable(length) => return self.miss_up_to(at, way, offset.saturating_add(length)),
        };
        // The fields belong after any gap before the bytes.
        self.miss_up_to(at, way, offset);
        for fields in fields {
            self.feed.fields(at, self.direction(way), fields);
        }
        self.bytes(at, way, offset, &bytes);
    }

    /// Passes on bytes at their position in their direction, without those passed on before.
    fn bytes(&mut self, at: Timestamp, way: Way, offset: u64, bytes: &[u8]) {
        let known = self.position(way).saturating_sub(offset);
        let new = usize::try_from(known).ok().and_then(|known| bytes.get(known..)).filter(|new| !new.is_empty());
        if let Some(new) = new {
            *self.position_mut(way) += new.len() as u64;
            self.feed.bytes(at, self.direction(way), new);
        }
    }

    /// Reports missing bytes before `offset` as a gap, since they will not come any more.
    pub(super) fn lack_up_to(&mut self, at: Timestamp, way: Way, offset: u64) {
        self.release();
        self.miss_up_to(at, way, offset);
    }

    fn miss_up_to(&mut self, at: Timestamp, way: Way, offset: u64) {
        let missing = offset.saturating_sub(self.position(way));
        if missing > 0 {
            *self.position_mut(way) += missing;
            self.feed.missed(at, self.direction(way), missing);
        }
    }

    /// Reports the end; nothing more follows.
    pub(super) fn close(mut self, at: Timestamp, last: Last) {
        self.release();
        let own = match last {
            Last::Ended(own) => own,
            Last::NotObserved => return self.feed.lost_sight(self.latest.max(at)),
        };
        let ends = std::mem::take(&mut self.ends).given_up(End { at, way: Way::Sent, manner: own });
        for End { at, way, manner } in ends {
            self.latest = self.latest.max(at);
            self.feed.ended(self.latest, self.direction(way), manner);
        }
        self.feed.closed(self.latest.max(at));
    }

    fn direction(&self, way: Way) -> Direction {
        match (self.socket.role, way) {
            (Role::Client, Way::Sent) | (Role::Server, Way::Received) => Direction::Request,
            (Role::Client, Way::Received) | (Role::Server, Way::Sent) => Direction::Response,
        }
    }

    const fn position(&self, way: Way) -> u64 {
        match way {
            Way::Sent => self.sent,
            Way::Received => self.received,
        }
    }

    const fn position_mut(&mut self, way: Way) -> &mut u64 {
        match way {
            Way::Sent => &mut self.sent,
            Way::Received => &mut self.received,
        }
    }
}
