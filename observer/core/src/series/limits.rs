//! The bounds of the label sets.

use super::family::{FAMILIES, FamilyRow, Kind};
use super::label::{LABELS, Label, Values};

/// The largest numbers of label values and label sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesLimits {
    /// Pairs of client and `ServiceAccount`. Version and machine of a client are no part of them.
    pub clients: usize,
    /// Pairs of group and resource.
    pub resources: usize,
    /// Subresources. The API server itself has 15; extension servers may have more.
    pub subresources: usize,
    /// Status codes.
    pub codes: usize,
    /// API servers.
    pub upstreams: usize,
    /// Label sets of one family, the one for all others included.
    pub sets: usize,
}

impl Default for SeriesLimits {
    fn default() -> Self {
        Self { clients: 64, resources: 128, subresources: 24, codes: 24, upstreams: 254, sets: 2_000 }
    }
}

impl SeriesLimits {
    /// Reduces the limits so that all label sets and their values take about `memory` bytes at most.
    #[must_use]
    pub fn within(self, memory: usize) -> Self {
        /// Bytes of a client, and of a resource or subresource.
        const CLIENT: usize = 1 << 10;
        const RESOURCE: usize = 640;
        Self {
            clients: self.clients.min(memory / 8 / CLIENT),
            resources: self.resources.min(memory / 8 / RESOURCE),
            subresources: self.subresources.min(memory / 16 / RESOURCE),
            upstreams: self.upstreams.min(memory / 16 / RESOURCE),
            sets: self.sets.min(memory / 2 / of_a_set_in_each_family()),
            ..self
        }
    }

    /// Labels whose values are texts, and the largest number of their values.
    pub(super) const fn texts(&self) -> [(Label, usize); 4] {
        /// Versions of API servers; there are some 20 minor versions in use.
        const VERSIONS: usize = 64;
        [(Label::Upstream, self.upstreams), (Label::ServerVersion, VERSIONS), (Label::Version, 1), (Label::Revision, 1)]
    }
}

/// Estimated bytes of one label set in each family whose number of label sets depends on the traffic.
fn of_a_set_in_each_family() -> usize {
    /// Bytes of a label set in its index, and of its numbers. Both grow by doubling.
    const INDEX: usize = 24;
    const COUNT: usize = 16;
    const HISTOGRAM: usize = 208;
    let depends_on_traffic = |row: &&FamilyRow| {
        row.labels.iter().any(|label| LABELS.get(*label as usize).is_some_and(|row| matches!(row.values, Values::FirstCome)))
    };
    let bytes = |row: &FamilyRow| match row.kind {
        Kind::Counter | Kind::Gauge => INDEX + COUNT,
        Kind::Histogram { .. } => INDEX + HISTOGRAM,
    };
    FAMILIES.iter().filter(depends_on_traffic).map(bytes).sum::<usize>().max(1)
}
