//! A connection that is not told yet: its socket is not known, or its first bytes have not come.

use observer_core::time::Timestamp;
use observer_ebpf::UNDECIDED_BYTES;

use super::place::Place;
use super::socket_ends::SocketEnds;
use super::transfer::Transfer;

/// What is known of it so far.
#[derive(Debug)]
pub(super) struct Waiting {
    pub place: Option<Place>,
    /// What its socket told before its first bytes came.
    pub ends: SocketEnds,
    /// In the order in which they came.
    transfers: Vec<Transfer<'static>>,
    /// Since when.
    pub since: Timestamp,
    bytes: u64,
}

impl Waiting {
    pub(super) fn new(since: Timestamp) -> Self {
        Self { place: None, ends: SocketEnds::default(), transfers: Vec::new(), since, bytes: 0 }
    }

    /// Holds bytes, as many as the programs record of a connection whose socket is not known; false for more.
    pub(super) fn hold(&mut self, transfer: Transfer<'_>) -> bool {
        // One that cannot be read takes room all the same.
        let bytes = self.bytes + transfer.bytes.length();
        let has_room = bytes <= UNDECIDED_BYTES;
        if has_room {
            self.bytes = bytes;
            self.transfers.push(transfer.into_owned());
        }
        has_room
    }

    /// Gives away what is held.
    pub(super) fn let_go(&mut self) -> Vec<Transfer<'static>> {
        self.bytes = 0;
        std::mem::take(&mut self.transfers)
    }

    /// Whether anything was said.
    pub(super) const fn has_bytes(&self) -> bool {
        !self.transfers.is_empty()
    }

    /// How many bytes are held.
    pub(super) const fn held(&self) -> u64 {
        self.bytes
    }
}
