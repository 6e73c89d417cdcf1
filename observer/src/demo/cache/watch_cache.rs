//! The watch cache of one resource: its present state, snapshots of earlier ones, and the ring of events.
//!
//! kubernetes/apiserver `pkg/storage/cacher/watch_cache.go` v0.34.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::layer::CacheState;
use super::window::Window;
use crate::demo::store::{Change, Entry, Object, Versions};

/// Snapshots that may fall out before their objects are dropped: dropping walks over all keys.
const FORGET_EVERY: usize = 64;

/// What the API server keeps of one resource.
#[derive(Debug)]
pub(crate) struct WatchCache {
    /// Of the last event or progress notification.
    revision: u64,
    /// Of the list that filled the cache.
    listed_at: u64,
    states: Versions,
    /// Revisions at which a snapshot was taken, oldest first; never more than the ring holds, and one.
    snapshots: VecDeque<u64>,
    forgettable: usize,
    window: Window,
    ready: bool,
}

/// A watch cannot start at a revision: the ring does not reach so far back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooOld {
    /// The oldest revision that a watch can start at.
    pub(crate) oldest: u64,
}

impl WatchCache {
    /// A cache as its initial list leaves it.
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

    /// What decides which layer answers.
    pub(crate) fn state(&self) -> CacheState {
        CacheState { ready: self.ready, revision: self.revision, oldest_snapshot: self.snapshots.front().copied() }
    }

    /// How many events the ring can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.window.capacity()
    }

    /// A fault: the cache is to be filled anew, and says so until it is.
    pub(crate) fn set_ready(&mut self, ready: bool) {
        self.ready = ready;
    }

    /// Takes in the next event of this resource, at a time of the demo's clock.
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

    /// A progress notification: nothing of this resource happened up to `revision`.
    pub(crate) fn progress(&mut self, revision: u64) {
        self.revision = self.revision.max(revision);
    }

    /// The store was compacted.
    pub(crate) fn compact(&mut self, revision: u64) {
        self.drop_snapshots_below(revision);
    }

    /// The present state of the keys below `prefix`, from `from` on.
    pub(crate) fn latest<'a>(&'a self, prefix: &'a str, from: &str) -> impl Iterator<Item = Entry> + 'a {
        self.states.below(prefix, from, u64::MAX)
    }

    /// The present state of one key.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<Object>> {
        self.states.latest(key)
    }

    /// The state of the newest snapshot that is not behind `revision`; nothing when there is none.
    pub(crate) fn snapshot<'a>(&'a self, prefix: &'a str, from: &str, revision: u64) -> Option<impl Iterator<Item = Entry> + 'a> {
        let oldest = self.snapshots.front()?;
        (*oldest <= revision).then(|| self.states.below(prefix, from, revision))
    }

    /// The events behind `revision`.
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
