//! The watch cache of one resource: its current state, snapshots of earlier states, and the ring of events.
//!
//! kubernetes/apiserver `pkg/storage/cacher/watch_cache.go` v0.34.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::layer::CacheState;
use super::window::Window;
use crate::store::{Change, Entry, Object, Versions};

/// Number of dropped snapshots after which their objects are dropped as well. This happens rarely, because it visits all keys.
const FORGET_EVERY: usize = 64;

/// The API server's cache of one resource.
#[derive(Debug)]
pub(crate) struct WatchCache {
    /// The revision of the last event or progress notification.
    revision: u64,
    /// The revision of the list that filled the cache.
    listed_at: u64,
    states: Versions,
    /// Revisions with a snapshot, oldest first; at most one more than the ring holds.
    snapshots: VecDeque<u64>,
    forgettable: usize,
    window: Window,
    ready: bool,
}

/// The error for a watch at a revision whose events are no longer in the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooOld {
    /// The oldest revision that a watch can start at.
    pub(crate) oldest: u64,
}

impl WatchCache {
    /// Makes a cache from the entries of its initial list.
    pub(crate) fn filled(entries: impl Iterator<Item = Entry>, revision: u64, fresh_for: Duration) -> Self {
        let mut states = Versions::default();
        for entry in entries {
            let at = entry.object.revision();
            states.record(entry.key, at, Some(entry.object));
        }
        Self {
            revision,
            listed_at: revision,
            states,
            snapshots: VecDeque::from([revision]),
            forgettable: 0,
            window: Window::new(fresh_for),
            ready: true,
        }
    }

    /// The state that decides which layer answers.
    pub(crate) fn state(&self) -> CacheState {
        CacheState { ready: self.ready, revision: self.revision, oldest_snapshot: self.snapshots.front().copied() }
    }

    /// The number of events that the ring can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.window.capacity()
    }

    /// Sets whether the cache counts as filled; `false` is a fault.
    pub(crate) fn set_ready(&mut self, ready: bool) {
        self.ready = ready;
    }

    /// Applies the next event of this resource, at `now` of the demo's clock.
    pub(crate) fn apply(&mut self, change: Change, now: Duration) {
        self.revision = change.revision;
        let state = (!change.deleted).then(|| Arc::clone(&change.object));
        self.states.record(Arc::clone(&change.key), change.revision, state);
        let revision = change.revision;
        self.window.push(change, now);
        if self.window.is_full() {
            self.drop_snapshots_below(self.window.oldest().unwrap_or(0));
        }
        self.snapshots.push_back(revision);
    }

    /// Applies a progress notification: the cache has all events of this resource up to `revision`.
    pub(crate) fn progress(&mut self, revision: u64) {
        self.revision = self.revision.max(revision);
    }

    /// Drops snapshots below the store's compacted revision.
    pub(crate) fn compact(&mut self, revision: u64) {
        self.drop_snapshots_below(revision);
    }

    /// The current state of the keys below `prefix`, starting at `from`.
    pub(crate) fn latest<'a>(&'a self, prefix: &'a str, from: &str) -> impl Iterator<Item = Entry> + 'a {
        self.states.below(prefix, from, u64::MAX)
    }

    /// The current state of one key.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<Object>> {
        self.states.latest(key)
    }

    /// The state of the newest snapshot that is not above `revision`; `None` if there is none.
    pub(crate) fn snapshot<'a>(&'a self, prefix: &'a str, from: &str, revision: u64) -> Option<impl Iterator<Item = Entry> + 'a> {
        let oldest = self.snapshots.front()?;
        (*oldest <= revision).then(|| self.states.below(prefix, from, revision))
    }

    /// The events after `revision`.
    pub(crate) fn events_since(&self, revision: u64) -> Result<impl Iterator<Item = &Change>, TooOld> {
        let oldest = match self.window.oldest() {
            Some(first) if self.window.dropped_any() => first - 1,
            Some(_) | None => self.listed_at,
        };
        if revision < oldest { Err(TooOld { oldest }) } else { Ok(self.window.since(revision)) }
    }

    fn drop_snapshots_below(&mut self, revision: u64) {
        let gone = self.snapshots.partition_point(|snapshot| *snapshot < revision);
        self.snapshots.drain(..gone);
        self.forgettable += gone;
        if self.forgettable >= FORGET_EVERY {
            self.forgettable = 0;
            self.states.forget_below(self.snapshots.front().copied().unwrap_or(self.revision));
        }
    }
}
