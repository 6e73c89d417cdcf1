//! The bounds of the observer's tables.

use crate::reflector::ReflectorLimits;
use crate::storm::StormLimits;

/// How much is kept. What does not fit is counted in [`super::Missed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests that are under way at once; 10 000 watches and their lists fit.
    pub open_exchanges: usize,
    /// Open connections of which it is known where they lead.
    pub connections: usize,
    /// Finished requests kept one by one, the latest; and as many of those under way.
    pub records: usize,
    /// Rows of each table of a snapshot.
    pub rows: usize,
    /// Bytes that requests under way take together, about; 10 000 watches with long selectors fit.
    pub open_memory: usize,
    /// Bytes that finished requests take that are kept one by one, about, and those under way in a snapshot.
    pub records_memory: usize,
    /// Bytes that what makes a row takes, about, over all rows.
    pub rows_memory: usize,
    /// Bytes that what is known of API servers takes together, about: a page of metrics may name thousands of resources.
    pub profiles_memory: usize,
    /// API servers that are told apart.
    pub upstreams: usize,
    /// Resource types whose revisions are remembered, of all API servers, and custom and aggregated ones whose scope is.
    pub histories: usize,
    /// Of reflectors.
    pub reflectors: ReflectorLimits,
    /// Of storms.
    pub storms: StormLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            open_exchanges: 16_384,
            connections: 65_536,
            records: 2_048,
            rows: 512,
            open_memory: 64 << 20,
            records_memory: 8 << 20,
            rows_memory: 8 << 20,
            profiles_memory: 16 << 20,
            upstreams: 256,
            histories: 2_048,
            reflectors: ReflectorLimits::default(),
            storms: StormLimits::default(),
        }
    }
}

impl Limits {
    /// The same, and tables that take about `memory` bytes at most, all together. From 1 GiB on they are those of a live run.
    ///
    /// A capture is anybody's input, and a small one can name more than a live run ever sees.
    #[must_use]
    pub fn within(self, memory: usize) -> Self {
        /// What is kept of a connection, and of a resource whose name is as long as it may be.
        const CONNECTION: usize = 256;
        const RESOURCE: usize = 4 << 10;
        Self {
            open_memory: self.open_memory.min(memory / 5),
            records_memory: self.records_memory.min(memory / 8),
            rows_memory: self.rows_memory.min(memory / 16),
            profiles_memory: self.profiles_memory.min(memory / 32),
            histories: self.histories.min(memory / 16 / RESOURCE),
            connections: self.connections.min(memory / 16 / CONNECTION),
            reflectors: self.reflectors.within(memory / 2),
            storms: self.storms.within(memory / 16),
            ..self
        }
    }
}
