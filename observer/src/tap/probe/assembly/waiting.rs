//! A connection that is not reported yet: its socket is unknown, or its first bytes have not come.

use observer_core::time::Timestamp;
use observer_ebpf::UNDECIDED_BYTES;

use super::place::Place;
use super::socket_ends::SocketEnds;
use super::transfer::Transfer;

/// The facts about it so far.
#[derive(Debug)]
pub(super) struct Waiting {
    pub place: Option<Place>,
    /// The ends that its socket reported before its first bytes came.
    pub ends: SocketEnds,
    /// In order of arrival.
    transfers: Vec<Transfer<'static>>,
    /// When its first record came.
    pub since: Timestamp,
    bytes: u64,
}

impl Waiting {
    pub(super) fn new(since: Timestamp) -> Self {
        Self { place: None, ends: SocketEnds::default(), transfers: Vec::new(), since, bytes: 0 }
    }

    /// Holds bytes, at most as many as the programs record of a connection with an unknown socket; false for more.
    pub(super) fn hold(&mut self, transfer: Transfer<'_>) -> bool {
        // Unreadable bytes take room too.
        let bytes = self.bytes + transfer.bytes.length();
        let has_room = bytes <= UNDECIDED_BYTES;
        if has_room {
            self.bytes = bytes;
            self.transfers.push(transfer.into_owned());
        }
        has_room
    }

    /// Returns the held bytes.
    pub(super) fn let_go(&mut self) -> Vec<Transfer<'static>> {
        self.bytes = 0;
        std::mem::take(&mut self.transfers)
    }

    /// Whether any bytes are held.
    pub(super) const fn has_bytes(&self) -> bool {
        !self.transfers.is_empty()
    }

    /// Number of bytes held.
    pub(super) const fn held(&self) -> u64 {
        self.bytes
    }
}
