//! Consecutive watches from one revision that deliver nothing, with no list between them.

use serde::Serialize;

use super::events::ReflectorEvent;
use super::failure::FailureKind;
use super::spells::Trouble;
use super::state::Reflector;
use super::watch_end::WatchEnd;
use super::watching::PastWatch;
use crate::exchange::Exchange;
use crate::observation::ConnectionId;
use crate::routing::Verdict;
use crate::thresholds::{COMPACTED_EVERY, FUTILE_WATCHES};
use crate::time::Timestamp;

/// Consecutive watches that asked for one revision and delivered nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FutileWatches {
    /// The revision that they asked for.
    pub resource_version: u64,
    /// Their number.
    pub times: u64,
    /// When the first one was requested.
    pub since: Timestamp,
    /// How each of them ended.
    pub end: FutileEnd,
    /// When the last one ended.
    pub last: Timestamp,
}

/// How a futile watch ended: without an event, because the server no longer has the revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FutileEnd {
    /// With 410: the server no longer has the revision.
    Expired,
    /// With a complete response without events, within a second. Some front ends of API servers do this if etcd has compacted the
    /// revision and the resource has no watch cache (§2.4 of docs/semantics.md).
    Empty,
}

impl FutileEnd {
    const fn trouble(self) -> Trouble {
        match self {
            Self::Expired => Trouble::ExpiredLoop,
            Self::Empty => Trouble::SilentExpired,
        }
    }
}

/// The present series of futile watches, and for each kind of end the last series that was reported.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Futile {
    present: Option<(FutileWatches, ConnectionId)>,
    expired: Option<FutileWatches>,
    empty: Option<FutileWatches>,
}

impl Futile {
    /// The last reported series whose watches ended with `end`.
    pub(super) const fn reported(&self, end: FutileEnd) -> Option<FutileWatches> {
        match end {
            FutileEnd::Expired => self.expired,
            FutileEnd::Empty => self.empty,
        }
    }
}

impl Reflector {
    /// Notes the end of a watch. The watch continues the series, starts another series, or ends the series.
    pub(super) fn note_futile(&mut self, exchange: &Exchange, past: &PastWatch, emit: &mut dyn FnMut(ReflectorEvent)) {
        let revision = exchange.request.options.resource_version.revision();
        let Some((resource_version, end)) = revision.zip(futile_end(exchange, past, self.revision_chosen)) else {
            return self.end_futile(past.ended, emit);
        };
        let connection = exchange.id.connection;
        let same = |(before, on): &(FutileWatches, ConnectionId)| {
            let is_one_client = self.pid.is_some() || *on == connection;
            is_one_client && before.resource_version == resource_version && before.end == end
        };
        if self.futile.present.is_some_and(|before| !same(&before)) {
            self.end_futile(past.ended, emit);
        }
        let first = FutileWatches { resource_version, times: 0, since: past.asked, end, last: past.ended };
        let (watches, on) = self.futile.present.get_or_insert((first, connection));
        watches.times = watches.times.saturating_add(1);
        (watches.last, *on) = (past.ended, connection);
        let watches = *watches;
        if watches.times >= FUTILE_WATCHES {
            match end {
                FutileEnd::Expired => self.futile.expired = Some(watches),
                FutileEnd::Empty => self.futile.empty = Some(watches),
            }
            self.begin_trouble(end.trouble(), watches.since, past.ended, emit);
        }
    }

    /// Takes over the series of `before`, if this watch asks for the revision of that series. `before` made the same requests in an
    /// earlier process of the program, which has exited. Some programs start a new process after each 410.
    pub(super) fn inherit_futile(&mut self, before: &mut Self, exchange: &Exchange) {
        let revision = exchange.request.options.resource_version.revision();
        let Some((watches, _)) = before.futile.present.filter(|(watches, _)| Some(watches.resource_version) == revision) else {
            return;
        };
        self.futile.present = before.futile.present.take();
        match watches.end {
            FutileEnd::Expired => self.futile.expired = before.futile.expired.take(),
            FutileEnd::Empty => self.futile.empty = before.futile.empty.take(),
        }
        self.spells.inherit(watches.end.trouble(), &mut before.spells);
    }

    /// Ends the series: the client lists, or a watch delivers something.
    pub(super) fn end_futile(&mut self, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        if let Some((watches, _)) = self.futile.present.take() {
            self.end_trouble(watches.end.trouble(), at, emit);
        }
    }
}

/// How the watch was futile; `None` if it was not. `chosen` is the earliest time at which the server can have chosen the
/// requested revision; without it, the revision counts as old.
fn futile_end(exchange: &Exchange, past: &PastWatch, chosen: Option<Timestamp>) -> Option<FutileEnd> {
    if past.failure == Some(FailureKind::Expired) {
        return Some(FutileEnd::Expired);
    }
    let is_uncached = exchange.verdict.as_ref().is_some_and(Verdict::is_of_uncached_resource);
    // etcd keeps a revision at least until the next compaction.
    let is_old = chosen.is_none_or(|chosen| past.ended.since(chosen) >= COMPACTED_EVERY);
    (past.end == WatchEnd::VeryShort && is_uncached && is_old).then_some(FutileEnd::Empty)
}
