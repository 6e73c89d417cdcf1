//! The storage of one resource: its keys in the store, its watch cache, its open watches.

use std::collections::VecDeque;
use std::time::Duration;

use super::api::Resource;
use super::cache::{CacheState, WatchCache};
use super::counters::Counters;
use super::store::{Change, Store};
use super::watchers::Watchers;

/// Events that may wait while a cache hears nothing; when more come, it is filled anew.
const MOST_UNHEARD: usize = 10_000;

/// What the API server has of one resource.
#[derive(Debug)]
pub(super) struct Storage {
    pub(super) resource: &'static Resource,
    /// Where its keys lie, with a slash at the end.
    pub(super) prefix: String,
    /// Nothing for events, which no API server caches.
    pub(super) cache: Option<WatchCache>,
    pub(super) watchers: Watchers,
    /// Events that the cache has not heard of, while its feed is stalled.
    unheard: Option<VecDeque<Change>>,
    event_window: Duration,
}

impl Storage {
    /// An empty one; its cache is filled by [`Storage::refill`].
    pub(super) fn new(resource: &'static Resource, event_window: Duration) -> Self {
        let prefix = format!("/registry/{}/", folder(resource));
        Self { resource, prefix, cache: None, watchers: Watchers::default(), unheard: None, event_window }
    }

    /// Whether resources of any API server have a watch cache.
    pub(super) fn is_cached(&self) -> bool {
        self.resource.name != "events"
    }

    pub(super) fn cache_state(&self) -> Option<CacheState> {
        self.cache.as_ref().map(WatchCache::state)
    }

    /// Fills the cache from the store; all watches end first.
    pub(super) fn refill(&mut self, store: &Store, counters: &mut Counters) {
        self.watchers.close_all();
        if let Some(unheard) = &mut self.unheard {
            unheard.clear();
        }
        if !self.is_cached() {
            return;
        }
        counters.cache_filled(self.resource);
        // The present revision can always be read.
        self.cache = store
            .range(&self.prefix, "", store.revision())
            .ok()
            .map(|entries| WatchCache::filled(entries, store.revision(), self.event_window));
    }

    /// Takes in a change of its keys.
    pub(super) fn feed(&mut self, change: Change, now: Duration, store: &Store, counters: &mut Counters) {
        match &mut self.unheard {
            Some(unheard) if self.cache.is_some() => {
                unheard.push_back(change);
                if unheard.len() > MOST_UNHEARD {
                    self.refill(store, counters);
                }
            }
            Some(_) | None => self.hear(change, now, counters),
        }
    }

    /// A progress notification, which the cache asks for while a read waits; a stalled feed brings none.
    pub(super) fn progress(&mut self, revision: u64) {
        if let (Some(cache), None) = (&mut self.cache, &self.unheard) {
            cache.progress(revision);
        }
    }

    /// A fault: the cache hears nothing more.
    pub(super) fn stall(&mut self) {
        self.unheard.get_or_insert_default();
    }

    /// Ends the fault: the cache hears what it missed.
    pub(super) fn resume(&mut self, now: Duration, counters: &mut Counters) {
        for change in self.unheard.take().unwrap_or_default() {
            self.hear(change, now, counters);
        }
    }

    fn hear(&mut self, change: Change, now: Duration, counters: &mut Counters) {
        let dispatched = self.watchers.dispatch(&change);
        counters.dispatched(self.resource, dispatched.sent);
        counters.terminated_watches(self.resource, dispatched.terminated);
        if let Some(cache) = &mut self.cache {
            cache.apply(change, now);
        }
    }
}

/// The folder of a resource's keys (kubernetes/kubernetes `pkg/kubeapiserver/default_storage_factory_builder.go` v1.34).
fn folder(resource: &Resource) -> &'static str {
    match (resource.group, resource.name) {
        ("", "services") => "services/specs",
        ("", "nodes") => "minions",
        (_, name) => name,
    }
}
