//! Reads of ranges of keys, as etcd logs them. They show which lists were answered from etcd.

use crate::logs::etcd::EtcdRequest;
use crate::logs::etcd_line::{EtcdEvent, EtcdLine};
use crate::time::Timestamp;

/// A read of all keys below a prefix, with their values.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EtcdRange {
    /// The prefix, with a slash at its end.
    pub prefix: String,
    /// Maximum number of keys; 0 for all.
    pub limit: u64,
    pub began: Timestamp,
    pub ended: Timestamp,
}

impl EtcdRange {
    /// The read that a line is about. `None` for any other line, and for a page after the first one.
    pub(super) fn of(line: &EtcdLine) -> Option<Self> {
        let (request, start, took) = match &line.event {
            EtcdEvent::Answered { request, start, took, .. } => (request, *start, *took),
            EtcdEvent::SlowApply { request, took, .. } => (request, None, *took),
            // It lacks the limit, by which the reads of a watch cache differ from those of clients.
            EtcdEvent::RangeTrace { .. }
            | EtcdEvent::CompactionStarted { .. }
            | EtcdEvent::Compacted { .. }
            | EtcdEvent::DefragmentationStarted
            | EtcdEvent::Defragmented { .. }
            | EtcdEvent::DefragmentationFailed
            | EtcdEvent::Other => return None,
        };
        let EtcdRequest::Range(read) = request else { return None };
        let (began, ended) = match start {
            Some(start) => (start, start.plus(took)),
            // A line is written when its request is over.
            None => (line.at?.minus(took), line.at?),
        };
        let is_of_a_prefix = read.key.ends_with('/') && !read.range_end.is_empty() && read.reads_values();
        is_of_a_prefix.then(|| Self { prefix: read.key.clone(), limit: read.limit, began, ended })
    }

    /// Estimated memory in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>() + self.prefix.len()
    }
}
