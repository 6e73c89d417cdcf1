//! Derives the findings about one reflector, ongoing and past.

use std::time::Duration;

use super::advice;
use super::found::{Finding, finding};
use super::unit::AmountUnit;
use crate::exchange::Scope;
use crate::finding_kind::FindingKind;
use crate::http::Identity;
use crate::observer::rows::ListRow;
use crate::quantity::{self, bytes, counted};
use crate::reflector::{
    PollingKind, ReflectorRow, ReflectorState, RelistCause, Representation, Spell, Stale, Trouble, UnknownCause, cause_label,
};
use crate::thresholds::{HEAVY_BYTES, HEAVY_OBJECTS, LONG_STALL, MOST_WAITS, UNRESUMED_WATCHES};
use crate::time::{Timestamp, microseconds};

/// Maximum number of causes that the evidence of a relist loop names.
const MOST_CAUSES: usize = 3;
const UNASKED: RelistCause = RelistCause::Expired { because: Stale::BookmarksNotRequested };
/// A client without a connection for longer than this has left.
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(30);
const WITHOUT_REVISION: &str = "by a watch without a resource version, which sends every object again";
/// Resources that grow with the workload of a cluster, and whose objects are large or many.
const LARGE: [&str; 5] = ["configmaps", "events", "events.events.k8s.io", "pods", "secrets"];
const ENDED_NORMALLY: RelistCause = RelistCause::Unknown { reason: UnknownCause::WatchEndedNormally };
const RESET: RelistCause = RelistCause::Expired { because: Stale::CacheReset };

/// All findings about `row`, as of `now`. `minor` is the server's minor release. A specific finding replaces the generic finding
/// that it explains.
pub(super) fn of_reflector(row: &ReflectorRow, lists: &[ListRow], minor: Option<u16>, now: Timestamp) -> Vec<Finding> {
    let found = [
        stuck(row, now),
        deaf(row, now),
        troubled(row, FindingKind::WatchAheadOfServer, Trouble::WatchAhead, now),
        troubled(row, FindingKind::ExpiredLoop, Trouble::ExpiredLoop, now),
        troubled(row, FindingKind::SilentExpired, Trouble::SilentExpired, now),
        never_synced(row, minor, now),
        refused(row, now),
        polls(row, lists),
        relist_loop(row),
        short_watches(row),
        slow_reader(row),
        relisted(row, FindingKind::NoBookmarks, UNASKED, "after its resource version expired: it had not requested bookmarks"),
        relisted(row, FindingKind::RefusedMisread, RelistCause::RefusedMisread, "after refused connections"),
        no_resume(row),
        relisted(row, FindingKind::FullStateByWatch, RelistCause::WatchWithoutRevision, WITHOUT_REVISION),
        relisted(row, FindingKind::ContinueExpired, RelistCause::ContinueExpired, "because a continue token expired"),
        relisted(row, FindingKind::CacheReset, RESET, "because the API server's watch cache was reset"),
        streaming_refused(row),
        went_back(row),
        older_state(row),
        wide(row),
    ];
    let found: Vec<Finding> = found.into_iter().flatten().collect();
    let kinds: Vec<FindingKind> = found.iter().map(|finding| finding.kind).collect();
    let specific = |generic: FindingKind| {
        if generic == FindingKind::RelistLoop {
            top_cause(row).and_then(explained_by)
        } else if generic == FindingKind::ShortWatches {
            Some(FindingKind::SilentExpired)
        } else {
            None
        }
    };
    let lists_in_vain = kinds.iter().any(|kind| matches!(kind, FindingKind::StuckReflector | FindingKind::RefusedRequests));
    let is_explained = |kind: FindingKind| {
        let only_lists = matches!(kind, FindingKind::HotLoop | FindingKind::Poller);
        (only_lists && lists_in_vain) || specific(kind).is_some_and(|kind| kinds.contains(&kind))
    };
    found.into_iter().filter(|one| !is_explained(one.kind)).collect()
}

