//! The timeline of a reflector, which is also the evidence of a relist.

use std::collections::VecDeque;

use serde::Serialize;

use super::watch_end::WatchEnd;
use crate::exchange::of_texts;
use crate::k8s::{ResourceVersion, Status};
use crate::observation::{Blockage, ExchangeId};
use crate::quantity::Amount;
use crate::time::Timestamp;

/// Maximum number of moments that are kept for a reflector; the latest are kept.
const MAX_MOMENTS: usize = 32;
/// Bound for the message of a `Status`, in bytes.
const MAX_MESSAGE: usize = 160;

/// An event with its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// Time of the event; for several merged events, the time of the first.
    pub at: Timestamp,
    /// The event itself.
    #[serde(flatten)]
    pub what: Happened,
}

/// An event in the life of a reflector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "moment")]
pub enum Happened {
    /// The client requested a list, or a page of one.
    ListAsked {
        /// The exchange of the request.
        exchange: ExchangeId,
        /// `resourceVersion` of the request.
        resource_version: ResourceVersion,
        /// `limit` of the request; 0 means no limit.
        limit: u64,
        /// Whether it is a page after the first.
        is_page: bool,
    },
    /// A list, or a page of it, arrived.
    ListCame {
        /// Number of items in the response.
        items: Amount,
        /// Its revision; empty if the list has none.
        resource_version: String,
    },
    /// The client requested a watch.
    WatchAsked {
        /// The exchange of the request.
        exchange: ExchangeId,
        /// `resourceVersion` of the request.
        resource_version: ResourceVersion,
        /// Whether all objects come first, as events: in a streaming list, or a watch without a revision.
        initial_events: bool,
    },
    /// The server accepted the watch.
    WatchOpened,
    /// The initial events of a streaming list, or of a watch without a revision, are complete.
    InitialEventsEnded {
        /// Number of items in these events.
        items: u64,
    },
    /// Events and bookmarks arrived.
    Delivered {
        /// Number of events about objects.
        events: u64,
        /// Number of bookmarks, which `events` does not include.
        bookmarks: u64,
        /// The reflector's newest revision.
        resource_version: Option<u64>,
        /// When the last of them arrived.
        until: Timestamp,
    },
    /// A list or a watch was refused, or the watch sent an `ERROR` event.
    Failed {
        /// The HTTP status, or the code of the event.
        code: u16,
        /// `reason` of the `Status`, cut at 160 bytes.
        #[serde(skip_serializing_if = "String::is_empty")]
        reason: String,
        /// `message` of the `Status`, which names the revisions of the read; cut at 160 bytes.
        #[serde(skip_serializing_if = "String::is_empty")]
        message: String,
    },
    /// The response to a list ended before the list was complete.
    ListBroke,
    /// The API server closed the watch by force, because the client read too slowly, as its log shows.
    ClosedByForce {
        /// Number of events that waited for the client, if the log has it.
        #[serde(skip_serializing_if = "Option::is_none")]
        waiting: Option<u64>,
    },
    /// The API server reset the watch cache, which ended the watch, as its log shows.
    CacheReset,
    /// The watch ended or was refused.
    WatchEnded {
        /// The manner of the end.
        end: WatchEnd,
    },
    /// The API server refused connections, and so did the tap.
    ServerRefused {
        /// End of the refusal; `None` while it lasts.
        until: Option<Timestamp>,
    },
    /// The client does not read, so the server cannot send. Reported once this has lasted a second.
    Stalled {
        /// The reason why the server cannot send.
        by: Blockage,
        /// Start of the stall.
        since: Timestamp,
    },
    /// The client reads again, or the response ended.
    ReadAgain {
        /// Length of the stall, in microseconds.
        after_us: u64,
    },
    /// Part of the traffic was not observed. The reflector's actions until the next moment are unknown.
    NotObserved,
}

impl Moment {
    /// Estimated memory in bytes.
    pub(super) fn memory(&self) -> usize {
        let texts = match &self.what {
            Happened::ListCame { resource_version, .. } => of_texts([resource_version.as_str()]),
            Happened::Failed { reason, message, .. } => of_texts([reason.as_str(), message]),
            Happened::ListAsked { .. }
            | Happened::WatchAsked { .. }
            | Happened::WatchOpened
            | Happened::InitialEventsEnded { .. }
            | Happened::Delivered { .. }
            | Happened::ListBroke
            | Happened::ClosedByForce { .. }
            | Happened::CacheReset
            | Happened::WatchEnded { .. }
            | Happened::ServerRefused { .. }
            | Happened::Stalled { .. }
            | Happened::ReadAgain { .. }
            | Happened::NotObserved => 0,
        };
        size_of::<Self>() + texts
    }
}

