//! All state of the demo behind one lock: the store, the storage of each resource, counters and faults.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use rustls::crypto::aws_lc_rs;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::api::{self, Resource};
use super::clock::Clock;
use super::config::DemoConfig;
use super::counters::{Counters, labels};
use super::custom;
use super::faults::Faults;
use super::select::Selection;
use super::storage::Storage;
use super::store::{Bounds, Change, Store, WriteError};

/// Limits of the store. A client that reaches them gets the answers of a full etcd.
const BOUNDS: Bounds = Bounds { objects: 100_000, bytes: 256 << 20, changes: 100_000 };

/// The time limit of a read that waits for a revision (kubernetes/apiserver `pkg/storage/cacher/watch_cache.go` v0.34,
/// `blockTimeout`).
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// The feature gates that are on and decide which layer answers, with their stage in 1.34
/// (kubernetes/apiserver `pkg/features/kube_features.go` v0.34).
const FEATURE_GATES: [&str; 4] = [
    "name=\"ConsistentListFromCache\",stage=\"\"",
    "name=\"ListFromCacheSnapshot\",stage=\"BETA\"",
    "name=\"ResilientWatchCacheInitialization\",stage=\"\"",
    "name=\"WatchList\",stage=\"BETA\"",
];

/// The demo's state, shared by all connections.
#[derive(Debug)]
pub(super) struct Cluster {
    pub(super) config: DemoConfig,
    pub(super) clock: Clock,
    state: Mutex<State>,
    /// Notified whenever a revision changes.
    moved: Notify,
}

/// The data that the lock of [`Cluster`] protects.
#[derive(Debug)]
pub(super) struct State {
    pub(super) store: Store,
    storages: BTreeMap<(&'static str, &'static str), Storage>,
    /// The served resources: those of one group and version are adjacent, and versions come in the order of preference.
    resources: Vec<&'static Resource>,
    event_window: Duration,
    pub(super) counters: Counters,
    pub(super) faults: Faults,
    /// The last backup of the store, if there is one.
    backup: Option<Store>,
    clock: Clock,
    /// The last start of the API server, in seconds since 1970. Together with the version, it identifies the process.
    started: u64,
    version: String,
}

/// The error if the cache did not reach a revision in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotReached {
    /// The revision that the cache had reached.
    pub(super) current: u64,
}

impl Cluster {
    /// An empty cluster with filled caches.
    pub(super) fn new(config: DemoConfig) -> Self {
        let clock = Clock::start(config.speed);
        let version = config.version.clone();
        let mut state = State {
            started: 0,
            version,
            store: Store::new(BOUNDS),
            storages: BTreeMap::new(),
            resources: Vec::new(),
            event_window: config.event_window,
            counters: Counters::default(),
            faults: Faults::default(),
            backup: None,
            clock,
        };
        state.start();
        Self { config, clock, state: Mutex::new(state), moved: Notify::new() }
    }

    /// Locks the state. A poisoned lock is usable, because a thread that panics leaves only complete writes.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs an action that may change a revision.
    pub(super) fn change<T>(&self, action: impl FnOnce(&mut State) -> T) -> T {
        let outcome = action(&mut self.lock());
        self.moved.notify_waiters();
        outcome
    }

    /// Waits until a resource's cache has reached a revision.
    pub(super) async fn reached(&self, resource: &Resource, revision: u64) -> Result<(), NotReached> {
        let deadline = Instant::now() + self.clock.lasts(LONGEST_WAIT);
        loop {
            let moved = self.moved.notified();
            let current = self.lock().reached(resource, revision);
            if current >= revision {
                return Ok(());
            }
            if timeout_at(deadline, moved).await.is_err() {
                return Err(NotReached { current });
            }
        }
    }
}

impl State {
    /// The served resources, as discovery orders them.
    pub(super) fn resources(&self) -> &[&'static Resource] {
        &self.resources
    }

