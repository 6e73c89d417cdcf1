//! The actual cost and findings of a run, in the quantities that a budget can limit.

use std::collections::BTreeMap;

use super::quantity::Quantity;
use crate::finding_kind::FindingKind;
use crate::observer::finding::MAX_FINDINGS;
use crate::observer::snapshot::Snapshot;
use crate::routing::ServedFrom;

/// The cost of a run, in total and by resource, and its findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Amounts over all resources.
    pub total: BTreeMap<Quantity, u64>,
    /// Amounts by resource, as users type it: `pods`, `deployments.apps`. Amounts of 0 are absent.
    pub resources: BTreeMap<String, BTreeMap<Quantity, u64>>,
    /// Numbers of findings by kind, without muted ones. Numbers of 0 are absent.
    pub findings: BTreeMap<FindingKind, u64>,
    /// Whether some cost may be unseen, so that the amounts are lower bounds.
    pub at_least: bool,
}

impl Usage {
    /// The cost of the run that `snapshot` describes.
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut usage = Self::default();
        for row in &snapshot.lists {
            let resource = &row.shape.resource;
            usage.add(resource, Quantity::Lists, row.count);
            if row.verdict.as_ref().is_some_and(|verdict| verdict.served_from == ServedFrom::Etcd) {
                usage.add(resource, Quantity::ListsFromEtcd, row.count);
            }
            usage.add(resource, Quantity::Items, row.items.or_zero());
            usage.add(resource, Quantity::Bytes, row.bytes.or_zero());
        }
        for (resource, bytes) in snapshot
            .watches
            .iter()
            .map(|row| (&row.shape.resource, row.bytes))
            .chain(snapshot.others.iter().map(|row| (&row.shape.resource, row.bytes)))
        {
            usage.add(resource, Quantity::Bytes, bytes.or_zero());
        }
        for row in &snapshot.reflectors {
            usage.add(&row.shape.resource, Quantity::Relists, row.relists);
            usage.add(&row.shape.resource, Quantity::Items, row.streamed_items);
        }
        // All rows of duplicate reflectors report the same number, so each group of duplicates is counted once.
        let alike: BTreeMap<_, u64> = snapshot
            .reflectors
            .iter()
            .map(|row| ((row.client_id, &row.api_version, &row.shape, row.representation), row.duplicates))
            .collect();
        for ((_, _, shape, _), duplicates) in alike {
            usage.add(&shape.resource, Quantity::DuplicateInformers, duplicates);
        }
        for finding in &snapshot.findings {
            let number = usage.findings.entry(finding.kind).or_default();
            *number = number.saturating_add(1);
        }
        let missed = &snapshot.missed;
        usage.at_least = missed.unseen()
            || missed.reflectors_not_shown > 0
            || !missed.reflectors.is_none()
            || missed.unknown_requests > 0
            || !missed.bodies.is_empty()
            || (snapshot.findings.len() as u64).saturating_add(snapshot.findings_muted) >= MAX_FINDINGS as u64;
        // The tables may have discarded rows. The totals of the snapshot count them, too.
        for (quantity, used) in [(Quantity::Lists, snapshot.totals.lists), (Quantity::Relists, snapshot.totals.relists)] {
            usage.total.insert(quantity, used);
        }
        usage
    }

    fn add(&mut self, resource: &str, quantity: Quantity, used: u64) {
        if used == 0 {
            return;
        }
        let of_resource = self.resources.entry(resource.to_owned()).or_default();
        for sum in [of_resource.entry(quantity).or_default(), self.total.entry(quantity).or_default()] {
            *sum = sum.saturating_add(used);
        }
    }
}
