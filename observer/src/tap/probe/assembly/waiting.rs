//! A connection that is not told yet: its socket is not known, or its first bytes have not come.

use std::borrow::Cow;

use observer_core::http::HeaderFields;
use observer_core::time::Timestamp;
use observer_ebpf::UNDECIDED_BYTES;

use super::followed::Way;
use super::place::Place;
use super::socket_ends::SocketEnds;

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

/// Bytes that went one way, at their place among those of their direction, and the header fields that are told of them besides.
#[derive(Debug)]
pub(super) struct Transfer<'b> {
    pub at: Timestamp,
    pub way: Way,
    pub offset: u64,
    pub bytes: Plaintext<'b>,
    pub fields: Vec<HeaderFields>,
}

/// What was said, which no text may show.
pub(super) enum Plaintext<'b> {
    Known(Cow<'b, [u8]>),
    /// So many that could not be read.
    Unreadable(u64),
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

impl Transfer<'_> {
    /// The same, to be kept.
    pub(super) fn into_owned(self) -> Transfer<'static> {
        let Self { at, way, offset, bytes, fields } = self;
        Transfer { at, way, offset, bytes: bytes.into_owned(), fields }
    }

    /// The place behind it.
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes.length())
    }
}

impl Plaintext<'_> {
    fn into_owned(self) -> Plaintext<'static> {
        match self {
            Self::Known(bytes) => Plaintext::Known(Cow::Owned(bytes.into_owned())),
            Self::Unreadable(length) => Plaintext::Unreadable(length),
        }
    }

    pub(super) fn known(&self) -> &[u8] {
        match self {
            Self::Known(bytes) => bytes,
            Self::Unreadable(_) => &[],
        }
    }

    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Known(bytes) => bytes.len() as u64,
            Self::Unreadable(length) => *length,
        }
    }
}

impl std::fmt::Debug for Plaintext<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "[{} bytes]", self.length())
    }
}
