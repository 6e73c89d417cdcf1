//! Bytes that passed in one direction, and those that are held back.

use std::borrow::Cow;

use observer_core::http::HeaderFields;
use observer_core::time::Timestamp;

/// The direction of bytes, as the process sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Sent,
    Received,
}

/// Bytes of one direction at their position, and the header fields that were recorded for them.
#[derive(Debug)]
pub(super) struct Transfer<'b> {
    pub at: Timestamp,
    pub way: Way,
    pub offset: u64,
    pub bytes: Plaintext<'b>,
    pub fields: Vec<HeaderFields>,
}

/// The bytes, which `Debug` never shows.
pub(super) enum Plaintext<'b> {
    Known(Cow<'b, [u8]>),
    /// A number of bytes that could not be read.
    Unreadable(u64),
}

/// Bytes that are held back, in order of arrival.
#[derive(Debug, Default)]
pub(super) struct HeldTransfers {
    transfers: Vec<Transfer<'static>>,
    bytes: u64,
}

impl HeldTransfers {
    pub(super) fn push(&mut self, transfer: Transfer<'_>) {
        self.bytes = self.bytes.saturating_add(transfer.bytes.length());
        self.transfers.push(transfer.into_owned());
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.transfers.is_empty()
    }

    /// Number of bytes held. Unreadable bytes count, too, although they take no memory.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns everything held.
    pub(super) fn take(&mut self) -> Vec<Transfer<'static>> {
        std::mem::take(self).transfers
    }
}

impl Transfer<'_> {
    /// A copy that can be kept.
    pub(super) fn into_owned(self) -> Transfer<'static> {
        let Self { at, way, offset, bytes, fields } = self;
        Transfer { at, way, offset, bytes: bytes.into_owned(), fields }
    }

    /// The position after it.
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
