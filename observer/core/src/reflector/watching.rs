//! A watch of a reflector, and the facts kept after its end.

use std::time::Duration;

use super::failure::{Failure, FailureKind};
use super::watch_end::WatchEnd;
use crate::exchange::Exchange;
use crate::k8s::ResourceVersion;
use crate::observation::ExchangeId;
use crate::routing::EventWindow;
use crate::thresholds::{VERY_SHORT_WATCH, WAIT_FOR_CACHE};
use crate::time::Timestamp;

/// For this long after its start, a watch may deliver events from before its request.
const CATCHES_UP: Duration = Duration::from_secs(1);

/// A watch cache that lacks a revision ends the watch within this time after its answer began: in less than 1 ms, on a busy machine, too.
/// etcd may need more than 100 ms, since it looks for compacted revisions at that interval (etcd-io/etcd
/// `server/storage/mvcc/watchable_store.go`, `syncWatchersLoop`, v3.6).
const REPORTS_AN_ERROR: Duration = Duration::from_millis(20);

/// A server that has waited for a revision answers after this additional time at most.
const WAITS_LONGER: Duration = Duration::from_millis(300);

/// A requested watch.
#[derive(Clone, Debug)]
pub(super) struct Watching {
    pub exchange: ExchangeId,
    pub asked: Timestamp,
    pub opened: Option<Timestamp>,
    pub allows_bookmarks: bool,
    /// Whether it comes from a log, which has no events and no bookmarks.
    pub is_logged: bool,
    /// How far back the server's watch cache reaches.
    pub window: EventWindow,
    pub events: u64,
    /// When the last event or bookmark arrived.
    pub latest: Option<Timestamp>,
    pub bookmarks: u64,
    pub first_bookmark: Option<Timestamp>,
    pub last_bookmark: Option<Timestamp>,
    /// If it begins with all objects: the resource version in its request.
    pub streams: Option<ResourceVersion>,
    /// For a streaming list: when it was complete, and the number of events and bookmarks until then.
    pub listed: Option<(Timestamp, u64)>,
}

/// A watch that has ended.
#[derive(Clone, Debug)]
pub(super) struct PastWatch {
    pub exchange: ExchangeId,
    pub asked: Timestamp,
    pub ended: Timestamp,
    pub end: WatchEnd,
    pub allows_bookmarks: bool,
    pub window: EventWindow,
    /// Number of bookmarks; `None` for a watch of a log, which lacks them.
    pub bookmarks: Option<u64>,
    /// When the server accepted it.
    pub opened: Option<Timestamp>,
    /// If it began with all objects, as a streaming list: the resource version in its request.
    pub streams: Option<ResourceVersion>,
    /// Whether the client did not read for at least 1 s shortly before the end.
    pub stalled: bool,
    /// Whether the server reset the watch cache, which ended it, as the server's log shows.
    pub cache_reset: bool,
    /// Meaning of its refusal or `ERROR` event, if it had one.
    pub failure: Option<FailureKind>,
}

impl Watching {
    pub(super) fn begin(exchange: &Exchange) -> Self {
        let options = &exchange.request.options;
        Self {
            exchange: exchange.id,
            asked: exchange.started,
            opened: None,
            allows_bookmarks: options.allow_watch_bookmarks,
            is_logged: exchange.is_logged,
            window: exchange.event_window,
            events: 0,
            latest: None,
            bookmarks: 0,
            first_bookmark: None,
            last_bookmark: None,
            streams: options.ends_state_with_bookmark().then_some(options.resource_version),
            listed: None,
        }
    }

    /// Marks the initial list as complete. From here on, a client treats the watch like any other.
    pub(super) const fn is_listed(&mut self, at: Timestamp) {
        self.listed = Some((at, self.came()));
    }

    /// How the watch of `exchange` ended at `at`. After a streaming list, a client measures a very short watch from the end of that
    /// list (client-go tools/cache/reflector.go: `handleWatch` starts its clock and its count after `watchList`).
    pub(super) fn end(&self, exchange: &Exchange, at: Timestamp) -> Option<WatchEnd> {
        let end = WatchEnd::of(exchange)?;
        let is_complete = matches!(end, WatchEnd::Early | WatchEnd::TimedOut);
        let is_very_short = self.listed.is_some_and(|(listed, came)| self.came() == came && at.since(listed) < VERY_SHORT_WATCH);
        Some(if is_complete && is_very_short { WatchEnd::VeryShort } else { end })
    }

