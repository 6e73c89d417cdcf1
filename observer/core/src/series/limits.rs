//! The bounds of the label sets.

use super::client_labels::ClientLabels;
use super::family::{FAMILIES, FamilyRow, Kind};
use super::label::{LABELS, Label, Values};

/// The largest numbers of label values and label sets, and the labels of clients.
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
    /// Labels that name the pods of clients, or their units.
    pub client_labels: ClientLabels,
}

impl Default for SeriesLimits {
    fn default() -> Self {
        let client_labels = ClientLabels::default();
        Self { clients: 64, resources: 128, subresources: 24, codes: 24, upstreams: 254, sets: 2_000, client_labels }
    }
}

/// Bytes of a client, without and with labels that name its pod or unit; and of a resource or subresource.
const CLIENT: usize = 1 << 10;
const CLIENT_IN_POD: usize = 2 << 10;
const RESOURCE: usize = 640;

impl SeriesLimits {
    /// The limits with labels that name the pods of clients, or their units.
    ///
    /// A node has up to some hundred pods, so more clients are distinguished.
    #[must_use]
    pub const fn with_client_labels(self, client_labels: ClientLabels) -> Self {
        Self { clients: Self::MOST_CLIENTS, client_labels, ..self }
    }

    /// The largest number of clients that [`super::Label::Client`] can distinguish.
    const MOST_CLIENTS: usize = 254;

    fn of_a_client(&self) -> usize {
        if self.client_labels.is_empty() { CLIENT } else { CLIENT_IN_POD }
    }

    /// Reduces the limits so that all label sets and their values take about `memory` bytes at most.
    #[must_use]
    pub fn within(self, memory: usize) -> Self {
        Self {
            clients: self.clients.min(memory / 8 / self.of_a_client()),
            resources: self.resources.min(memory / 8 / RESOURCE),
            subresources: self.subresources.min(memory / 16 / RESOURCE),
            upstreams: self.upstreams.min(memory / 16 / RESOURCE),
            sets: self.sets.min(memory / 2 / of_a_set_in_each_family()),
            ..self
        }
    }

    /// Estimated bytes of all label sets and their values. An output holds a copy while it writes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let names = self.resources.saturating_add(self.subresources).saturating_add(self.upstreams);
        let parts = [
            self.clients.saturating_mul(self.of_a_client()),
            names.saturating_mul(RESOURCE),
            self.sets.saturating_mul(of_a_set_in_each_family()),
        ];
        parts.into_iter().fold(0, usize::saturating_add)
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
    FAMILIES.iter().filter(|row| row.labels.iter().any(|label| is_first_come(*label))).map(of_a_set).sum::<usize>().max(1)
}

fn is_first_come(label: Label) -> bool {
    LABELS.get(label as usize).is_some_and(|row| matches!(row.values, Values::FirstCome))
}

/// Estimated bytes of one label set: its place in the index, and its numbers. Both grow by doubling.
const fn of_a_set(row: &FamilyRow) -> usize {
    const INDEX: usize = 24;
    const COUNT: usize = 16;
    const HISTOGRAM: usize = 208;
    match row.kind {
        Kind::Counter | Kind::Gauge => INDEX + COUNT,
        Kind::Histogram { .. } => INDEX + HISTOGRAM,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::all_rules;

    /// `docs/bounds.md` states the result.
    #[test]
    fn full_store_takes_at_most_4_mib() {
        let limits = SeriesLimits::default();
        let values = |label: &Label| match (label, LABELS[*label as usize].values) {
            (_, Values::Words(words)) => words.len(),
            (_, Values::Rules) => all_rules().count(),
            (Label::Client, Values::FirstCome) => limits.clients + 1,
            (Label::Resource, Values::FirstCome) => limits.resources + 1,
            (Label::Subresource, Values::FirstCome) => limits.subresources + 2,
            (Label::Code, Values::FirstCome) => limits.codes + 1,
            (_, Values::FirstCome) => limits.upstreams + 1,
        };
        let sets = |row: &FamilyRow| row.labels.iter().map(values).product::<usize>().min(limits.sets);
        let label_sets: usize = FAMILIES.iter().map(|row| sets(row) * of_a_set(row)).sum();
        let texts = limits.clients * (1 << 10) + (limits.resources + limits.subresources + limits.upstreams) * 640;
        assert!((2 << 20..4 << 20).contains(&(label_sets + texts)), "{label_sets} + {texts}");
    }

    /// `docs/metrics.md` states the number of clients.
    #[test]
    fn labels_of_pods_take_at_most_half_a_mebibyte_more() {
        let limits = SeriesLimits::default();
        let labelled = limits.with_client_labels(ClientLabels::ALL);
        assert_eq!((labelled.clients, labelled.within(64 << 10).clients), (254, 4));
        assert!((1..=512 << 10).contains(&(labelled.bytes() - limits.bytes())));
    }
}
