//! Counters of a reflector over the run. They result from its state changes, and no state change depends on them.

use std::collections::{BTreeMap, VecDeque};

use super::cause::RelistCause;
use super::listing::Listing;
use super::versions::{Before, RepeatCounter, Repeats};
use crate::quantity::Amount;
use crate::thresholds::{LOOP_RELISTS, LOOP_WITHIN, SHORT_WATCHES};
use crate::time::Timestamp;

/// Counters of a reflector.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    sums: Sums,
    /// Whether its requests come from a log, so that numbers of objects and bytes are unknown.
    is_logged: bool,
    /// Start times of the last relists, at most [`LOOP_RELISTS`].
    last_relists: VecDeque<Timestamp>,
    /// Current number of consecutive watches that ended within a second, before any event.
    short_watches: u64,
    causes: BTreeMap<RelistCause, u64>,
    repeats: RepeatCounter,
    /// Whether some of the traffic was not observed, so that `repeats` is a lower bound.
    repeats_at_least: bool,
}

/// Plain sums.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub list_requests: u64,
    pub watch_requests: u64,
    /// Relists of a client that still had its state. Relists of a client that had lost it count as `beginnings`.
    pub relists: u64,
    pub beginnings: u64,
    pub resumes: u64,
    pub events: u64,
    pub bookmarks: u64,
    pub items: u64,
    /// The items among them that arrived as events of a watch.
    pub streamed_items: u64,
    pub bytes: u64,
    /// Bytes of the last complete list, and its objects.
    pub last_list_bytes: u64,
    pub last_list_items: u64,
    /// Objects of the first complete list that had any.
    pub first_list_items: u64,
    /// Lists with a lower revision than the reflector already had, without lists with `resourceVersion=0`.
    pub went_back: u64,
    /// Highest number of consecutive watches that ended within a second, before any event.
    pub most_short_watches: u64,
    /// Refused streaming lists that a plain list replaced.
    pub fallbacks: u64,
    /// Watches that the server ended early during or shortly after a stall.
    pub ended_stalled: u64,
    /// Watches that the server closed by force.
    pub closed_by_force: u64,
}

/// Adds to a sum, which stops at its maximum value instead of overflowing.
const fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

impl Counts {
    pub(super) fn of(is_logged: bool) -> Self {
        Self { is_logged, ..Self::default() }
    }

    /// A number of objects, events or bytes.
    pub(super) const fn amount(&self, number: u64) -> Amount {
        if self.is_logged { Amount::UNKNOWN } else { Amount::of(number) }
    }

    pub(super) const fn sums(&self) -> &Sums {
        &self.sums
    }

    /// Number of relists, by cause.
    pub(super) fn causes(&self) -> impl Iterator<Item = (RelistCause, u64)> {
        self.causes.iter().map(|(cause, number)| (*cause, *number))
    }

    /// Number of delivered objects, and of those among them that the client already had.
    pub(super) fn repeats(&self) -> Repeats {
        if self.is_logged { Repeats::UNKNOWN } else { self.repeats.repeats(self.repeats_at_least) }
    }

    /// The time of the oldest of the last five relists, if these were within ten minutes; otherwise `None`.
    pub(super) fn loop_since(&self) -> Option<Timestamp> {
        let (first, last) = self.last_relists.front().zip(self.last_relists.back())?;
        (self.last_relists.len() >= LOOP_RELISTS && last.since(*first) <= LOOP_WITHIN).then_some(*first)
    }

    /// The time of the last relist, if it was so long before `now` that its loop, if any, is over.
    pub(super) fn loop_over(&self, now: Timestamp) -> Option<Timestamp> {
        self.last_relists.back().copied().filter(|last| now.since(*last) > LOOP_WITHIN)
    }

    pub(super) const fn note_list_request(&mut self) {
        add(&mut self.sums.list_requests, 1);
    }

    pub(super) const fn note_watch_request(&mut self) {
        add(&mut self.sums.watch_requests, 1);
    }

    pub(super) const fn note_resume(&mut self) {
        add(&mut self.sums.resumes, 1);
    }

    pub(super) const fn note_bytes(&mut self, bytes: u64) {
        add(&mut self.sums.bytes, bytes);
    }

    pub(super) const fn note_delivery(&mut self, events: u64, bookmarks: u64) {
        add(&mut self.sums.events, events);
        add(&mut self.sums.bookmarks, bookmarks);
    }

    /// Counts the object of an event as one that the client did not have.
    pub(super) fn note_news(&mut self) {
        self.repeats.note(Before::Other, 1);
    }

    /// Marks the number of repeated objects as a lower bound, if `is_lossy`.
    pub(super) const fn note_loss(&mut self, is_lossy: bool) {
        self.repeats_at_least |= is_lossy;
    }

    /// Counts a complete list. `at_least` is true if traffic of this list, or traffic before it, was not observed.
    pub(super) fn note_list(&mut self, listing: &Listing, at_least: bool) {
        add(&mut self.sums.items, listing.items);
        add(&mut self.sums.streamed_items, if listing.options.watch { listing.items } else { 0 });
        self.sums.last_list_bytes = listing.bytes;
        self.sums.last_list_items = listing.items;
        if self.sums.first_list_items == 0 {
            self.sums.first_list_items = listing.items;
        }
        self.repeats.add(&listing.repeats);
        self.note_loss(at_least);
    }

    pub(super) const fn note_fallback(&mut self) {
        add(&mut self.sums.fallbacks, 1);
    }

    pub(super) const fn note_went_back(&mut self) {
        add(&mut self.sums.went_back, 1);
    }

    pub(super) const fn note_ended_stalled(&mut self) {
        add(&mut self.sums.ended_stalled, 1);
    }

    pub(super) const fn note_closed_by_force(&mut self) {
        add(&mut self.sums.closed_by_force, 1);
    }

    /// Counts a watch that ended within a second. Returns whether several did so in a row.
    pub(super) fn note_short_watch(&mut self) -> bool {
        add(&mut self.short_watches, 1);
        self.sums.most_short_watches = self.sums.most_short_watches.max(self.short_watches);
        self.short_watches >= SHORT_WATCHES
    }

    /// Notes a watch that is not very short.
    pub(super) const fn note_long_watch(&mut self) {
        self.short_watches = 0;
    }

    pub(super) fn note_relist(&mut self, at: Timestamp, cause: RelistCause) {
        // There are two causes for each status code. Causes beyond the bound are not counted by cause.
        if self.causes.len() < RelistCause::MOST_COUNTED || self.causes.contains_key(&cause) {
            add(self.causes.entry(cause).or_default(), 1);
        }
        if cause.begins_from_nothing() {
            return add(&mut self.sums.beginnings, 1);
        }
        add(&mut self.sums.relists, 1);
        if self.last_relists.len() >= LOOP_RELISTS {
            self.last_relists.pop_front();
        }
        self.last_relists.push_back(at);
    }
}
