//! Finding out what should be changed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::kind::FindingKind;
use crate::exchange::{Client, Scope, Shape};
use crate::observer::etcd_load::BULK_OBJECTS;
use crate::observer::snapshot::ListRow;
use crate::reflector::{PollingKind, RateLimit, ReflectorId, ReflectorRow, ReflectorState, RelistCause, Stale};
use crate::routing::ServedFrom;

/// Findings that are told, the worst first.
const MAX_FINDINGS: usize = 64;
/// Watches in a row that ended within a second.
const SHORT_WATCHES: u64 = 3;
/// How long a client has not read, in microseconds, until that is worth a word.
const LONG_STALL_US: u64 = 5_000_000;
/// A selector that leaves less than one in so many is worth a word.
const FILTERED_TO: u64 = 10;
/// The rule of resources without a watch cache: for them there is no other way.
const UNCACHED: &str = "uncached-resource";

/// Something that should be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// By which it can be muted: kind, program, resource and scope; the same in the next run.
    pub id: String,
    /// What it is.
    pub kind: FindingKind,
    /// Whose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Client>,
    /// Of what.
    #[serde(flatten)]
    pub shape: Shape,
    /// Which reflectors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reflectors: Vec<ReflectorId>,
    /// What was seen, in numbers.
    pub seen: String,
    /// What to change.
    pub advice: &'static str,
}

/// Everything that should be changed, the worst first.
pub(in crate::observer) fn find(reflectors: &[ReflectorRow], lists: &[ListRow], limits: &[RateLimit]) -> Vec<Finding> {
    let mut found: Vec<Finding> = reflectors.iter().flat_map(of_reflector).collect();
    found.extend(duplicates(reflectors));
    found.extend(lists.iter().filter_map(from_etcd));
    found.extend(lists.iter().filter_map(|row| filtered(row, lists, reflectors)));
    found.extend(limits.iter().map(held_back));
    found.sort_by(|one, other| (one.kind, &one.id).cmp(&(other.kind, &other.id)));
    found.dedup_by(|later, first| {
        let same = later.id == first.id;
        if same {
            first.reflectors.append(&mut later.reflectors);
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

fn of_reflector(row: &ReflectorRow) -> Vec<Finding> {
    let one = |kind, seen: String| {
        let seen = if row.client_left { format!("{seen} (its client has left)") } else { seen };
        finding(kind, Some(row.client.clone()), row.shape.clone(), vec![row.reflector], seen)
    };
    let mut found = Vec::new();
    if row.state == ReflectorState::Stuck {
        let revision = row.resource_version.unwrap_or_default();
        let reached = row.server_revision.map_or_else(String::new, |current| format!(", it is at {current}"));
        let seen = format!("asks for revision {revision} again and again; the server has not reached it{reached}");
        found.push(one(FindingKind::StuckReflector, seen));
    }
    if let Some(polling) = row.polling {
        let (every, jitter) = (seconds(polling.every_us), seconds(polling.jitter_us));
        let lists = counted(polling.lists, "list");
        match polling.kind {
            PollingKind::HotLoop => found.push(one(FindingKind::HotLoop, format!("{lists}, one every {every} (± {jitter}), no watch"))),
            PollingKind::Poller => {
                found.push(one(FindingKind::Poller, format!("polls every {every} (± {jitter}; {lists}), never watches")));
            }
            PollingKind::Wait | PollingKind::Polls => {}
        }
    }
    if row.relists_in_a_loop {
        found.push(one(
            FindingKind::RelistLoop,
            format!("{}, the last five within ten minutes: {}", counted(row.relists, "relist"), causes(row)),
        ));
    }
    if row.short_watches >= SHORT_WATCHES {
        found.push(one(FindingKind::ShortWatches, format!("{} watches in a row ended within a second", row.short_watches)));
    }
    if row.has_watched() && (row.ended_stalled > 0 || row.stalled_us >= LONG_STALL_US) {
        found.push(one(FindingKind::SlowReader, slow_reader(row)));
    }
    let relists_for = |cause: RelistCause| row.causes.get(&cause.id()).copied().unwrap_or(0);
    let stale = relists_for(RelistCause::Expired { because: Stale::BookmarksNotAsked });
    if stale > 0 {
        found.push(one(
            FindingKind::NoBookmarks,
            format!("{} because the revision had expired without a bookmark", counted(stale, "relist")),
        ));
    }
    let misread = relists_for(RelistCause::RefusedMisread);
    if misread > 0 {
        found.push(one(FindingKind::RefusedMisread, format!("{} after refused connections", counted(misread, "relist"))));
    }
    if row.fallbacks > 0 {
        found.push(one(
            FindingKind::StreamingListRefused,
            format!("{} refused, and listed in the old form", counted(row.fallbacks, "streaming list")),
        ));
    }
    if row.went_back > 0 {
        found.push(one(
            FindingKind::RevisionWentBack,
            format!("{} of a revision below the one before", counted(row.went_back, "list")),
        ));
    }
    found
}

/// Reflectors of one process that watch the same thing at the same time.
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
            Some(finding(FindingKind::DuplicateInformers, Some(first.client.clone()), first.shape.clone(), ids, seen))
        })
        .collect()
}

fn from_etcd(row: &ListRow) -> Option<Finding> {
    let verdict = row.verdict.as_ref()?;
    let of_each = row.items.checked_div(row.count).unwrap_or(0);
    let is_bulk = !matches!(row.shape.scope, Some(Scope::Namespace(_))) && of_each >= BULK_OBJECTS && verdict.rule != UNCACHED;
    (verdict.served_from == ServedFrom::Etcd && is_bulk).then(|| {
        let seen = format!("{} read {} items from etcd ({})", counted(row.count, "list"), row.items, verdict.rule);
        finding(FindingKind::ListsFromEtcd, None, row.shape.clone(), Vec::new(), seen)
    })
}

/// A list with a selector for which far more was read than given, where it is known how much there is.
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
    (there >= BULK_OBJECTS && given <= there / FILTERED_TO).then(|| {
        let seen =
            format!("{} read all {there} objects from etcd to give {given} of them ({})", counted(row.count, "list"), verdict.rule);
        finding(FindingKind::FilterAfterReading, None, row.shape.clone(), Vec::new(), seen)
    })
}

