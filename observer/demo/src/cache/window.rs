//! The ring of recent events, which limits how far back a watch can start.
//!
//! kubernetes/apiserver `pkg/storage/cacher/watch_cache.go` v0.34, `updateCache` and `resizeCacheLocked`.

use std::collections::VecDeque;
use std::time::Duration;

use crate::store::Change;

const LEAST_EVENTS: usize = 100;
const MOST_EVENTS: usize = 102_400;

/// The last events of one resource, in order.
#[derive(Debug)]
pub(super) struct Window {
    events: VecDeque<(Duration, Change)>,
    capacity: usize,
    /// The ring grows to keep events younger than this.
    fresh_for: Duration,
    dropped_any: bool,
}

impl Window {
    pub(super) fn new(fresh_for: Duration) -> Self {
        Self { events: VecDeque::new(), capacity: LEAST_EVENTS, fresh_for, dropped_any: false }
    }

    /// Adds an event that occurred at `now`, on the demo's clock.
    pub(super) fn push(&mut self, change: Change, now: Duration) {
        self.resize(now);
        if self.is_full() {
            self.events.pop_front();
            self.dropped_any = true;
        }
        self.events.push_back((now, change));
    }

    /// Whether the next event replaces another one, unless the ring grows.
    pub(super) fn is_full(&self) -> bool {
        self.events.len() >= self.capacity
    }

    /// Whether an event was dropped since the cache was filled.
    pub(super) fn dropped_any(&self) -> bool {
        self.dropped_any
    }

    /// The number of events that it can hold now.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// The revision of the oldest event.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.events.front().map(|(_, change)| change.revision)
    }

    /// The events after `revision`.
    pub(super) fn since(&self, revision: u64) -> impl Iterator<Item = &Change> {
        let first = self.events.partition_point(|(_, change)| change.revision <= revision);
        self.events.range(first..).map(|(_, change)| change)
    }

    fn resize(&mut self, now: Duration) {
        if !self.is_full() {
            return;
        }
        let age = |index: usize| self.events.get(index).map_or(Duration::ZERO, |(time, _)| now.saturating_sub(*time));
        if age(0) < self.fresh_for {
            self.capacity = (self.capacity * 2).min(MOST_EVENTS);
        } else if age(self.events.len() - self.capacity / 4) > self.fresh_for {
            self.capacity = (self.capacity / 2).max(LEAST_EVENTS);
            let surplus = self.events.len().saturating_sub(self.capacity);
            self.dropped_any |= surplus > 0;
            self.events.drain(..surplus);
        }
    }
}
