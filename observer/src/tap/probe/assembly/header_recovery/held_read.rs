//! Received bytes that wait for their header fields.
//!
//! A process decodes header blocks after reading them. So the records of the fields come after the bytes that contain them, and
//! before the bytes of the next read. But the decoder needs the fields first. So the bytes of each read wait until the next read,
//! or for a bounded time.

use std::mem;
use std::time::Duration;

use observer_core::http::{Blocks, HeaderFields};
use observer_core::time::Timestamp;

use crate::tap::probe::assembly::transfer::{HeldTransfers, Transfer, Way};

/// Maximum number of bytes that wait on one connection. A read is at most one TLS record; the other bytes were sent after it.
const MAX_BYTES: u64 = 256 << 10;

/// The last read of a connection, and the bytes sent after it.
#[derive(Debug, Default)]
pub(in crate::tap::probe::assembly) struct HeldRead {
    /// The first transfer is the read.
    transfers: HeldTransfers,
    decoded: Option<Decoded>,
    /// Time up to which records had been taken at the first call of [`Self::is_overdue`].
    since: Option<Timestamp>,
}

/// The header fields of the last read.
#[derive(Debug)]
struct Decoded {
    fields: HeaderFields,
    /// Number of bytes received on the connection when they were decoded.
    received: u64,
    /// Whether no field is missing.
    is_complete: bool,
}

impl HeldRead {
    pub(in crate::tap::probe::assembly) const fn is_waiting(&self) -> bool {
        !self.transfers.is_empty()
    }

    /// Adds bytes. Returns false once the limit is reached; the caller must then take all bytes that wait.
    pub(in crate::tap::probe::assembly) fn push(&mut self, transfer: Transfer<'_>) -> bool {
        if transfer.way == Way::Received {
            let fields = HeaderFields::new(Blocks::OfNextBytes);
            self.decoded = Some(Decoded { fields, received: transfer.end(), is_complete: true });
        }
        self.transfers.push(transfer);
        self.transfers.bytes() < MAX_BYTES
    }

    /// Adds a field of the last read; false if it belongs to another read, or an earlier field is missing.
    pub(super) fn received_field(&mut self, received: u64, number: u64, name: &[u8], value: &[u8]) -> bool {
        let Some(decoded) = self.decoded.as_mut().filter(|decoded| decoded.received == received) else { return false };
        decoded.is_complete &= decoded.fields.len() as u64 == number && decoded.fields.push(name, value).is_ok();
        decoded.is_complete
    }

    /// Notes that all records up to `taken` were taken; true once the read has waited for `wait`.
    pub(in crate::tap::probe::assembly) fn is_overdue(&mut self, taken: Timestamp, wait: Duration) -> bool {
        self.is_waiting() && taken.since(*self.since.get_or_insert(taken)) >= wait
    }

    /// Returns all transfers that wait, in order. The read has its header fields if none is missing.
    pub(in crate::tap::probe::assembly) fn take(&mut self) -> Vec<Transfer<'static>> {
        let Self { mut transfers, decoded, .. } = mem::take(self);
        let mut transfers = transfers.take();
        if let (Some(read), Some(decoded)) = (transfers.first_mut(), decoded)
            && decoded.is_complete
            && !decoded.fields.is_empty()
        {
            read.fields.push(decoded.fields);
        }
        transfers
    }
}
