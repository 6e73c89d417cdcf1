//! Determines the cause of a relist from the observations before it.
//!
//! The rules are those of §6.5 of docs/semantics.md; upstream they are spread over client-go tools/cache/reflector.go
//! (`ListAndWatch`, `watchHandler`) and rest/request.go.

use super::cause::{RelistCause, Stale, UnknownCause};
use super::failure::{Failure, FailureKind};
use super::servers::Server;
use super::state::ClientAge;
use super::watch_end::WatchEnd;
use super::watching::PastWatch;
use crate::k8s::{ListOptions, ResourceVersion};
use crate::routing::{EventWindow, SURELY_HELD};
use crate::thresholds::UNWATCHED;
use crate::time::Timestamp;

/// The facts about a reflector when it relists.
#[derive(Debug)]
pub(super) struct Past<'r> {
    /// When the relist was requested.
    pub asked: Timestamp,
    /// Failure of the previous list, if nothing came after it.
    pub list_failure: Option<&'r Failure>,
    /// The latest watch, if it came after the latest list.
    pub watch: Option<&'r PastWatch>,
    /// The latest useful watch: accepted, not very short, and not ended by an `ERROR` event within a second.
    pub useful_watch: Option<&'r PastWatch>,
    /// Earliest time at which the server can have chosen the reflector's revision; `None` if that was not observed.
    pub revision_chosen: Option<Timestamp>,
    /// Time from which the reflector is known to have that revision.
    pub revision_since: Timestamp,
    /// Earliest time at which that revision can have expired.
    pub expires_from: Timestamp,
    /// Number of later revisions that the server has shown; 0 if unknown.
    pub revisions_since: u64,
    /// Whether the server refused connections since the reflector's last watch or list.
    pub refused: bool,
    /// Whether part of the traffic since the reflector's last watch or list was not observed.
    pub out_of_sight: bool,
    /// Whether the client's process is unknown, and the client reconnected after its watch and all its connections had ended.
    pub may_be_another_process: bool,
    /// The client-go release, inferred from earlier requests.
    pub age: Option<ClientAge>,
}

/// The cause of a relist with `options`.
pub(super) fn cause(past: &Past<'_>, options: &ListOptions, server: Option<&Server>) -> RelistCause {
    if past.out_of_sight {
        return RelistCause::Unknown { reason: UnknownCause::NotObserved };
    }
    if let Some(failure) = past.list_failure {
        return after_failed_list(failure);
    }
    let begins_from_nothing = matches!(options.resource_version, ResourceVersion::Unset | ResourceVersion::Any);
    let without_revision = begins_from_nothing && options.watch && !options.ends_state_with_bookmark();
    let Some(watch) = past.watch else {
        return if without_revision {
            RelistCause::WatchWithoutRevision
        } else {
            after_refusal(past, options, begins_from_nothing)
        };
    };
    match (watch.end, watch.failure) {
        (_, Some(FailureKind::Expired)) => RelistCause::Expired { because: stale(past, watch, server) },
        (_, Some(FailureKind::TooLarge)) => RelistCause::TooLargeResourceVersion,
        (WatchEnd::ErrorEvent { code: 429 } | WatchEnd::Refused { status: 429 }, _) => RelistCause::TooManyRequests,
        (WatchEnd::ErrorEvent { code }, _) => RelistCause::WatchError { code },
        (WatchEnd::Refused { status }, _) => RelistCause::WatchRefused { status },
        (WatchEnd::VeryShort, _) => RelistCause::VeryShortWatch,
        (WatchEnd::NotObserved, _) => RelistCause::Unknown { reason: UnknownCause::NotObserved },
        (WatchEnd::ByWatchtap, _) => RelistCause::Unknown { reason: UnknownCause::ByWatchtap },
        (WatchEnd::ClientLeft, _) if begins_from_nothing && past.may_be_another_process => RelistCause::NewProcess,
        (WatchEnd::ClientLeft | WatchEnd::Cancelled, _) if without_revision => RelistCause::WatchWithoutRevision,
        (WatchEnd::ClientLeft | WatchEnd::Cancelled, _) if begins_from_nothing => RelistCause::Rebuilt,
        (WatchEnd::Cancelled, _) => RelistCause::Unknown { reason: UnknownCause::Cancelled },
        (
            WatchEnd::TimedOut
            | WatchEnd::Early
            | WatchEnd::ByForce
            | WatchEnd::StreamReset { .. }
            | WatchEnd::ConnectionLost { .. },
            _,
        ) if past.refused && (!without_revision || past.may_be_another_process) => {
            after_refusal(past, options, begins_from_nothing)
        }
        (WatchEnd::TimedOut | WatchEnd::Early | WatchEnd::ByForce, _) if without_revision => RelistCause::WatchWithoutRevision,
        (WatchEnd::StreamReset { .. } | WatchEnd::ConnectionLost { .. }, _) if without_revision && past.refused => {
            RelistCause::WatchWithoutRevision
        }
        (WatchEnd::ByForce, _) => RelistCause::ClosedByForce,
        (WatchEnd::BeforeTimeout, _) => after_logged_end(past, watch, options, server),
        (WatchEnd::StreamReset { .. }, _) => RelistCause::StreamReset,
        // A client that closes its connection and then lists from its own revision had received no answer to its HTTP/2 pings.
        (WatchEnd::ConnectionLost { .. } | WatchEnd::ClientLeft, _) => RelistCause::ConnectionLost,
        (WatchEnd::TimedOut | WatchEnd::Early, _) => RelistCause::Unknown { reason: UnknownCause::WatchEndedNormally },
    }
}

