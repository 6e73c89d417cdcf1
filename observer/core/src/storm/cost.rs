//! The cost of a storm's lists.

use std::collections::BTreeMap;

use super::record::StormMember;
use crate::quantity::Amount;
use crate::reflector::ListEvent;

/// Counts, items and bytes, summed over lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Cost {
    pub relists: u64,
    /// Number of complete lists.
    pub complete: u64,
    pub requests: u64,
    pub items: Amount,
    pub bytes: Amount,
    pub repeated: Amount,
    pub served_from: BTreeMap<String, u64>,
}

impl StormMember {
    pub(super) fn pay(&mut self, cost: &Cost) {
        self.relists = self.relists.saturating_add(cost.relists);
        self.requests = self.requests.saturating_add(cost.requests);
        self.items = self.items.saturating_add(cost.items);
        self.bytes = self.bytes.saturating_add(cost.bytes);
        self.repeated = self.repeated.saturating_add(cost.repeated);
    }
}

impl Cost {
    pub(super) const fn new() -> Self {
        Self {
            relists: 0,
            complete: 0,
            requests: 0,
            items: Amount::ZERO,
            bytes: Amount::ZERO,
            repeated: Amount::ZERO,
            served_from: BTreeMap::new(),
        }
    }

    /// The cost of one complete list.
    pub(super) fn of(list: &ListEvent) -> Self {
        let layer = list.served_from.as_ref().map(|served_from| (served_from.to_string(), 1));
        Self {
            relists: 0,
            complete: 1,
            requests: list.requests,
            items: list.items,
            bytes: list.bytes,
            repeated: list.repeats.repeated,
            served_from: layer.into_iter().collect(),
        }
    }

    pub(super) fn add(&mut self, more: &Self) {
        self.complete = self.complete.saturating_add(more.complete);
        self.relists = self.relists.saturating_add(more.relists);
        self.requests = self.requests.saturating_add(more.requests);
        self.items = self.items.saturating_add(more.items);
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.repeated = self.repeated.saturating_add(more.repeated);
        for (layer, number) in &more.served_from {
            let of_layer = self.served_from.entry(layer.clone()).or_default();
            *of_layer = of_layer.saturating_add(*number);
        }
    }
}
