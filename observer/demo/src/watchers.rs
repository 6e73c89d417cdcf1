//! The open watches of one resource, and the events that each gets for a change.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::refusal::Refusal;
use super::select::Selection;
use super::store::{Change, Object};

/// Maximum number of events that wait for one client. If there are more, its watch is ended.
const MOST_WAITING: usize = 1000;

/// An event that a watch sends.
#[derive(Clone, Debug)]
pub(super) enum WatchEvent {
    /// An object is new in the watch's selection.
    Added(Arc<Object>),
    /// An object of the selection changed.
    Modified(Arc<Object>),
    /// An object was deleted, or left the selection.
    Deleted(Arc<Object>),
    /// All events up to `revision` were sent. With `ends_initial_events`, the initial events are complete too.
    Bookmark { revision: u64, ends_initial_events: bool },
    /// The watch cannot continue.
    Error(Refusal),
}

/// All open watches, by number.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    next: u64,
    by_id: BTreeMap<u64, Watcher>,
}

#[derive(Debug)]
struct Watcher {
    selection: Selection,
    /// Events up to this revision are not sent.
    after: u64,
    sender: mpsc::Sender<WatchEvent>,
    /// Whether it gets nothing any more, as on a dead connection.
    is_deaf: bool,
}

/// The effect of one change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Dispatched {
    pub(super) sent: usize,
    pub(super) terminated: usize,
}

impl Watchers {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Opens a watch for events after a revision.
    pub(super) fn open(&mut self, selection: Selection, after: u64) -> (u64, mpsc::Receiver<WatchEvent>) {
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        let id = self.next;
        self.next += 1;
        self.by_id.insert(id, Watcher { selection, after, sender, is_deaf: false });
        (id, receiver)
    }

    pub(super) fn close(&mut self, id: u64) {
        self.by_id.remove(&id);
    }

    /// Ends all watches, without an error.
    pub(super) fn close_all(&mut self) {
        self.by_id.clear();
    }

    /// Makes all open watches deaf.
    pub(super) fn deafen(&mut self) {
        self.by_id.values_mut().for_each(|watcher| watcher.is_deaf = true);
    }

    /// Ends the deaf watches, without an error.
    pub(super) fn close_deaf(&mut self) {
        self.by_id.retain(|_, watcher| !watcher.is_deaf);
    }

    /// Sends a bookmark after all waiting events.
    pub(super) fn bookmark(&mut self, id: u64, revision: u64) {
        let Some(watcher) = self.by_id.get(&id).filter(|watcher| !watcher.is_deaf) else { return };
        let bookmark = WatchEvent::Bookmark { revision: revision.max(watcher.after), ends_initial_events: false };
        // A slow client does not get the bookmark, as upstream.
        let _full_or_gone = watcher.sender.try_send(bookmark);
    }

    /// Sends a change to the watches that select it, and ends those of slow clients.
    pub(super) fn dispatch(&mut self, change: &Change) -> Dispatched {
        let mut outcome = Dispatched::default();
        self.by_id.retain(|_, watcher| {
            if watcher.is_deaf || change.revision <= watcher.after {
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

/// The event of a change for a watch with selectors (kubernetes/apiserver `pkg/storage/cacher/cache_watcher.go` v0.34,
/// `convertToWatchEvent`).
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
