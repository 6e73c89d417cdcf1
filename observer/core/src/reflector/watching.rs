//! A watch of a reflector, and what remains of it when it is over.

use std::time::Duration;

use super::listing::FailureKind;
use super::watch_end::WatchEnd;
use crate::exchange::Exchange;
use crate::observation::ExchangeId;
use crate::routing::EventWindow;
use crate::time::Timestamp;

/// For how long after it was granted a watch may deliver what happened before it was asked for.
const CATCHES_UP: Duration = Duration::from_secs(1);

/// A watch that was asked for.
#[derive(Clone, Debug)]
pub(super) struct Watching {
    pub exchange: ExchangeId,
    pub asked: Timestamp,
    pub opened: Option<Timestamp>,
    pub allows_bookmarks: bool,
    /// How far back the server can begin a watch.
    pub window: EventWindow,
    pub events: u64,
    /// When the last event or bookmark came.
    pub latest: Option<Timestamp>,
    pub bookmarks: u64,
    pub first_bookmark: Option<Timestamp>,
    pub last_bookmark: Option<Timestamp>,
    /// Of a streaming list: when it was whole, and how many events and bookmarks had come until then.
    pub listed: Option<(Timestamp, u64)>,
}

/// A watch that is over.
#[derive(Clone, Debug)]
pub(super) struct PastWatch {
    pub asked: Timestamp,
    pub ended: Timestamp,
    pub end: WatchEnd,
    pub allows_bookmarks: bool,
    pub window: EventWindow,
    pub bookmarks: u64,
    /// Whether it was granted.
    pub opened: bool,
    /// Whether the client did not read for a second or more, just before the end.
    pub stalled: bool,
    /// What its refusal or its `ERROR` event means, if it had one.
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
            window: exchange.event_window,
            events: 0,
            latest: None,
            bookmarks: 0,
            first_bookmark: None,
            last_bookmark: None,
            listed: None,
        }
    }

    /// The list that it began with is whole: from here on the client counts as it does with any watch.
    pub(super) const fn is_listed(&mut self, at: Timestamp) {
        self.listed = Some((at, self.came()));
    }

    /// How the watch of `exchange` ended at `at`. A client takes it for a very short one if that was soon after the list it began with, too
    /// (client-go tools/cache/reflector.go: `handleWatch` starts its clock and its count behind `watchList`).
    pub(super) fn end(&self, exchange: &Exchange, at: Timestamp) -> Option<WatchEnd> {
        let end = WatchEnd::of(exchange)?;
        let is_whole = matches!(end, WatchEnd::Early | WatchEnd::TimedOut);
        let is_very_short = self.listed.is_some_and(|(listed, came)| {
            self.came() == came && at.since(listed).as_nanos() < u128::from(WatchEnd::VERY_SHORT_NANOS)
        });
        Some(if is_whole && is_very_short { WatchEnd::VeryShort } else { end })
    }

    /// Whether an event that comes at `at` may be of before the watch.
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

    /// The mean time between its bookmarks, once there are two.
    pub(super) fn bookmark_every(&self) -> Option<Duration> {
        let (first, last) = self.first_bookmark.zip(self.last_bookmark)?;
        let between = self.bookmarks.checked_sub(1).filter(|between| *between > 0)?;
        Some(Duration::from_nanos_u128(last.since(first).as_nanos() / u128::from(between)))
    }

    pub(super) fn over(&self, end: WatchEnd, ended: Timestamp, stalled: bool, failure: Option<FailureKind>) -> PastWatch {
        PastWatch {
            asked: self.asked,
            ended,
            end,
            allows_bookmarks: self.allows_bookmarks,
            window: self.window,
            bookmarks: self.bookmarks,
            opened: self.opened.is_some(),
            stalled,
            failure,
        }
    }
}

impl PastWatch {
    /// Whether it was granted, and not refused by its first event.
    pub(super) fn was_of_use(&self) -> bool {
        match self.end {
            WatchEnd::TimedOut
            | WatchEnd::Early
            | WatchEnd::StreamReset { .. }
            | WatchEnd::ConnectionLost { .. }
            | WatchEnd::Cancelled
            | WatchEnd::ClientLeft
            | WatchEnd::ByWatchtap
            | WatchEnd::OutOfSight => self.opened,
            WatchEnd::ErrorEvent { .. } => self.ended.since(self.asked).as_nanos() > u128::from(WatchEnd::VERY_SHORT_NANOS),
            WatchEnd::VeryShort | WatchEnd::Refused { .. } => false,
        }
    }
}