    /// Whether an event that arrives at `at` may be older than the watch.
    pub(super) fn catches_up(&self, at: Timestamp) -> bool {
        self.opened.is_none_or(|opened| at.since(opened) < CATCHES_UP)
    }

    const fn came(&self) -> u64 {
        self.events.saturating_add(self.bookmarks)
    }

    pub(super) fn note(&mut self, at: Timestamp, events: u64, bookmarks: u64) {
        self.latest = Some(at);
        self.events = self.events.saturating_add(events);
        self.bookmarks = self.bookmarks.saturating_add(bookmarks);
        if bookmarks > 0 {
            self.first_bookmark.get_or_insert(at);
            self.last_bookmark = Some(at);
        }
    }

    /// Mean time between its bookmarks; `None` before the second bookmark.
    pub(super) fn bookmark_every(&self) -> Option<Duration> {
        let (first, last) = self.first_bookmark.zip(self.last_bookmark)?;
        let between = self.bookmarks.checked_sub(1).filter(|between| *between > 0)?;
        Some(Duration::from_nanos_u128(last.since(first).as_nanos() / u128::from(between)))
    }

    pub(super) fn over(&self, end: WatchEnd, ended: Timestamp, stalled: bool, failure: Option<FailureKind>) -> PastWatch {
        PastWatch {
            exchange: self.exchange,
            asked: self.asked,
            ended,
            end,
            allows_bookmarks: self.allows_bookmarks,
            window: self.window,
            bookmarks: (!self.is_logged).then_some(self.bookmarks),
            opened: self.opened,
            streams: self.streams,
            stalled,
            cache_reset: false,
            failure,
        }
    }
}

impl PastWatch {
    /// The failure of the streaming list that this watch delivered: the watch ended before the list was complete.
    pub(super) fn failure_of_list(&self) -> Failure {
        Failure { at: self.ended, code: self.end.code(), kind: self.failure.unwrap_or(FailureKind::Broken), is_page: false }
    }

    /// Whether it ended within a second of its request.
    pub(super) fn is_brief(&self) -> bool {
        self.ended.since(self.asked) <= VERY_SHORT_WATCH
    }

    /// Whether it may have ended with an error event as soon as the server had looked for its revision. A log without `ResponseStarted` has
    /// the time of its end for that of its answer, so each brief watch may have.
    pub(super) fn may_have_reported_an_error(&self) -> bool {
        let is_at_once = self.opened.is_none_or(|opened| self.ended.since(opened) <= REPORTS_AN_ERROR);
        self.is_brief() && (is_at_once || self.window == EventWindow::Absent)
    }

    /// Whether it comes from a log.
    pub(super) const fn is_logged(&self) -> bool {
        self.bookmarks.is_none()
    }

    /// Whether a streaming list ended as soon as the API server had waited for its revision, and its client asked again at once. The
    /// server sends an `ERROR` event then, which a log does not show (kubernetes/apiserver `pkg/storage/cacher/cacher.go` `Watch`, v0.27 to
    /// v0.36; client-go `tools/cache/reflector.go` `watchList`, v0.27 to v0.36).
    pub(super) fn ended_after_waiting(&self, next: Timestamp) -> bool {
        let names_a_revision = matches!(self.streams, Some(ResourceVersion::At(_)));
        let waited = WAIT_FOR_CACHE..WAIT_FOR_CACHE + WAITS_LONGER;
        names_a_revision && waited.contains(&self.ended.since(self.asked)) && next.since(self.ended) < VERY_SHORT_WATCH
    }

    /// Whether it was accepted, and neither very short nor ended by an `ERROR` event within a second of its request.
    pub(super) fn was_of_use(&self) -> bool {
        match self.end {
            WatchEnd::TimedOut
            | WatchEnd::Early
            | WatchEnd::ByForce
            | WatchEnd::StreamReset { .. }
            | WatchEnd::ConnectionLost { .. }
            | WatchEnd::Cancelled
            | WatchEnd::ClientLeft
            | WatchEnd::ByWatchtap
            | WatchEnd::NotObserved => self.opened.is_some(),
            WatchEnd::BeforeTimeout => self.opened.is_some() && !self.is_brief(),
            WatchEnd::ErrorEvent { .. } => !self.is_brief(),
            WatchEnd::VeryShort | WatchEnd::Refused { .. } => false,
        }
    }
}
