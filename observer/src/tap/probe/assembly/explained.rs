//! Header fields recorded apart from the bytes, for processes that had connections before they were probed.

use std::collections::BTreeSet;

use observer_core::http::HeaderFields;
use observer_ebpf::{Kind, Record, UNREADABLE, UNWANTED};

use super::followed::Followed;
use super::sent_fields::SentFields;

/// The processes with recorded header fields, and the fields that are not joined with their bytes yet.
#[derive(Debug, Default)]
pub(super) struct Explained {
    processes: BTreeSet<u32>,
    sent: SentFields,
    /// Decoded fields that came too late, or after a missing one.
    late: u64,
}

impl Explained {
    pub(super) fn is_empty(&self) -> bool {
        self.processes.is_empty()
    }

    pub(super) fn contains(&self, process: u32) -> bool {
        self.processes.contains(&process)
    }

    pub(super) fn begin(&mut self, process: u32) {
        self.processes.insert(process);
    }

    /// False if they were not recorded.
    pub(super) fn end(&mut self, process: u32) -> bool {
        let was_told = self.processes.remove(&process);
        if was_told {
            self.sent.forget(process);
        }
        was_told
    }

    /// Takes a record of a field or of a header block; false for other records.
    pub(super) fn take(&mut self, record: &Record, payload: &[u8], followed: Option<&mut Followed>) -> bool {
        let process = record.connection.process;
        let is_told = self.contains(process);
        let address = (process, record.connection.address);
        match record.kind {
            kind if kind == Kind::SentField as u32 => {
                if is_told {
                    self.sent.encoded(address, number(record), name_and_value(record, payload));
                }
            }
            kind if kind == Kind::Headers as u32 => {
                if let Some((goroutine, stream)) = payload.first_chunk().copied().zip(u32::try_from(record.offset).ok()) {
                    let goroutine = (process, u64::from_ne_bytes(goroutine));
                    if record.flags & UNWANTED == 0 {
                        self.sent.announced(goroutine, number(record), address, stream);
                    } else {
                        self.sent.drop_unwanted(goroutine);
                    }
                }
            }
            kind if kind == Kind::ReceivedField as u32 => {
                // A connection whose beginning was seen does not need it.
                if let Some(followed) = followed.filter(|followed| followed.is_explained()) {
                    // The number of the next field reveals a missing one.
                    let is_taken = name_and_value(record, payload)
                        .is_some_and(|(name, value)| followed.received_field(record.offset, number(record), name, value));
                    self.late = self.late.saturating_add(u64::from(!is_taken));
                }
            }
            _other => return false,
        }
        true
    }

    /// The fields of the header blocks in the bytes that a process sends now on the connection at this address.
    pub(super) fn sent(&mut self, process: u32, address: u64) -> Vec<HeaderFields> {
        self.sent.take((process, address))
    }

    /// Header fields that could not be joined with their bytes.
    pub(super) const fn unused(&self) -> u64 {
        self.late.saturating_add(self.sent.lost())
    }
}

/// The number of earlier fields, or of all fields.
fn number(record: &Record) -> u64 {
    u64::try_from(record.descriptor).unwrap_or(u64::MAX)
}

fn name_and_value<'p>(record: &Record, payload: &'p [u8]) -> Option<(&'p [u8], &'p [u8])> {
    let is_readable = record.flags & UNREADABLE == 0;
    payload.split_at_checked(usize::try_from(record.name_length).ok()?).filter(|_| is_readable)
}