fn held_back(limit: &RateLimit) -> Finding {
    let seen =
        format!("its requests come evenly behind a burst: it holds them back to {} a second, {} at once", limit.qps, limit.burst);
    let shape = Shape { resource: "all resources".to_owned(), scope: None, options: String::new(), upstream: None };
    finding(FindingKind::ClientRateLimit, Some(limit.client.clone()), shape, Vec::new(), seen)
}

fn finding(kind: FindingKind, client: Option<Client>, shape: Shape, reflectors: Vec<ReflectorId>, seen: String) -> Finding {
    let program = client.as_ref().map_or("", |client| client.program.as_str());
    let scope = shape.scope.as_ref().map(|scope| format!("/{scope}")).unwrap_or_default();
    let id = format!("{kind}:{program}:{}{scope}", shape.resource).replace(' ', "-");
    Finding { id, kind, client, shape, reflectors, seen, advice: kind.advice() }
}

fn slow_reader(row: &ReflectorRow) -> String {
    let now = row.stalled_by.map_or_else(String::new, |by| format!(", and does not now ({by})"));
    let ended = match row.ended_stalled {
        0 => String::new(),
        watches => format!("; the server ended {watches} of its watches early"),
    };
    format!("it had not read for {} in all{now}{ended}", seconds(row.stalled_us))
}

fn causes(row: &ReflectorRow) -> String {
    let mut causes: Vec<_> = row.causes.iter().collect();
    causes.sort_by_key(|(cause, number)| (std::cmp::Reverse(**number), *cause));
    causes.iter().map(|(cause, number)| format!("{number} × {cause}")).collect::<Vec<_>>().join(", ")
}

fn counted(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn seconds(micros: u64) -> String {
    let millis = micros / 1_000;
    if millis < 1_000 { format!("{millis} ms") } else { format!("{}.{} s", millis / 1_000, millis % 1_000 / 100) }
}