/// The cause of a relist after a list that failed because its revision was too new or had expired. After any other failure, another
/// list is a retry.
const fn after_failed_list(failure: &Failure) -> RelistCause {
    match (failure.kind, failure.is_page) {
        (FailureKind::TooLarge, _) => RelistCause::TooLargeResourceVersion,
        (FailureKind::Expired, true) => RelistCause::ContinueExpired,
        (FailureKind::Expired | FailureKind::Broken | FailureKind::Refused, _) => RelistCause::ListExpired,
    }
}

/// The cause of a relist after the server refused connections, so that the client could not resume. client-go up to 1.15 then lists
/// from the cache and does not request bookmarks (client-go 0.15 tools/cache/reflector.go). Later releases retry the watch, and
/// relist from their own revision if an attempt is cut off.
fn after_refusal(past: &Past<'_>, options: &ListOptions, begins_from_nothing: bool) -> RelistCause {
    let asks_for_bookmarks = past.watch.or(past.useful_watch).is_some_and(|watch| watch.allows_bookmarks);
    let is_of_its_form = options.resource_version == ResourceVersion::Any && options.limit > 0;
    let may_be_old = matches!(past.age, None | Some(ClientAge::Until1_17));
    match (begins_from_nothing, !asks_for_bookmarks && is_of_its_form && may_be_old) {
        (_, true) => RelistCause::RefusedMisread,
        (true, false) => RelistCause::Unknown { reason: UnknownCause::AfterRefusal },
        (false, false) => RelistCause::ConnectionLost,
    }
}

/// The cause of a relist after a watch of which a log shows only that it ended before its time. An expired revision is answered at once,
/// with an `ERROR` event, and the client lists (§6.4 T4 of docs/semantics.md).
fn after_logged_end(past: &Past<'_>, watch: &PastWatch, options: &ListOptions, server: Option<&Server>) -> RelistCause {
    let begins_from_nothing = matches!(options.resource_version, ResourceVersion::Unset | ResourceVersion::Any);
    if begins_from_nothing && options.watch && !options.ends_state_with_bookmark() {
        return RelistCause::WatchWithoutRevision;
    }
    if begins_from_nothing && watch.ended_after_waiting(past.asked) {
        return RelistCause::TooLargeResourceVersion;
    }
    if watch.is_brief() {
        // The server surely had a young revision, and no revision of a streaming list expires. So it ended the watch for another reason,
        // and the client took that for a failure.
        let is_young =
            watch.streams.is_some() || past.revision_chosen.is_some_and(|chosen| watch.ended.since(chosen) < SURELY_HELD);
        let may_be_reset = watch.streams.is_none() && was_reset(past, watch, server);
        if watch.may_have_reported_an_error() && (!is_young || may_be_reset) {
            return RelistCause::Expired { because: stale(past, watch, server) };
        }
        if !begins_from_nothing || past.age == Some(ClientAge::Until1_17) {
            return RelistCause::VeryShortWatch;
        }
    }
    if past.refused {
        return after_refusal(past, options, begins_from_nothing);
    }
    RelistCause::Unknown { reason: UnknownCause::EndNotLogged }
}

/// Whether the watch cache was surely reset before this watch: the server refused connections, or its log shows the reset.
fn was_reset(past: &Past<'_>, watch: &PastWatch, server: Option<&Server>) -> bool {
    let refused = || server.is_some_and(|server| server.refused_between(past.expires_from, watch.ended).is_some());
    past.useful_watch.is_some_and(|useful| useful.cache_reset) || refused()
}

fn stale(past: &Past<'_>, expired: &PastWatch, server: Option<&Server>) -> Stale {
    let is_cached = expired.window != EventWindow::Absent;
    if is_cached && was_reset(past, expired, server) {
        return Stale::CacheReset;
    }
    let was_not_read = past.useful_watch.is_some_and(|watch| watch.stalled);
    let age = past.revision_chosen.map(|chosen| expired.ended.since(chosen));
    // For a client that does not read, a revision is older than its arrival suggests.
    if let Some(age) = age.filter(|age| *age < SURELY_HELD && !was_not_read) {
        return match expired.window {
            EventWindow::Absent => Stale::Unknown,
            window if window.holds(age, past.revisions_since) => Stale::CacheReset,
            EventWindow::Grows | EventWindow::Fixed | EventWindow::Unknown => Stale::WindowPassed,
        };
    }
    // A client that requests the pages of its list does not watch, either.
    let unwatched_from =
        past.useful_watch.map(|watch| watch.ended).filter(|ended| *ended <= expired.asked).max(past.revision_chosen);
    if was_not_read || unwatched_from.is_some_and(|from| expired.asked.since(from) >= UNWATCHED) {
        return Stale::ClientStalled;
    }
    let Some(watch) = past.useful_watch else { return Stale::Unknown };
    // A log does not show when a revision was delivered. This one has expired, and no restart of the server was logged, so the revision
    // was older than the server surely keeps one.
    let has_lasted = watch.is_logged() && expired.window == EventWindow::Grows && watch.ended.since(watch.asked) >= SURELY_HELD;
    let is_old = age.is_some() || has_lasted || expired.ended.since(past.revision_since) >= SURELY_HELD;
    match (is_old, watch.allows_bookmarks, watch.bookmarks) {
        (false, ..) | (true, true, Some(1..) | None) => Stale::Unknown,
        (true, false, _) => Stale::BookmarksNotRequested,
        (true, true, Some(0)) => Stale::NoBookmarks,
    }
}