impl Happened {
    /// A list, or a page of one. The revision is cut at 160 bytes.
    pub(super) fn list_came(items: Amount, resource_version: &str) -> Self {
        Self::ListCame { items, resource_version: cut(resource_version).to_owned() }
    }

    /// A refusal or an `ERROR` event.
    pub(super) fn failed(code: u16, status: Option<&Status>) -> Self {
        let (reason, message) = status.map(|status| (status.reason.as_str(), status.message.as_str())).unwrap_or_default();
        Self::Failed { code, reason: cut(reason).to_owned(), message: cut(message).to_owned() }
    }
}

fn cut(message: &str) -> &str {
    let end = (0..=MAX_MESSAGE.min(message.len())).rev().find(|end| message.is_char_boundary(*end)).unwrap_or(0);
    message.get(..end).unwrap_or_default()
}

/// The latest moments of a reflector.
#[derive(Clone, Debug, Default)]
pub(super) struct Timeline {
    moments: VecDeque<Moment>,
    dropped: u64,
}

impl Timeline {
    pub(super) fn push(&mut self, at: Timestamp, what: Happened) {
        if self.moments.len() >= MAX_MOMENTS {
            self.moments.pop_front();
            self.dropped = self.dropped.saturating_add(1);
        }
        self.moments.push_back(Moment { at, what });
    }

    /// Adds a delivery; merges consecutive deliveries into one moment.
    pub(super) fn push_delivery(&mut self, at: Timestamp, events: u64, bookmarks: u64, resource_version: Option<u64>) {
        if let Some(Moment {
            what: Happened::Delivered { events: before, bookmarks: marks, resource_version: newest, until },
            ..
        }) = self.moments.back_mut()
        {
            *before = before.saturating_add(events);
            *marks = marks.saturating_add(bookmarks);
            *newest = resource_version.or(*newest);
            *until = at;
            return;
        }
        self.push(at, Happened::Delivered { events, bookmarks, resource_version, until: at });
    }

    /// All kept moments, the oldest first.
    pub(super) fn moments(&self) -> Vec<Moment> {
        self.moments.iter().cloned().collect()
    }

    /// Estimated memory of all moments, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.moments.iter().map(Moment::memory).sum()
    }

    /// Makes room by dropping all moments but the latest four.
    pub(super) fn shorten(&mut self) {
        const LEFT: usize = 4;
        let dropped = self.moments.len().saturating_sub(LEFT);
        self.moments.drain(..dropped);
        self.moments.shrink_to_fit();
        self.dropped = self.dropped.saturating_add(dropped as u64);
    }

    /// Number of older moments that were dropped.
    pub(super) const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The last delivery and the moments after it, as evidence for a request that is not in the timeline yet.
    pub(super) fn since_last_delivery(&self) -> Vec<Moment> {
        let came = |moment: &Moment| {
            matches!(moment.what, Happened::Delivered { .. } | Happened::InitialEventsEnded { .. } | Happened::ListCame { .. })
        };
        let from = self.moments.iter().rposition(came).unwrap_or(0);
        self.moments.range(from..).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliveries_in_a_row_are_one_moment() {
        let mut timeline = Timeline::default();
        timeline.push_delivery(at(1), 2, 0, Some(5));
        timeline.push_delivery(at(2), 0, 1, Some(9));
        timeline.push_delivery(at(3), 1, 0, None);
        let expected = Happened::Delivered { events: 3, bookmarks: 1, resource_version: Some(9), until: at(3) };
        assert_eq!(timeline.moments(), [Moment { at: at(1), what: expected }]);
    }

    #[test]
    fn only_the_latest_moments_are_kept_and_the_others_counted() {
        let mut timeline = Timeline::default();
        (0..100).for_each(|second| timeline.push(at(second), Happened::WatchOpened));
        assert_eq!((timeline.moments().len(), timeline.dropped()), (MAX_MOMENTS, 100 - MAX_MOMENTS as u64));
        assert_eq!(timeline.moments().last().map(|moment| moment.at), Some(at(99)));
    }

    #[test]
    fn messages_are_cut_between_characters() {
        assert_eq!(cut("short"), "short");
        assert_eq!(cut(&"ä".repeat(200)).len(), MAX_MESSAGE);
        assert_eq!(cut(&format!("x{}", "ä".repeat(200))).len(), MAX_MESSAGE - 1);
    }

    fn at(second: u64) -> Timestamp {
        Timestamp::from_nanos(second * 1_000_000_000)
    }
}
