//! The open watches of one resource, and what each gets of a change.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::refusal::Refusal;
use super::select::Selection;
use super::store::{Change, Object};

/// Events that wait for one client; when more come, its watch is ended.
const MOST_WAITING: usize = 1000;

/// One event of a watch.
#[derive(Clone, Debug)]
pub(super) enum WatchEvent {
    /// The object came into what is watched.
    Added(Arc<Object>),
    /// It changed.
    Modified(Arc<Object>),
    /// It left, or was deleted.
    Deleted(Arc<Object>),
    /// Nothing happened up to a revision; or, once, all objects were sent.
    Bookmark { revision: u64, ends_initial_events: bool },
    /// The watch cannot go on.
    Error(Refusal),
}

/// The open watches.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    next: u64,
    by_id: BTreeMap<u64, Watcher>,
}

#[derive(Debug)]
struct Watcher {
    selection: Selection,
    /// Events up to here are not sent.
    after: u64,
    sender: mpsc::Sender<WatchEvent>,
}

/// What came of one change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dispatched {
    pub(super) sent: usize,
    pub(super) terminated: usize,
}

impl Watchers {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Opens a watch for what happens behind a revision.
    pub(super) fn open(&mut self, selection: Selection, after: u64) -> (u64, mpsc::Receiver<WatchEvent>) {
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        let id = self.next;
        self.next += 1;
        self.by_id.insert(id, Watcher { selection, after, sender });
        (id, receiver)
    }

    pub(super) fn close(&mut self, id: u64) {
        self.by_id.remove(&id);
    }

    /// Ends all streams, cleanly.
    pub(super) fn close_all(&mut self) {
        self.by_id.clear();
    }

    /// Sends a bookmark behind everything that waits already.
    pub(super) fn bookmark(&mut self, id: u64, revision: u64) {
        let Some(watcher) = self.by_id.get(&id) else { return };
        let bookmark = WatchEvent::Bookmark { revision: revision.max(watcher.after), ends_initial_events: false };
        // A client that does not keep up misses a bookmark, as upstream.
        let _full_or_gone = watcher.sender.try_send(bookmark);
    }

    /// Sends a change to whom it concerns; ends the watch of a client that does not keep up.
    pub(super) fn dispatch(&mut self, change: &Change) -> Dispatched {
        let mut outcome = Dispatched::default();
        self.by_id.retain(|_, watcher| {
            if change.revision <= watcher.after {
                return true;
            }
            let Some(event) = event_for(change, &watcher.selection) else { return true };
            match watcher.sender.try_send(event) {
                Ok(()) => {
                    outcome.sent += 1;
                    true
                }
                Err(TrySendError::Full(_)) => {
                    outcome.terminated += 1;
                    false
                }
                Err(TrySendError::Closed(_)) => false,
            }
        });
        outcome
    }
}

/// A change as a watch with selectors sees it (kubernetes/apiserver `pkg/storage/cacher/cache_watcher.go` v0.34, `convertToWatchEvent`).
pub(super) fn event_for(change: &Change, selection: &Selection) -> Option<WatchEvent> {
    let was = change.previous.as_ref().filter(|object| selection.matches(object));
    let is = !change.deleted && selection.matches(&change.object);
    match (was, is) {
        (None, true) => Some(WatchEvent::Added(Arc::clone(&change.object))),
        (Some(_), true) => Some(WatchEvent::Modified(Arc::clone(&change.object))),
        (Some(_), false) if change.deleted => Some(WatchEvent::Deleted(Arc::clone(&change.object))),
        (Some(was), false) => Some(WatchEvent::Deleted(Arc::new(Object::at_revision(was.value().clone(), change.revision)))),
        (None, false) => None,
    }
}
