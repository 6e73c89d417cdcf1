//! The copy of a connection's traffic for the observing half.

use observer_core::http::{Direction, FrameWalker};

use observer_core::time::Timestamp;

use crate::intake::{ConnectionFeed, EndManner};
use crate::tap::Clock;

/// Where the copy goes.
#[derive(Debug)]
pub(super) enum Tee {
    /// To the queue.
    Observed(ConnectionFeed, Clock),
    /// Dropped, but the frames of HTTP/2 responses are followed, for GOAWAY.
    Framed(FrameWalker),
    /// Dropped.
    Blind,
}

impl Tee {
    pub(super) fn bytes(&mut self, direction: Direction, bytes: &[u8]) {
        match (self, direction) {
            (Self::Observed(feed, clock), direction) => feed.bytes(clock.now(), direction, bytes),
            (Self::Framed(walker), Direction::Response) => walker.walk(bytes, |_| {}),
            (Self::Framed(_), Direction::Request) | (Self::Blind, Direction::Request | Direction::Response) => {}
        }
    }

    /// The time, if the connection is observed.
    pub(super) fn now(&self) -> Option<Timestamp> {
        match self {
            Self::Observed(_, clock) => Some(clock.now()),
            Self::Framed(_) | Self::Blind => None,
        }
    }

    /// Reports that the client's socket has been full since `since`, or has room again (`None`).
    pub(super) fn client_blocked(&mut self, since: Option<Timestamp>) {
        if let Self::Observed(feed, clock) = self {
            feed.client_blocked(clock.now(), since);
        }
    }

    /// Whether the server has announced with GOAWAY that it takes no more requests.
    pub(super) fn saw_goaway(&self) -> bool {
        match self {
            Self::Observed(feed, _) => feed.saw_goaway(),
            Self::Framed(walker) => walker.saw_goaway(),
            Self::Blind => false,
        }
    }

    pub(super) fn ended(&mut self, direction: Direction, manner: EndManner) {
        if let Self::Observed(feed, clock) = self {
            feed.ended(clock.now(), direction, manner);
        }
    }

    pub(super) fn closed(self) {
        if let Self::Observed(feed, clock) = self {
            feed.closed(clock.now());
        }
    }
}
