//! Events that a watch has delivered.

use serde::Serialize;

use crate::k8s::Status;
use crate::time::Timestamp;
use crate::wire::{EventType, WatchFrame};

/// Running totals of one watch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WatchStream {
    /// `ADDED` events.
    pub added: u64,
    /// `MODIFIED` events.
    pub modified: u64,
    /// `DELETED` events.
    pub deleted: u64,
    /// `BOOKMARK` events.
    pub bookmarks: u64,
    /// Events of a type that no known version defines.
    pub unknown: u64,
    /// The newest resource version delivered, by an event or a bookmark.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_resource_version: String,
    /// When the bookmark came that ended the initial events of a streaming list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_events_end: Option<Timestamp>,
    /// When the last event or bookmark came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_event: Option<Timestamp>,
    /// The `Status` of an `ERROR` event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Status>,
}

impl WatchStream {
    /// Number of events about objects: all but bookmarks and errors.
    pub fn events(&self) -> u64 {
        self.added.saturating_add(self.modified).saturating_add(self.deleted).saturating_add(self.unknown)
    }

    pub(super) fn take(&mut self, at: Timestamp, frame: &WatchFrame) {
        let counter = match frame.event_type {
            EventType::Added => &mut self.added,
            EventType::Modified => &mut self.modified,
            EventType::Deleted => &mut self.deleted,
            EventType::Bookmark => &mut self.bookmarks,
            EventType::Unknown => &mut self.unknown,
            EventType::Error => {
                self.error = frame.status.as_deref().cloned();
                return;
            }
        };
        *counter = counter.saturating_add(1);
        self.last_event = Some(at);
        if !frame.object.resource_version.is_empty() {
            self.last_resource_version.clone_from(&frame.object.resource_version);
        }
        if frame.initial_events_end {
            self.initial_events_end.get_or_insert(at);
        }
    }
}