/// The kind of finding that explains relists for `cause`.
pub(super) const fn explained_by(cause: RelistCause) -> Option<FindingKind> {
    match cause {
        RelistCause::Expired { because: Stale::BookmarksNotRequested } => Some(FindingKind::NoBookmarks),
        RelistCause::Expired { because: Stale::CacheReset } => Some(FindingKind::CacheReset),
        RelistCause::Expired { because: Stale::ClientStalled } | RelistCause::ClosedByForce => Some(FindingKind::SlowReader),
        RelistCause::VeryShortWatch => Some(FindingKind::ShortWatches),
        RelistCause::RefusedMisread => Some(FindingKind::RefusedMisread),
        RelistCause::TooLargeResourceVersion => Some(FindingKind::StuckReflector),
        RelistCause::WatchWithoutRevision => Some(FindingKind::FullStateByWatch),
        RelistCause::ContinueExpired => Some(FindingKind::ContinueExpired),
        RelistCause::WatchRefused { .. } => Some(FindingKind::RefusedRequests),
        ENDED_NORMALLY => Some(FindingKind::NoResume),
        RelistCause::Expired { because: Stale::NoBookmarks | Stale::WindowPassed | Stale::Unknown }
        | RelistCause::WatchError { .. }
        | RelistCause::TooManyRequests
        | RelistCause::StreamReset
        | RelistCause::ConnectionLost
        | RelistCause::ListExpired
        | RelistCause::NewProcess
        | RelistCause::Rebuilt
        | RelistCause::Unknown { .. } => None,
    }
}

fn stuck(row: &ReflectorRow, now: Timestamp) -> Option<Finding> {
    let revision = row.stuck_at.or(row.resource_version).unwrap_or_default();
    let spell = spell(row, Trouble::Stuck)?;
    let seen = if row.state == ReflectorState::Stuck {
        let reached = row.server_revision.map_or_else(String::new, |current| format!(" (it was at {current} at the last refusal)"));
        format!("requests revision {revision} repeatedly; the server has not reached it{reached}")
    } else {
        let lasted = quantity::microseconds(spell.lasted_us(now));
        let times = if spell.times > 1 { format!(", {} times", spell.times) } else { String::new() };
        format!("was stuck for {lasted}{times}: requested revision {revision}, which the server had not reached")
    };
    Some(Finding { amount: spell.lasted_us(now), ..one(row, FindingKind::StuckReflector, seen, spell) })
}

fn polls(row: &ReflectorRow, lists: &[ListRow]) -> Option<Finding> {
    let polling = row.polling?;
    let (every, jitter) = (quantity::microseconds(polling.every_us), quantity::microseconds(polling.jitter_us));
    let made = counted(polling.lists, "list");
    let (kind, seen) = match polling.kind {
        PollingKind::HotLoop => (FindingKind::HotLoop, format!("{made}, one every {every}, no watch")),
        PollingKind::Poller => (FindingKind::Poller, format!("polls every {every} (± {jitter}; {made}), never watches")),
        PollingKind::Polls if polling.lasted() > MOST_WAITS => {
            (FindingKind::Poller, format!("polls every {every} (± {jitter}; {made}), never watches"))
        }
        PollingKind::Polls | PollingKind::Wait => return None,
    };
    let found = one(row, kind, seen, Spell::of_moments(polling.lists, row.first_seen, row.last_seen));
    Some(if kind == FindingKind::Poller { Finding { advice: advice::to_poller(row, lists), ..found } } else { found })
}

fn relist_loop(row: &ReflectorRow) -> Option<Finding> {
    let spell = spell(row, Trouble::RelistLoop)?;
    let within = if spell.until.is_none() { "the last five within ten minutes" } else { "five within ten minutes" };
    let seen = format!("{}, {within}: {}", counted(row.relists, "relist"), causes(row));
    let advice = advice::advice_on_relists(top_cause(row));
    Some(Finding { advice, amount: row.relists, ..one(row, FindingKind::RelistLoop, seen, spell) })
}

fn short_watches(row: &ReflectorRow) -> Option<Finding> {
    let spell = spell(row, Trouble::ShortWatches)?;
    let seen = format!("{} watches in a row ended within a second", row.short_watches);
    Some(Finding { amount: row.short_watches, ..one(row, FindingKind::ShortWatches, seen, spell) })
}

