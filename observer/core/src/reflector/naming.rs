//! Naming a relist: what was seen before it, and what that means.
//!
//! The rules are those of §6.5 of the semantics reference; upstream they are spread over client-go tools/cache/reflector.go
//! (`ListAndWatch`, `watchHandler`) and rest/request.go.

use std::time::Duration;

use super::cause::{RelistCause, Stale, UnknownCause};
use super::listing::{Failure, FailureKind};
use super::servers::Server;
use super::state::ClientAge;
use super::watch_end::WatchEnd;
use super::watching::PastWatch;
use crate::k8s::{ListOptions, ResourceVersion};
use crate::routing::{EventWindow, SURELY_HELD};
use crate::time::Timestamp;

/// A client that did not watch for longer than this was stalled, or gone: client-go pauses for less than 60 s between two attempts (client-go
/// tools/cache/reflector.go, `backoffManager`: at most 30 s, times a number below 2).
const STALLED: Duration = Duration::from_secs(75);

/// What is known of a reflector when it lists again.
#[derive(Debug)]
pub(super) struct Past<'r> {
    /// How the list before failed, if nothing came after it.
    pub list_failure: Option<&'r Failure>,
    /// The latest watch, if it came after the latest list.
    pub watch: Option<&'r PastWatch>,
    /// The latest watch that delivered.
    pub useful_watch: Option<&'r PastWatch>,
    /// When the server chose the reflector's revision, at the earliest; `None` if that was not seen.
    pub revision_chosen: Option<Timestamp>,
    /// Since when it has had that revision at least.
    pub revision_since: Timestamp,
    /// From when on something can have made that revision expire.
    pub expires_from: Timestamp,
    /// How many later revisions the server has shown since.
    pub revisions_since: u64,
    /// Whether the server refused connections since it last did anything.
    pub refused: bool,
    /// Whether observing lost sight of it since.
    pub out_of_sight: bool,
    /// Whether all connections of the client had ended since the watch did, and it is not known to be the same process.
    pub may_be_another_process: bool,
    /// What the requests before showed of the client's age.
    pub age: Option<ClientAge>,
}

/// The one cause of a list with `options`.
pub(super) fn cause(past: &Past<'_>, options: &ListOptions, server: Option<&Server>) -> RelistCause {
    if past.out_of_sight {
        return RelistCause::Unknown { reason: UnknownCause::OutOfSight };
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
        (WatchEnd::OutOfSight, _) => RelistCause::Unknown { reason: UnknownCause::OutOfSight },
        (WatchEnd::ByWatchtap, _) => RelistCause::Unknown { reason: UnknownCause::ByWatchtap },
        (WatchEnd::ClientLeft, _) if begins_from_nothing && past.may_be_another_process => RelistCause::NewProcess,
        (WatchEnd::ClientLeft | WatchEnd::Cancelled, _) if without_revision => RelistCause::WatchWithoutRevision,
        (WatchEnd::ClientLeft | WatchEnd::Cancelled, _) if begins_from_nothing => RelistCause::Rebuilt,
        (WatchEnd::Cancelled, _) => RelistCause::Unknown { reason: UnknownCause::Cancelled },
        (WatchEnd::TimedOut | WatchEnd::Early | WatchEnd::StreamReset { .. } | WatchEnd::ConnectionLost { .. }, _)
            if past.refused && (!without_revision || past.may_be_another_process) =>
        {
            after_refusal(past, options, begins_from_nothing)
        }
        (WatchEnd::TimedOut | WatchEnd::Early, _) if without_revision => RelistCause::WatchWithoutRevision,
        (WatchEnd::StreamReset { .. } | WatchEnd::ConnectionLost { .. }, _) if without_revision && past.refused => {
            RelistCause::WatchWithoutRevision
        }
        (WatchEnd::StreamReset { .. }, _) => RelistCause::StreamReset,
        // A client that ends its connection and goes on from where it was had no answer to its pings.
        (WatchEnd::ConnectionLost { .. } | WatchEnd::ClientLeft, _) => RelistCause::ConnectionLost,
        (WatchEnd::TimedOut | WatchEnd::Early, _) => RelistCause::Unknown { reason: UnknownCause::WatchEndedWell },
    }
}

/// Of a list that failed otherwise, another is one more attempt.
const fn after_failed_list(failure: &Failure) -> RelistCause {
    match (failure.kind, failure.is_page) {
        (FailureKind::TooLarge, _) => RelistCause::TooLargeResourceVersion,
        (FailureKind::Expired, true) => RelistCause::ContinueExpired,
        (FailureKind::Expired | FailureKind::Broken | FailureKind::Refused, _) => RelistCause::ListExpired,
    }
}

/// The watch could not be resumed while the server refused. client-go until 1.15 lists from the cache then; it does not ask for bookmarks
/// (client-go 0.15 tools/cache/reflector.go). Later ones go on trying to watch, and list, from where they were, if an attempt is cut off.
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

fn stale(past: &Past<'_>, expired: &PastWatch, server: Option<&Server>) -> Stale {
    let is_cached = expired.window != EventWindow::Absent;
    let refused = server.is_some_and(|server| server.refused_between(past.expires_from, expired.ended).is_some());
    if refused && is_cached {
        return Stale::CacheRestarted;
    }
    let was_not_read = past.useful_watch.is_some_and(|watch| watch.stalled);
    let age = past.revision_chosen.map(|chosen| expired.ended.since(chosen));
    // What comes late to a client that does not read is older than it seems.
    if let Some(age) = age.filter(|age| *age < SURELY_HELD && !was_not_read) {
        return match expired.window {
            EventWindow::Absent => Stale::Unknown,
            window if window.holds(age, past.revisions_since) => Stale::CacheRestarted,
            EventWindow::Grows | EventWindow::Fixed | EventWindow::Unknown => Stale::WindowPassed,
        };
    }
    // Between the pages of its list a client does not watch either.
    let unwatched_from =
        past.useful_watch.map(|watch| watch.ended).filter(|ended| *ended <= expired.asked).max(past.revision_chosen);
    if was_not_read || unwatched_from.is_some_and(|from| expired.asked.since(from) >= STALLED) {
        return Stale::ClientStalled;
    }
    let Some(watch) = past.useful_watch else { return Stale::Unknown };
    let is_old = age.is_some() || expired.ended.since(past.revision_since) >= SURELY_HELD;
    match (is_old, watch.allows_bookmarks, watch.bookmarks) {
        (false, ..) | (true, true, 1..) => Stale::Unknown,
        (true, false, _) => Stale::BookmarksNotAsked,
        (true, true, 0) => Stale::NoBookmarks,
    }
}