    /// The served resource of a request path.
    pub(super) fn find(&self, group: &str, version: &str, name: &str) -> Option<&'static Resource> {
        let mut all = self.resources.iter();
        all.find(|resource| resource.group == group && resource.version == version && resource.name == name).copied()
    }

    /// The storage of a resource; all versions of the resource share it.
    pub(super) fn storage(&mut self, resource: &Resource) -> Option<&mut Storage> {
        self.storages.get_mut(&(resource.group, resource.name))
    }

    /// The storage to read, with the store and the counters.
    pub(super) fn parts(&mut self, resource: &Resource) -> Option<(&mut Storage, &Store, &mut Counters)> {
        let storage = self.storages.get_mut(&(resource.group, resource.name))?;
        Some((storage, &self.store, &mut self.counters))
    }

    /// The key of an object in the store.
    pub(super) fn key(&self, resource: &Resource, namespace: &str, name: &str) -> String {
        let prefix = self.storages.get(&(resource.group, resource.name)).map_or("", |storage| storage.prefix.as_str());
        if resource.namespaced { format!("{prefix}{namespace}/{name}") } else { format!("{prefix}{name}") }
    }

    /// The common prefix of a selection's keys, or the key of a single object.
    pub(super) fn prefix(&self, selection: &Selection, single: Option<&str>) -> String {
        match single {
            Some(name) => self.key(selection.resource, selection.effective_namespace(), name),
            None if selection.namespace.is_empty() || !selection.resource.namespaced => self
                .storages
                .get(&(selection.resource.group, selection.resource.name))
                .map_or_else(String::new, |storage| storage.prefix.clone()),
            None => self.key(selection.resource, &selection.namespace, ""),
        }
    }

    /// Writes an object; see [`Store::put`].
    pub(super) fn put(
        &mut self,
        resource: &Resource,
        key: &str,
        expected: u64,
        value: serde_json::Value,
    ) -> Result<Change, WriteError> {
        let change = self.store.put(key, expected, value);
        self.counters.etcd(resource, if expected == 0 { "create" } else { "update" }, 1);
        self.committed(resource, change)
    }

    /// Deletes an object; see [`Store::delete`].
    pub(super) fn delete(&mut self, resource: &Resource, key: &str, expected: u64) -> Result<Change, WriteError> {
        let change = self.store.delete(key, expected);
        self.counters.etcd(resource, "delete", 1);
        self.committed(resource, change)
    }

    /// Starts the API server: it serves the resources that the store defines, and fills all caches from scratch.
    pub(super) fn start(&mut self) {
        let began = self.clock.wall().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        // A restart within the same second also counts as another process.
        self.started = began.max(self.started + 1);
        self.define_resources();
        self.refill_caches();
    }

    /// Fills all caches from scratch, as a starting server does: their event rings are empty, and all watches end.
    pub(super) fn refill_caches(&mut self) {
        for storage in self.storages.values_mut() {
            storage.refill(&self.store, &mut self.counters);
        }
    }

    /// Fills the cache of one resource from scratch, and ends its watches.
    pub(super) fn refill_cache(&mut self, resource: &Resource) {
        if let Some(storage) = self.storages.get_mut(&(resource.group, resource.name)) {
            storage.refill(&self.store, &mut self.counters);
        }
    }

    /// Saves the current store.
    pub(super) fn back_up(&mut self) {
        self.backup = Some(self.store.clone());
    }

    /// Restores the saved store, if there is one. Caches must be refilled after that.
    pub(super) fn restore(&mut self) {
        if let Some(backup) = &self.backup {
            self.store = backup.clone();
        }
    }

    /// Ends all watches, without an error.
    pub(super) fn end_watches(&mut self) {
        self.storages.values_mut().for_each(|storage| storage.watchers.close_all());
    }

    /// Makes the open watches of a resource, or of all, deaf.
    pub(super) fn deafen(&mut self, resource: Option<&Resource>) {
        self.storages_of(resource).for_each(|storage| storage.watchers.deafen());
    }

    /// Ends the deaf watches of a resource, or of all, without an error.
    pub(super) fn end_deaf_watches(&mut self, resource: Option<&Resource>) {
        self.storages_of(resource).for_each(|storage| storage.watchers.close_deaf());
    }

    fn storages_of(&mut self, resource: Option<&Resource>) -> impl Iterator<Item = &mut Storage> {
        let key = resource.map(|resource| (resource.group, resource.name));
        self.storages.iter_mut().filter(move |(other, _)| key.is_none_or(|key| key == **other)).map(|(_, storage)| storage)
    }

    /// The number of open watches of all resources.
    pub(super) fn open_watches(&self) -> usize {
        self.storages.values().map(|storage| storage.watchers.len()).sum()
    }

    /// Begins a fault in which caches get no events until [`State::resume_caches`].
    pub(super) fn stall_caches(&mut self) {
        self.storages.values_mut().for_each(Storage::stall);
    }

    /// Ends this fault: caches get events again, beginning with those that they missed.
    pub(super) fn resume_caches(&mut self) {
        let now = self.clock.now();
        for storage in self.storages.values_mut() {
            storage.resume(now, &mut self.counters);
        }
    }

    /// Sets whether caches count as filled; `false` is a fault.
    pub(super) fn set_caches_ready(&mut self, ready: bool) {
        for cache in self.storages.values_mut().filter_map(|storage| storage.cache.as_mut()) {
            cache.set_ready(ready);
        }
    }

    /// Drops the history below a revision, in the store and in the snapshots of all caches.
    pub(super) fn compact(&mut self, revision: u64) {
        self.store.compact(revision);
        let compacted = self.store.compacted();
        for cache in self.storages.values_mut().filter_map(|storage| storage.cache.as_mut()) {
            cache.compact(compacted);
        }
    }

    /// Writes an object that no client can watch, as a real server writes its lease. The write raises the revision.
    pub(super) fn write_own(&mut self) {
        const KEY: &str = "/registry/masterleases/127.0.0.1";
        let present = self.store.get(KEY).map_or(0, |object| object.revision());
        // If the store is full, the revision stays the same, and the next write of a client gets the error.
        let _outcome = self.store.put(KEY, present, serde_json::json!({"metadata": {"name": "127.0.0.1"}}));
    }

    /// Sends a progress notification of the store to all caches.
    pub(super) fn notify_progress(&mut self) {
        let revision = self.store.revision();
        self.storages.values_mut().for_each(|storage| storage.progress(revision));
    }

    /// The page of `/metrics`.
    pub(super) fn metrics(&self) -> String {
        let mut gauges = Vec::new();
        for storage in self.storages.values() {
            if let (Some(state), Some(cache)) = (storage.cache_state(), &storage.cache) {
                gauges.push(("apiserver_watch_cache_resource_version", labels(storage.resource), state.revision));
                gauges.push(("watch_cache_capacity", labels(storage.resource), cache.capacity() as u64));
            }
        }
        gauges.extend(FEATURE_GATES.map(|labels| ("kubernetes_feature_enabled", labels.to_owned(), 1)));
        gauges.push(("process_start_time_seconds", String::new(), self.started));
        gauges.push(("kubernetes_build_info", format!("git_version=\"{}\"", self.version), 1));
        gauges.push(("watchtap_demo_early_compactions_total", String::new(), self.store.early_compactions()));
        self.counters.text(&gauges)
    }

    fn committed(&mut self, resource: &Resource, change: Result<Change, WriteError>) -> Result<Change, WriteError> {
        let change = change?;
        let now = self.clock.now();
        if let Some(storage) = self.storages.get_mut(&(resource.group, resource.name)) {
            storage.feed(change.clone(), now, &self.store, &mut self.counters);
        }
        if resource.is_definition() {
            self.define_resources();
        }
        Ok(change)
    }

    /// Sets the served resources: the built-in ones, and those of the definitions in the store. Watches of other resources end.
    fn define_resources(&mut self) {
        let definitions = api::resources().iter().find(|resource| resource.is_definition());
        let prefix = definitions.map(|resource| Storage::new(resource, self.event_window).prefix).unwrap_or_default();
        // The current revision can always be read.
        let defined = self.store.range(&prefix, "", self.store.revision()).into_iter().flatten();
        let mut custom: Vec<&'static Resource> = defined.flat_map(|entry| custom::resources(entry.object.value())).collect();
        // Keeps the order of preference.
        custom.sort_by_key(|resource| resource.group);
        self.resources = api::resources().iter().chain(custom).collect();
        let served = |key: &(&str, &str)| self.resources.iter().any(|resource| (resource.group, resource.name) == *key);
        self.storages.retain(|key, _| served(key));
        for resource in &self.resources {
            self.storages.entry((resource.group, resource.name)).or_insert_with(|| {
                let mut storage = Storage::new(resource, self.event_window);
                storage.refill(&self.store, &mut self.counters);
                storage
            });
        }
    }

    fn reached(&mut self, resource: &Resource, wanted: u64) -> u64 {
        let revision = self.store.revision();
        let Some(storage) = self.storage(resource) else { return u64::MAX };
        let current = storage.cache_state().map_or(u64::MAX, |state| state.revision);
        if current < wanted {
            storage.progress(revision);
        }
        storage.cache_state().map_or(u64::MAX, |state| state.revision)
    }
}

/// A random token or identifier: hexadecimal digits, two per byte.
pub(super) fn random_hex(bytes: usize) -> String {
    let mut random = vec![0; bytes];
    // This fails only on a system without a random number generator, where TLS would have failed before.
    let _outcome = aws_lc_rs::default_provider().secure_random.fill(&mut random);
    random.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}