fn slow_reader(row: &ReflectorRow) -> Option<Finding> {
    let is_long = row.stalled_us >= microseconds(LONG_STALL);
    if !row.has_watched() || (row.ended_stalled == 0 && row.closed_by_force == 0 && !is_long) {
        return None;
    }
    let now = row.stalled_by.map_or_else(String::new, |by| format!(", and does not read now (the API server waits for the {by})"));
    let stalled = || format!("did not read for {} in total{now}", quantity::microseconds(row.stalled_us));
    let parts = [
        (row.stalled_us > 0 || row.stalled_by.is_some()).then(stalled),
        (row.ended_stalled > 0).then(|| format!("the server ended {} of its watches early", row.ended_stalled)),
        (row.closed_by_force > 0)
            .then(|| format!("the server closed {} of its watches by force, as its log shows", row.closed_by_force)),
    ];
    let seen = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    Some(Finding { amount: row.stalled_us, ..one(row, FindingKind::SlowReader, seen, spell(row, Trouble::Stalled)?) })
}

/// A finding about relists for `cause`.
fn relisted(row: &ReflectorRow, kind: FindingKind, cause: RelistCause, why: &str) -> Option<Finding> {
    let spell = spell(row, Trouble::Relisted(cause))?;
    let found = one(row, kind, format!("{} {why}", counted(spell.times, "relist")), spell);
    let advice = if kind == FindingKind::NoBookmarks { advice::without_bookmarks(row) } else { found.advice };
    Some(Finding { advice, ..found })
}

/// A client that lists after each end of its watch. One or two such lists may come from a rebuilt informer that looks the same. If
/// the process is unknown, each list may come from a new process.
fn no_resume(row: &ReflectorRow) -> Option<Finding> {
    relisted(row, FindingKind::NoResume, ENDED_NORMALLY, "after a watch that had ended normally")
        .filter(|found| found.amount >= UNRESUMED_WATCHES && row.process.is_some())
}

fn streaming_refused(row: &ReflectorRow) -> Option<Finding> {
    let seen = format!("{} refused; the client listed instead", counted(row.fallbacks, "streaming list"));
    Some(one(row, FindingKind::StreamingListRefused, seen, spell(row, Trouble::StreamingRefused)?))
}

fn went_back(row: &ReflectorRow) -> Option<Finding> {
    let seen = format!("resourceVersion went backwards ({})", counted(row.went_back, "list"));
    Some(one(row, FindingKind::RevisionWentBack, seen, spell(row, Trouble::WentBack)?))
}

fn older_state(row: &ReflectorRow) -> Option<Finding> {
    let spell = spell(row, Trouble::OlderState)?;
    let seen = format!("{} with resourceVersion=0 returned an older state than the client had", counted(spell.times, "list"));
    Some(one(row, FindingKind::OlderState, seen, spell))
}

fn deaf(row: &ReflectorRow, now: Timestamp) -> Option<Finding> {
    let found = troubled(row, FindingKind::DeafWatch, Trouble::DeafWatch, now)?;
    Some(Finding { advice: advice::to_deaf(row), ..found })
}

fn never_synced(row: &ReflectorRow, minor: Option<u16>, now: Timestamp) -> Option<Finding> {
    let found = troubled(row, FindingKind::NeverSynced, Trouble::NeverSynced, now)?;
    Some(Finding { advice: advice::to_never_synced(minor), ..found })
}

fn refused(row: &ReflectorRow, now: Timestamp) -> Option<Finding> {
    let found = troubled(row, FindingKind::RefusedRequests, Trouble::Refused, now)?;
    let status = row.evidence.refused?.status;
    let user = row.client.identity.as_ref().filter(|_| matches!(status, 401 | 403)).and_then(Identity::user_name);
    let user = user.map(|user| format!(" (user {user})")).unwrap_or_default();
    // Findings with one identifier are merged, and each status needs another change.
    let class = if status >= 500 { "5xx".to_owned() } else { status.to_string() };
    Some(Finding {
        id: format!("{}:{class}", found.id),
        advice: advice::to_refused(status),
        seen: format!("{}{user}", found.seen),
        ..found
    })
}

