//! One connection that is followed.

use observer_core::http::{Direction, Protocol, Start};
use observer_core::time::Timestamp;

use crate::intake::{ConnectionFeed, EndManner};

/// Which side of the connection the process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It asks.
    Client,
    /// It answers.
    Server,
}

/// Which way bytes go, as the process sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Sent,
    Received,
}

/// A connection and how much of it went by.
#[derive(Debug)]
pub(super) struct Followed {
    role: Role,
    feed: ConnectionFeed,
    sent: u64,
    received: u64,
}

/// A connection's protocol, and whether its first record has its first bytes.
pub(super) fn beginning(role: Role, way: Way, offset: u64, bytes: &[u8]) -> (Option<Protocol>, Start) {
    let is_of_client = matches!((role, way), (Role::Client, Way::Sent) | (Role::Server, Way::Received));
    match Protocol::of_client(bytes).filter(|_| is_of_client && offset == 0) {
        Some(protocol) => (Some(protocol), Start::Beginning),
        None => (None, Start::Middle),
    }
}

impl Followed {
    pub(super) const fn new(role: Role, feed: ConnectionFeed) -> Self {
        Self { role, feed, sent: 0, received: 0 }
    }

    /// Bytes at their place among those of their direction; what lies before and did not come is a hole, what came before is not told again.
    pub(super) fn bytes(&mut self, at: Timestamp, way: Way, offset: u64, bytes: &[u8]) {
        self.miss_up_to(at, way, offset);
        let known = self.position(way).saturating_sub(offset);
        let news = usize::try_from(known).ok().and_then(|known| bytes.get(known..)).filter(|news| !news.is_empty());
        if let Some(news) = news {
            *self.position_mut(way) += news.len() as u64;
            self.feed.bytes(at, self.direction(way), news);
        }
    }

    /// Everything before `offset` that did not come will not come any more.
    pub(super) fn miss_up_to(&mut self, at: Timestamp, way: Way, offset: u64) {
        let missing = offset.saturating_sub(self.position(way));
        if missing > 0 {
            *self.position_mut(way) += missing;
            self.feed.missed(at, self.direction(way), missing);
        }
    }

    /// The connection is over: the process gave it up, unless the other side had ended its half before.
    pub(super) fn close(mut self, at: Timestamp, manner: EndManner) {
        self.feed.ended(at, self.direction(Way::Sent), manner);
        self.feed.closed(at);
    }

    fn direction(&self, way: Way) -> Direction {
        match (self.role, way) {
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
