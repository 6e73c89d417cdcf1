//! Counts over all storms of a run.

use std::collections::BTreeMap;

use super::cost::Cost;
use super::record::{StormKind, StormRecord};
use super::trigger::Trigger;
use crate::quantity::Amount;

/// Counts over all storms of a run, including those that are no longer kept. They never fall.
#[derive(Clone, Debug, Default)]
pub(crate) struct StormTotals {
    /// Number of storms, by the trigger and kind that they had when they were declared.
    pub declared: BTreeMap<(Trigger, StormKind), u64>,
    /// Cost of their lists, by the trigger that the storm had at that time.
    pub costs: BTreeMap<Trigger, StormCost>,
}

/// The cost of lists in storms.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StormCost {
    /// Relists that members began.
    pub relists: u64,
    /// Items of complete lists.
    pub items: u64,
    /// The items among them that were unchanged.
    pub repeated: u64,
    /// Bytes of complete lists.
    pub bytes: u64,
}

impl StormTotals {
    pub(super) const fn new() -> Self {
        Self { declared: BTreeMap::new(), costs: BTreeMap::new() }
    }

    pub(super) fn declare(&mut self, record: &StormRecord) {
        let declared = self.declared.entry((record.trigger, record.kind)).or_default();
        *declared = declared.saturating_add(1);
        let StormRecord { relists, items, repeated, bytes, .. } = *record;
        self.costs.entry(record.trigger).or_default().add(StormCost::of(relists, [items, repeated, bytes]));
    }

    pub(super) fn pay(&mut self, trigger: Trigger, cost: &Cost) {
        let Cost { relists, items, repeated, bytes, .. } = *cost;
        self.costs.entry(trigger).or_default().add(StormCost::of(relists, [items, repeated, bytes]));
    }
}

impl StormCost {
    /// Unknown amounts count as nothing, since a counter has a value.
    fn of(relists: u64, amounts: [Amount; 3]) -> Self {
        let [items, repeated, bytes] = amounts.map(Amount::or_zero);
        Self { relists, items, repeated, bytes }
    }

    fn add(&mut self, more: Self) {
        self.relists = self.relists.saturating_add(more.relists);
        self.items = self.items.saturating_add(more.items);
        self.repeated = self.repeated.saturating_add(more.repeated);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }
}