/// A finding about a trouble that has its evidence in [`ReflectorRow::evidence`].
fn troubled(row: &ReflectorRow, kind: FindingKind, trouble: Trouble, now: Timestamp) -> Option<Finding> {
    // Some clients have a new connection for each attempt.
    let has_left = row.client_left && now.since(row.last_seen) > BETWEEN_ATTEMPTS;
    let spell = if has_left { spell(row, trouble)? } else { *row.spells.get(&trouble)? };
    let seen = row.evidence.in_words(trouble, spell.until.unwrap_or(now));
    let times = if spell.times > 1 { format!("; {} times", spell.times) } else { String::new() };
    let left = if has_left { "; it has disconnected" } else { "" };
    let expired = row.evidence.expired_watches.filter(|_| kind == FindingKind::ExpiredLoop);
    let empty = row.evidence.empty_watches.filter(|_| kind == FindingKind::SilentExpired);
    let watches = expired.or(empty);
    let attempts = row.evidence.unsynced.filter(|_| kind == FindingKind::NeverSynced);
    let refusals = row.evidence.refused.filter(|_| kind == FindingKind::RefusedRequests);
    let number = watches.map(|watches| watches.times).or(attempts.map(|attempts| attempts.attempts));
    let number = number.or(refusals.map(|refusals| refusals.times));
    // A new process may have inherited the evidence after the shutdown request.
    let is_counted = kind.unit() != Some(AmountUnit::Microseconds);
    let amount = if is_counted { number? } else { spell.lasted_us(now) };
    let found = finding(kind, Some(row.client.clone()), row.shape.clone(), vec![row.reflector], format!("{seen}{times}{left}"));
    Some(Finding { amount, spell: Some(spell), ..found })
}

/// A reflector that keeps the full objects of all namespaces of a resource that grows large.
fn wide(row: &ReflectorRow) -> Option<Finding> {
    let is_large = row.objects.or_zero() >= HEAVY_OBJECTS || row.last_list_bytes.or_zero() >= HEAVY_BYTES;
    let is_wide = row.shape.scope == Some(Scope::AllNamespaces) && !row.shape.has_selector();
    let is_whole = row.representation == Representation::Object && LARGE.contains(&row.shape.resource.as_str());
    (is_large && is_wide && is_whole && row.has_watched()).then(|| {
        let grown = row.grown();
        let grown = if grown > 0 { format!(", {grown} more since") } else { String::new() };
        let seen = format!(
            "keeps {} of all namespaces; its last list had {}{grown}",
            counted(row.objects, "full object"),
            bytes(row.last_list_bytes)
        );
        let lasts = Spell::lasting(row.first_seen);
        let spell = if row.is_watching() && !row.client_left { lasts } else { lasts.over_at(row.last_seen) };
        Finding { amount: row.objects.or_zero(), ..one(row, FindingKind::WideInformer, seen, spell) }
    })
}

fn one(row: &ReflectorRow, kind: FindingKind, seen: String, spell: Spell) -> Finding {
    let seen = if row.client_left { format!("{seen}; it has disconnected") } else { seen };
    let found = finding(kind, Some(row.client.clone()), row.shape.clone(), vec![row.reflector], seen);
    Finding { spell: Some(spell), amount: spell.times, ..found }
}

/// The occurrences of a trouble. If the client has left, an ongoing trouble ended when the reflector was last seen.
fn spell(row: &ReflectorRow, trouble: Trouble) -> Option<Spell> {
    let spell = *row.spells.get(&trouble)?;
    Some(if row.client_left { spell.over_at(row.last_seen) } else { spell })
}

/// The most frequent cause of relists of `row`.
fn top_cause(row: &ReflectorRow) -> Option<RelistCause> {
    let of_relists = row.spells.iter().filter_map(|(trouble, spell)| match trouble {
        Trouble::Relisted(cause) => Some((spell.times, *cause)),
        Trouble::Stuck
        | Trouble::ShortWatches
        | Trouble::RelistLoop
        | Trouble::Stalled
        | Trouble::StreamingRefused
        | Trouble::WentBack
        | Trouble::OlderState
        | Trouble::DeafWatch
        | Trouble::WatchAhead
        | Trouble::ExpiredLoop
        | Trouble::SilentExpired
        | Trouble::NeverSynced
        | Trouble::Refused => None,
    });
    of_relists.max_by_key(|(times, cause)| (*times, std::cmp::Reverse(*cause))).map(|(_, cause)| cause)
}

fn causes(row: &ReflectorRow) -> String {
    let mut causes: Vec<_> = row.causes.iter().collect();
    causes.sort_by_key(|(cause, number)| (std::cmp::Reverse(**number), *cause));
    let more = causes.len().saturating_sub(MOST_CAUSES);
    let named = causes.iter().take(MOST_CAUSES).map(|(cause, number)| format!("{number} × {}", cause_label(cause)));
    named.chain((more > 0).then(|| format!("{more} more"))).collect::<Vec<_>>().join(", ")
}
