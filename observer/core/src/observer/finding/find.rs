//! Derives all findings from the state at one moment, and merges findings with the same identifier.

use std::collections::BTreeMap;

use super::advice::{self, UNCACHED};
use super::found::{Finding, counted, finding};
use super::kind::FindingKind;
use super::of_reflector::of_reflector;
use crate::exchange::{Scope, Shape};
use crate::observer::rows::ListRow;
use crate::reflector::{RateLimit, ReflectorRow, Spell};
use crate::routing::{ServedFrom, ServerProfile, ServerVersion};
use crate::thresholds::{FILTERED_TO, HEAVY_OBJECTS};
use crate::time::Timestamp;

/// Bound for findings; the worst are kept.
const MAX_FINDINGS: usize = 64;

/// State from which findings are derived.
pub(in crate::observer) struct Known<'k> {
    pub reflectors: &'k [ReflectorRow],
    /// Time of the state of `reflectors`.
    pub at: Timestamp,
    pub lists: &'k [ListRow],
    pub limits: &'k [RateLimit],
    pub profile: &'k ServerProfile,
}

/// Derives all findings, the worst first; at most `MAX_FINDINGS`.
pub(in crate::observer) fn find(known: &Known<'_>) -> Vec<Finding> {
    let Known { reflectors, at, lists, limits, profile } = *known;
    let mut found: Vec<Finding> = reflectors.iter().flat_map(|row| of_reflector(row, lists, at)).collect();
    found.extend(duplicates(reflectors));
    let minor = profile.version.as_ref().map(ServerVersion::minor);
    found.extend(lists.iter().filter_map(|row| from_etcd(row, minor)));
    found.extend(lists.iter().filter_map(|row| filtered(row, lists, reflectors)));
    found.extend(limits.iter().map(held_back));
    found.sort_by(|one, other| (one.kind, &one.id).cmp(&(other.kind, &other.id)));
    found.dedup_by(|later, first| {
        let same = later.id == first.id;
        if same {
            first.reflectors.append(&mut later.reflectors);
            first.amount = first.amount.saturating_add(later.amount);
            first.spell = first.spell.into_iter().chain(later.spell).reduce(Spell::and);
        }
        same
    });
    for finding in
        found.iter_mut().filter(|finding| finding.reflectors.len() > 1 && finding.kind != FindingKind::DuplicateInformers)
    {
        finding.seen = format!("{} reflectors; for example: {}", finding.reflectors.len(), finding.seen);
    }
    found.truncate(MAX_FINDINGS);
    found
}

/// Findings about reflectors of one process that list or watch the same objects at the same time.
fn duplicates(reflectors: &[ReflectorRow]) -> Vec<Finding> {
    let mut alike: BTreeMap<_, Vec<&ReflectorRow>> = BTreeMap::new();
    for row in reflectors.iter().filter(|row| row.duplicates > 0) {
        alike.entry((row.client_id, &row.api_version, row.shape.clone(), row.representation)).or_default().push(row);
    }
    alike
        .into_values()
        .filter_map(|rows| {
            let first = rows.first()?;
            let pid = first.process.as_ref()?.pid;
            let ids = rows.iter().map(|row| row.reflector).collect();
            let seen = format!("{} informers for the same objects in process {pid}", first.duplicates.saturating_add(1));
            let found = finding(FindingKind::DuplicateInformers, Some(first.client.clone()), first.shape.clone(), ids, seen);
            Some(Finding { amount: first.duplicates.saturating_add(1), ..found })
        })
        .collect()
}

fn from_etcd(row: &ListRow, minor: Option<u16>) -> Option<Finding> {
    let verdict = row.verdict.as_ref()?;
    let of_each = row.items.checked_div(row.count).unwrap_or(0);
    let is_bulk = !matches!(row.shape.scope, Some(Scope::Namespace(_))) && of_each >= HEAVY_OBJECTS && verdict.rule != UNCACHED;
    (verdict.served_from == ServedFrom::Etcd && is_bulk).then(|| {
        let seen = format!("{} read {} objects from etcd ({})", counted(row.count, "list"), row.items, verdict.rule);
        let advice = advice::to_list_from_etcd(row, minor);
        Finding { advice, amount: row.items, ..finding(FindingKind::ListsFromEtcd, None, row.shape.clone(), Vec::new(), seen) }
    })
}

/// A list with a selector that read far more objects than it returned, if the total number of objects is known.
fn filtered(row: &ListRow, lists: &[ListRow], reflectors: &[ReflectorRow]) -> Option<Finding> {
    let verdict = row.verdict.as_ref().filter(|verdict| verdict.served_from == ServedFrom::Etcd)?;
    if !row.shape.has_selector() || row.shape.is_in_pages() || row.shape.names_one() {
        return None;
    }
    let unselected = Shape { options: String::new(), ..row.shape.clone() };
    let same = |shape: &Shape| !shape.has_selector() && Shape { options: String::new(), ..shape.clone() } == unselected;
    let whole = |list: &&ListRow| same(&list.shape) && !list.shape.is_in_pages();
    let listed = lists.iter().filter(whole).filter_map(|list| list.items.checked_div(list.count));
    let kept = reflectors.iter().filter(|row| same(&row.shape) && row.has_watched()).map(|row| row.objects);
    let there = listed.chain(kept).max()?;
    let given = row.items.checked_div(row.count)?;
    (there >= HEAVY_OBJECTS && given <= there / FILTERED_TO).then(|| {
        let seen =
            format!("{} read all {there} objects from etcd to return {given} ({})", counted(row.count, "list"), verdict.rule);
        Finding {
            advice: advice::to_filter(row),
            amount: row.count,
            ..finding(FindingKind::FilterAfterReading, None, row.shape.clone(), Vec::new(), seen)
        }
    })
}

fn held_back(limit: &RateLimit) -> Finding {
    let seen = format!(
        "evenly spaced requests after a burst: the client limits its own rate to {} a second, burst {}",
        limit.qps, limit.burst
    );
    let shape = Shape { resource: "all resources".to_owned(), scope: None, options: String::new(), upstream: None };
    finding(FindingKind::ClientRateLimit, Some(limit.client.clone()), shape, Vec::new(), seen)
}
