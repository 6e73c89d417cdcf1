//! Received bytes that wait for their header fields.
//!
//! A process decodes header blocks after reading them. So fields come after the bytes that contain them, and before those of the
//! next read. The decoder needs the fields first. So the last read waits until the next one, or for a bounded time.

use std::mem;
use std::time::Duration;

use observer_core::http::{Blocks, HeaderFields};
use observer_core::time::Timestamp;

use super::transfer::{Transfer, Way};

/// Most bytes that wait on one connection. A read is at most one TLS record; the rest was sent meanwhile.
const MAX_BYTES: u64 = 256 << 10;

/// The last read of a connection, and the bytes sent since.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The first one is the read.
    transfers: Vec<Transfer<'static>>,
    bytes: u64,
    decoded: Option<Decoded>,
    /// Time up to which records had been taken at the first [`Self::look`].
    since: Option<Timestamp>,
}

/// The header fields of the last read.
#[derive(Debug)]
struct Decoded {
    fields: HeaderFields,
    /// Bytes received when they were decoded.
    received: u64,
    /// Whether no field is missing.
    is_whole: bool,
}

impl Held {
    pub(super) const fn is_waiting(&self) -> bool {
        !self.transfers.is_empty()
    }

    /// Adds bytes; false if there is no room for more.
    pub(super) fn push(&mut self, transfer: Transfer<'_>) -> bool {
        if transfer.way == Way::Received {
            let fields = HeaderFields::new(Blocks::OfNextBytes);
            self.decoded = Some(Decoded { fields, received: transfer.end(), is_whole: true });
        }
        self.bytes = self.bytes.saturating_add(transfer.bytes.length());
        self.transfers.push(transfer.into_owned());
        self.bytes < MAX_BYTES
    }

    /// Adds a field of the last read; false if it belongs to another read, or an earlier field is missing.
    pub(super) fn received_field(&mut self, received: u64, number: u64, name: &[u8], value: &[u8]) -> bool {
        let Some(decoded) = self.decoded.as_mut().filter(|decoded| decoded.received == received) else { return false };
        decoded.is_whole &= decoded.fields.len() as u64 == number && decoded.fields.push(name, value).is_ok();
        decoded.is_whole
    }

    /// Notes that all records up to `taken` were taken; true once the read has waited for `wait`.
    pub(super) fn look(&mut self, taken: Timestamp, wait: Duration) -> bool {
        self.is_waiting() && taken.since(*self.since.get_or_insert(taken)) >= wait
    }

    /// Everything that waits, in order.
    pub(super) fn take(&mut self) -> Vec<Transfer<'static>> {
        let Self { mut transfers, decoded, .. } = mem::take(self);
        if let (Some(first), Some(decoded)) = (transfers.first_mut(), decoded)
            && decoded.is_whole
            && !decoded.fields.is_empty()
        {
            first.fields.push(decoded.fields);
        }
        transfers
    }
}
