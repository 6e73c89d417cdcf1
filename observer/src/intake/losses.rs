//! Counters of losses on the way to the observing thread.

use std::sync::atomic::{AtomicU64, Ordering};

/// Traffic that was forwarded but not observed, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntakeLosses {
    /// Bytes of plaintext.
    pub bytes: u64,
    /// Reads that were dropped, in part or completely.
    pub reads: u64,
    /// Directions of HTTP/2 connections that cannot be decoded any more, because a frame header or control frame was dropped.
    pub stopped_directions: u64,
    /// Connections that were not observed.
    pub connections: u64,
    /// [`super::Notice`]s that were dropped.
    pub notices: u64,
}

#[derive(Debug, Default)]
pub(super) struct LossCounters {
    pub(super) bytes: AtomicU64,
    pub(super) reads: AtomicU64,
    pub(super) stopped_directions: AtomicU64,
    pub(super) connections: AtomicU64,
    pub(super) notices: AtomicU64,
}

impl LossCounters {
    pub(super) fn snapshot(&self) -> IntakeLosses {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        IntakeLosses {
            bytes: read(&self.bytes),
            reads: read(&self.reads),
            stopped_directions: read(&self.stopped_directions),
            connections: read(&self.connections),
            notices: read(&self.notices),
        }
    }
}
