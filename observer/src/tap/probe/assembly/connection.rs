//! A connection in one of two stages: it waits to be reported to the intake, or it is followed.

use std::time::Duration;

use observer_core::time::Timestamp;
use observer_ebpf::{UNDECIDED_BYTES, UNDECIDED_TIME};

use super::followed::Followed;
use super::header_recovery::HeldRead;
use super::socket::{Endpoints, Socket};
use super::socket_ends::SocketEnds;
use super::transfer::{HeldTransfers, Transfer};

/// A connection that is reported, or not yet.
#[derive(Debug)]
pub(super) enum Connection {
    Waiting(Box<Waiting>),
    Followed(Box<Followed>),
}

/// A connection that is not reported yet: its socket is unknown, or its first bytes have not come.
#[derive(Debug)]
pub(super) struct Waiting {
    pub socket: Option<Socket>,
    /// The ends that its socket reported before its first bytes came.
    pub ends: SocketEnds,
    pub held: HeldTransfers,
    /// The socket's address in the kernel and the endpoints of the connection before it at this address of the process, if that
    /// had not ended.
    pub former: Option<(u64, Endpoints)>,
    /// When its first record came.
    pub since: Timestamp,
}

impl Connection {
    pub(super) fn followed_mut(&mut self) -> Option<&mut Followed> {
        match self {
            Self::Waiting(_) => None,
            Self::Followed(followed) => Some(followed),
        }
    }

    /// Its last read, if header fields are wanted.
    pub(super) fn held_read(&mut self) -> Option<&mut HeldRead> {
        self.followed_mut().and_then(Followed::held_read)
    }

    pub(super) fn ends(&self) -> &SocketEnds {
        match self {
            Self::Waiting(waiting) => &waiting.ends,
            Self::Followed(followed) => &followed.ends,
        }
    }

    pub(super) fn is_abandoned(&self) -> bool {
        matches!(self, Self::Followed(followed) if followed.abandoned.is_some())
    }

    pub(super) fn socket(&self) -> Option<&Socket> {
        match self {
            Self::Waiting(waiting) => waiting.socket.as_ref(),
            Self::Followed(followed) => Some(&followed.socket),
        }
    }

    /// The time since which it has waited for its socket, or since which it has been over. `None` unless this has lasted too long
    /// at `now`.
    pub(super) fn overdue(&self, now: Timestamp, linger: Duration) -> Option<Timestamp> {
        let over = match self {
            Self::Waiting(waiting) if waiting.socket.is_none() => {
                return Some(waiting.since).filter(|since| since.plus(Duration::from_nanos(UNDECIDED_TIME)) < now);
            }
            Self::Waiting(waiting) => waiting.ends.over(),
            Self::Followed(followed) => followed.over(),
        };
        over.filter(|since| since.plus(linger) <= now)
    }
}

impl Waiting {
    pub(super) fn new(since: Timestamp, former: Option<(u64, Endpoints)>) -> Self {
        Self { socket: None, ends: SocketEnds::default(), held: HeldTransfers::default(), former, since }
    }

    /// Whether the programs have forgotten the connection and taken it for a new one: it has the socket of the one before it.
    pub(super) fn is_forgotten_one(&self) -> bool {
        self.former.is_some() && self.former == self.socket.as_ref().map(|socket| (socket.address, socket.endpoints))
    }

    /// Holds bytes, up to the number that the programs record for a connection with an unknown socket. Returns false if the bytes
    /// would exceed this number.
    pub(super) fn hold(&mut self, transfer: Transfer<'_>) -> bool {
        let has_room = self.held.bytes().saturating_add(transfer.bytes.length()) <= UNDECIDED_BYTES;
        if has_room {
            self.held.push(transfer);
        }
        has_room
    }
}
