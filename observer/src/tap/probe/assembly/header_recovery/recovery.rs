//! The processes whose header fields are recorded, and their fields that are not joined with their bytes yet.

use std::collections::BTreeSet;

use observer_core::http::HeaderFields;
use observer_ebpf::{Kind, Record, UNREADABLE, UNWANTED};

use super::held_read::HeldRead;
use super::sent_fields::SentFields;

/// Joins recorded header fields with the bytes that carry them.
#[derive(Debug)]
pub(in crate::tap::probe::assembly) struct HeaderRecovery {
    processes: BTreeSet<u32>,
    sent: SentFields,
    /// Number of decoded fields that came too late, or after a missing one.
    mismatched: u64,
}

impl HeaderRecovery {
    /// Records no fields yet. At most `max_text` bytes of fields are kept.
    pub(in crate::tap::probe::assembly) fn new(max_text: usize) -> Self {
        Self { processes: BTreeSet::new(), sent: SentFields::new(max_text), mismatched: 0 }
    }

    /// Whether no process has its header fields recorded.
    pub(in crate::tap::probe::assembly) fn is_off(&self) -> bool {
        self.processes.is_empty()
    }

    /// Whether header fields of a process are recorded.
    pub(in crate::tap::probe::assembly) fn is_on(&self, process: u32) -> bool {
        self.processes.contains(&process)
    }

    /// Header fields of a process are recorded from now on.
    pub(in crate::tap::probe::assembly) fn begin(&mut self, process: u32) {
        self.processes.insert(process);
    }

    /// Header fields of a process are no longer recorded. False if they were not before.
    pub(in crate::tap::probe::assembly) fn end(&mut self, process: u32) -> bool {
        let was_on = self.processes.remove(&process);
        if was_on {
            self.sent.forget(process);
        }
        was_on
    }

    /// Takes a record of a field or of a header block; false for other records. `held` is the last read of the record's connection,
    /// if its fields are wanted: a connection whose beginning was seen does not need them.
    pub(in crate::tap::probe::assembly) fn take(&mut self, record: &Record, payload: &[u8], held: Option<&mut HeldRead>) -> bool {
        let process = record.connection.process;
        let address = (process, record.connection.address);
        match record.kind {
            kind if kind == Kind::SentField as u32 => {
                if self.is_on(process) {
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
                if let Some(held) = held {
                    // The number of the next field reveals a missing one.
                    let is_taken = name_and_value(record, payload)
                        .is_some_and(|(name, value)| held.received_field(record.offset, number(record), name, value));
                    self.mismatched = self.mismatched.saturating_add(u64::from(!is_taken));
                }
            }
            _other => return false,
        }
        true
    }

    /// The fields of the header blocks in the bytes that a process sends now on the connection at this address.
    pub(in crate::tap::probe::assembly) fn sent(&mut self, process: u32, address: u64) -> Vec<HeaderFields> {
        self.sent.take((process, address))
    }

    /// Number of header fields that could not be joined with their bytes.
    pub(in crate::tap::probe::assembly) const fn unused(&self) -> u64 {
        self.mismatched.saturating_add(self.sent.lost())
    }
}

/// The number of earlier fields in the block or read, or of all fields in the block, as its [`Kind`] defines.
fn number(record: &Record) -> u64 {
    u64::try_from(record.descriptor).unwrap_or(u64::MAX)
}

fn name_and_value<'p>(record: &Record, payload: &'p [u8]) -> Option<(&'p [u8], &'p [u8])> {
    let is_readable = record.flags & UNREADABLE == 0;
    payload.split_at_checked(usize::try_from(record.name_length).ok()?).filter(|_| is_readable)
}
