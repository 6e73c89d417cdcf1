//! Derives findings from the state at one moment.

use std::collections::BTreeMap;

use serde::Serialize;

use super::advice::{self, UNCACHED};
use super::kind::FindingKind;
use super::of_reflector::of_reflector;
use crate::exchange::{Client, Scope, Shape};
use crate::observer::snapshot::ListRow;
use crate::reflector::{RateLimit, ReflectorId, ReflectorRow, Spell};
use crate::routing::{ServedFrom, ServerProfile, ServerVersion};
use crate::thresholds::{FILTERED_TO, HEAVY_OBJECTS};
use crate::time::Timestamp;

/// Bound for findings; the worst are kept.
const MAX_FINDINGS: usize = 64;

/// One diagnosis, with evidence and advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Identifier for muting: kind, program, resource and scope. It is the same in the next run.
    pub id: String,
    /// Kind of the diagnosis.
    pub kind: FindingKind,
    /// The client; `None` for findings about lists, which may be of several clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
    /// Resource, objects and options that it concerns.
    #[serde(flatten)]
    pub shape: Shape,
    /// The reflectors that it concerns; empty for findings about lists and rate limits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reflectors: Vec<ReflectorId>,
    /// How often, since when and until when; `None` where this is not kept. An ongoing finding has no end.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub spell: Option<Spell>,
    /// Amount in the unit of its kind: relists, lists, watches, objects, informers, or microseconds.
    pub amount: u64,
    /// The evidence, in words and numbers.
    pub seen: String,
    /// The recommended change.
    pub advice: &'static str,
}

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
        finding.seen = format!("{} reflectors; of the first: {}", finding.reflectors.len(), finding.seen);
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
            let seen = format!("{} informers for the same at once in process {pid}", first.duplicates.saturating_add(1));
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
        let seen = format!("{} read {} items from etcd ({})", counted(row.count, "list"), row.items, verdict.rule);
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
            format!("{} read all {there} objects from etcd to give {given} of them ({})", counted(row.count, "list"), verdict.rule);
        Finding {
            advice: advice::to_filter(row),
            amount: row.count,
            ..finding(FindingKind::FilterAfterReading, None, row.shape.clone(), Vec::new(), seen)
        }
    })
}

fn held_back(limit: &RateLimit) -> Finding {
    let seen =
        format!("its requests come evenly behind a burst: it holds them back to {} a second, {} at once", limit.qps, limit.burst);
    let shape = Shape { resource: "all resources".to_owned(), scope: None, options: String::new(), upstream: None };
    finding(FindingKind::ClientRateLimit, Some(limit.client.clone()), shape, Vec::new(), seen)
}

pub(super) fn finding(
    kind: FindingKind,
    client: Option<Client>,
    shape: Shape,
    reflectors: Vec<ReflectorId>,
    seen: String,
) -> Finding {
    let program = client.as_ref().map_or("", |client| client.program.as_str());
    let scope = shape.scope.as_ref().map(|scope| format!("/{scope}")).unwrap_or_default();
    let id = format!("{kind}:{program}:{}{scope}", shape.resource).replace(' ', "-");
    Finding { id, kind, client, shape, reflectors, spell: None, amount: 0, seen, advice: kind.advice() }
}

pub(super) fn counted(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

pub(super) fn seconds(micros: u64) -> String {
    let millis = micros / 1_000;
    if millis < 1_000 { format!("{millis} ms") } else { format!("{}.{} s", millis / 1_000, millis % 1_000 / 100) }
}
