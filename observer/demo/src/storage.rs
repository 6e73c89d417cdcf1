//! The storage of one resource: its keys in the store, its watch cache, its open watches.

use std::collections::VecDeque;
use std::time::Duration;

use super::api::Resource;
use super::cache::{CacheState, WatchCache};
use super::counters::Counters;
use super::store::{Change, Store};
use super::watchers::Watchers;

/// Maximum number of events that wait while a cache is stalled. If there are more, the cache is refilled.
const MOST_UNHEARD: usize = 10_000;

/// The API server's storage of one resource.
#[derive(Debug)]
pub(super) struct Storage {
    pub(super) resource: &'static Resource,
    /// The prefix of its keys, with a slash at the end.
    pub(super) prefix: String,
    /// `None` for events, which no API server caches.
    pub(super) cache: Option<WatchCache>,
    pub(super) watchers: Watchers,
    /// Events that the cache missed while it is stalled; `None` otherwise.
    unheard: Option<VecDeque<Change>>,
    event_window: Duration,
}

impl Storage {
    /// Storage with an empty cache; [`Storage::refill`] fills it.
    pub(super) fn new(resource: &'static Resource, event_window: Duration) -> Self {
        let prefix = format!("/registry/{}/", folder(resource));
        Self { resource, prefix, cache: None, watchers: Watchers::default(), unheard: None, event_window }
    }

    /// Whether the resource has a watch cache, as in any API server.
    pub(super) fn is_cached(&self) -> bool {
        self.resource.name != "events"
    }

    pub(super) fn cache_state(&self) -> Option<CacheState> {
        self.cache.as_ref().map(WatchCache::state)
    }

    /// Ends all watches, then fills the cache from the store.
    pub(super) fn refill(&mut self, store: &Store, counters: &mut Counters) {
        self.watchers.close_all();
        if let Some(unheard) = &mut self.unheard {
            unheard.clear();
        }
        if !self.is_cached() {
            return;
        }
        counters.cache_filled(self.resource);
        // The current revision can always be read.
        self.cache = store
            .range(&self.prefix, "", store.revision())
            .ok()
            .map(|entries| WatchCache::filled(entries, store.revision(), self.event_window));
    }

    /// Applies a change to the cache, and sends it to the open watches.
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

    /// Applies a progress notification to the cache, unless the cache is stalled.
    pub(super) fn progress(&mut self, revision: u64) {
        if let (Some(cache), None) = (&mut self.cache, &self.unheard) {
            cache.progress(revision);
        }
    }

    /// Begins a fault in which the cache gets no events.
    pub(super) fn stall(&mut self) {
        self.unheard.get_or_insert_default();
    }

    /// Ends the fault: the cache gets the events that it missed.
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

/// The directory of a resource's keys (kubernetes/kubernetes `pkg/kubeapiserver/default_storage_factory_builder.go` v1.34).
fn folder(resource: &Resource) -> String {
    match (resource.group, resource.name) {
        ("", "services") => "services/specs".to_owned(),
        ("", "nodes") => "minions".to_owned(),
        // The API server of custom resources puts the group first.
        (group, name) if resource.is_definition() || resource.is_custom() => {
            format!("{group}/{name}")
        }
        (_, name) => name.to_owned(),
    }
}
