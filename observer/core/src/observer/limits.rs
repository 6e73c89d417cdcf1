//! The bounds of the Observer's tables, in number and memory.

use crate::reflector::ReflectorLimits;
use crate::series::SeriesLimits;
use crate::storm::StormLimits;

/// Bounds for the data kept. [`super::Missed`] counts the data that they discard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests under way at once. The default has room for 10 000 watches and their lists.
    pub open_exchanges: usize,
    /// Open connections whose API server is remembered.
    pub connections: usize,
    /// Latest finished requests that are kept individually. A snapshot adds at most as many requests under way.
    pub records: usize,
    /// Rows of the tables of lists, watches and other requests together. Each of the other tables of a snapshot has this bound for
    /// itself.
    pub rows: usize,
    /// Estimated bytes of all requests under way. The default has room for 10 000 watches with long selectors.
    pub open_memory: usize,
    /// Estimated bytes of the finished requests that are kept individually. In a snapshot, requests under way may take as many
    /// bytes in addition.
    pub records_memory: usize,
    /// Estimated bytes of all rows together.
    pub rows_memory: usize,
    /// Estimated bytes of the profiles of all API servers; a page of metrics may name thousands of resources.
    pub profiles_memory: usize,
    /// API servers that are distinguished.
    pub upstreams: usize,
    /// Resources whose revisions are remembered, over all API servers. The scopes of as many custom and aggregated resources are
    /// remembered, too.
    pub histories: usize,
    /// Bounds of the tables of reflectors.
    pub reflectors: ReflectorLimits,
    /// Bounds of the tables of storms.
    pub storms: StormLimits,
    /// Bounds of the label sets. With the default, they take 4 MiB at most.
    pub series: SeriesLimits,
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
            series: SeriesLimits::default(),
        }
    }
}

/// Bytes kept per connection, and per resource with a name of maximum length.
const CONNECTION: usize = 256;
const RESOURCE: usize = 4 << 10;

impl Limits {
    /// Reduces the limits so that all tables together take about `memory` bytes at most. From 1 GiB on, the defaults stay
    /// unchanged.
    ///
    /// A capture may come from an attacker. Even a small capture can name more connections and resources than a live run has.
    #[must_use]
    pub fn within(self, memory: usize) -> Self {
        Self {
            open_memory: self.open_memory.min(memory / 5),
            records_memory: self.records_memory.min(memory / 8),
            rows_memory: self.rows_memory.min(memory / 16),
            profiles_memory: self.profiles_memory.min(memory / 32),
            histories: self.histories.min(memory / 16 / RESOURCE),
            connections: self.connections.min(memory / 16 / CONNECTION),
            reflectors: self.reflectors.within(memory / 2),
            storms: self.storms.within(memory / 16),
            series: self.series.within(memory / 8),
            ..self
        }
    }

    /// Estimated bytes of all full tables together, without snapshots.
    #[must_use]
    pub fn memory(&self) -> usize {
        let Self { open_memory, records_memory, rows_memory, profiles_memory, histories, connections, .. } = *self;
        let parts = [
            open_memory,
            records_memory,
            rows_memory,
            profiles_memory,
            histories.saturating_mul(RESOURCE),
            connections.saturating_mul(CONNECTION),
            self.reflectors.bytes(),
            self.storms.bytes(),
            self.series.bytes(),
        ];
        parts.into_iter().fold(0, usize::saturating_add)
    }

    /// Estimated bytes of the largest snapshot.
    #[must_use]
    pub const fn snapshot_memory(&self) -> usize {
        /// Bytes of a row of a table without a memory bound of its own: a reflector with its last moments, or a storm.
        const ROW: usize = 8 << 10;
        let requests = self.records_memory.saturating_mul(2).saturating_add(self.rows_memory);
        requests.saturating_add(self.rows.saturating_mul(ROW))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "About": the shares of `within` overlap, since tables are rarely full at the same time.
    #[test]
    fn full_tables_exceed_the_given_memory_by_at_most_a_third() {
        for memory in [1, 16, 100, 1024].map(|mebibytes: usize| mebibytes << 20) {
            let full = Limits::default().within(memory).memory();
            assert!(full <= memory + memory / 3, "{full} of {memory}");
        }
        assert!(Limits::default().memory() > 256 << 20, "the sum counts all tables");
    }
}
