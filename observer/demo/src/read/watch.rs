//! Watches: their start revision, their initial events, and the stream of later events.
//!
//! kubernetes/apiserver pkg/storage/cacher/cacher.go v0.34, `Watch`, and for resources without a cache
//! pkg/storage/etcd3/watcher.go.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::list::not_ready;
use crate::cluster::{Cluster, State};
use crate::options::{Parameters, Revision};
use crate::refusal::Refusal;
use crate::select::Selection;
use crate::watchers::{WatchEvent, event_for};

/// Maximum number of watches open at once.
const MOST_WATCHES: usize = 20_000;

/// An open watch; it is closed when this is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    cluster: Arc<Cluster>,
    selection: Selection,
    id: u64,
    /// The initial events, which are sent first.
    pub(crate) initial: VecDeque<WatchEvent>,
    /// The events after the initial ones. The channel is closed when the server ends the watch.
    pub(crate) events: Option<mpsc::Receiver<WatchEvent>>,
}

/// Opens a watch. If the options are valid, a later failure is an `ERROR` event, not an error of this function.
pub(crate) async fn watch(
    cluster: &Arc<Cluster>,
    selection: Selection,
    parameters: &Parameters,
    revision: Revision,
) -> Result<Watch, Refusal> {
    let start = {
        let mut state = cluster.lock();
        if state.open_watches() >= MOST_WATCHES {
            return Err(Refusal::too_many_requests("the demo serves no more watches", 1));
        }
        state.watch_start(&selection, revision)?
    };
    if begins_with_state(parameters, revision)
        && let Err(late) = cluster.reached(selection.resource, start).await
    {
        let refusal = Refusal::too_large_resource_version(start, late.current, Some(1));
        return Ok(Watch::failed(cluster, selection, refusal));
    }
    let opened =
        cluster.lock().open(&selection, parameters, Start { revision: start, state: begins_with_state(parameters, revision) });
    Ok(match opened {
        Ok((initial, id, events)) => Watch { cluster: Arc::clone(cluster), selection, id, initial, events: Some(events) },
        Err(refusal) => Watch::failed(cluster, selection, refusal),
    })
}

impl Watch {
    fn failed(cluster: &Arc<Cluster>, selection: Selection, refusal: Refusal) -> Self {
        let initial = VecDeque::from([WatchEvent::Error(refusal)]);
        Self { cluster: Arc::clone(cluster), selection, id: u64::MAX, initial, events: None }
    }

    /// Adds a bookmark after the waiting events. A resource without a cache has none.
    pub(crate) fn bookmark(&self) {
        let mut state = self.cluster.lock();
        if !state.faults.allow_bookmarks() {
            return;
        }
        let Some(storage) = state.storage(self.selection.resource) else { return };
        if let Some(cache) = storage.cache_state() {
            storage.watchers.bookmark(self.id, cache.revision);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(storage) = self.cluster.lock().storage(self.selection.resource) {
            storage.watchers.close(self.id);
        }
    }
}

/// The start of a watch.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// The revision that the cache must have reached before the watch begins, or 0.
    revision: u64,
    /// Whether the watch begins with the current state.
    state: bool,
}

/// Whether a watch begins with the current state. Without `sendInitialEvents`, it does if the revision is unset or 0
/// (kubernetes/apimachinery `pkg/apis/meta/internalversion/defaults.go` v0.34).
fn begins_with_state(parameters: &Parameters, revision: Revision) -> bool {
    parameters.send_initial_events.unwrap_or(!matches!(revision, Revision::At(_)))
}

type Opened = (VecDeque<WatchEvent>, u64, mpsc::Receiver<WatchEvent>);

impl State {
    /// The revision that the cache must have reached before the watch begins, or 0.
    fn watch_start(&mut self, selection: &Selection, revision: Revision) -> Result<u64, Refusal> {
        let present = self.store.revision();
        let (storage, _, counters) = self.parts(selection.resource).ok_or_else(Refusal::unknown_path)?;
        if storage.cache_state().is_some_and(|cache| !cache.ready) {
            return Err(not_ready());
        }
        match revision {
            Revision::At(revision) => Ok(revision),
            Revision::Any => Ok(0),
            Revision::Unset if !storage.is_cached() => Ok(0),
            Revision::Unset => {
                counters.current_revision(selection.resource);
                Ok(present)
            }
        }
    }

    fn open(&mut self, selection: &Selection, parameters: &Parameters, start: Start) -> Result<Opened, Refusal> {
        let list_ends = self.faults.allow_list_ends();
        let (storage, store, counters) = self.parts(selection.resource).ok_or_else(Refusal::unknown_path)?;
        let current = storage.cache_state().map_or(store.revision(), |cache| cache.revision);
        let after = match (start.state, start.revision) {
            (true, _) | (false, 0) => current,
            (false, revision) => revision,
        };
        let mut initial: VecDeque<WatchEvent> = VecDeque::new();
        match (&storage.cache, start.state) {
            (Some(cache), true) => {
                let entries = cache.latest(&storage.prefix, "").filter(|entry| selection.matches(&entry.object));
                initial.extend(entries.map(|entry| WatchEvent::Added(entry.object)));
            }
            (Some(cache), false) => {
                let events = cache
                    .events_since(after)
                    .map_err(|too_old| Refusal::expired(format!("too old resource version: {after} ({})", too_old.oldest)))?;
                initial.extend(events.filter_map(|change| event_for(change, selection)));
            }
            (None, true) => {
                counters.etcd(selection.resource, "list", 1);
                // The current revision can always be read.
                let entries = store.range(&storage.prefix, "", store.revision()).into_iter().flatten();
                let entries = entries.filter(|entry| selection.matches(&entry.object));
                initial.extend(entries.map(|entry| WatchEvent::Added(entry.object)));
            }
            (None, false) => {
                let changes = store.changes_since(&storage.prefix, after);
                let changes =
                    changes.map_err(|_compacted| Refusal::expired("The resourceVersion for the provided watch is too old."))?;
                initial.extend(changes.filter_map(|change| event_for(change, selection)));
            }
        }
        if storage.is_cached() {
            counters.initial_events(selection.resource, initial.len());
        } else {
            counters.store_watch();
        }
        if parameters.send_initial_events == Some(true) && parameters.allow_bookmarks && list_ends {
            initial.push_back(WatchEvent::Bookmark { revision: current, ends_initial_events: true });
        }
        let (id, events) = storage.watchers.open(selection.clone(), after);
        Ok((initial, id, events))
    }
}
