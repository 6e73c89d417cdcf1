//! The body of a watch: events as they occur, bookmarks between them, and an end at its timeout.
//!
//! kubernetes/apiserver pkg/endpoints/handlers/watch.go and `pkg/storage/cacher/cache_watcher.go` v0.34 (`nextBookmarkTime`).

use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::form::Form;
use crate::api::Resource;
use crate::read::Watch;
use crate::store::Object;
use crate::watchers::WatchEvent;

/// Maximum number of parts of a body that wait to be sent.
const MOST_PARTS: usize = 4;

/// Size to which events are joined into one part, in bytes, approximately.
const LARGEST_PART: usize = 64 * 1024;

/// The last bookmark is sent this long before the end.
const BEFORE_END: Duration = Duration::from_secs(2);

/// The parameters for sending a watch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub(super) resource: &'static Resource,
    pub(super) form: Form,
    pub(super) bookmarks: bool,
    /// Real time between two bookmarks.
    pub(super) bookmark_period: Duration,
    /// The time at which the server ends the watch.
    pub(super) deadline: Instant,
}

impl Sending {
    /// Starts to send. When the client disconnects, the watch is closed.
    pub(super) fn start(self, watch: Watch) -> mpsc::Receiver<Bytes> {
        let (sender, receiver) = mpsc::channel(MOST_PARTS);
        tokio::spawn(self.send(watch, sender));
        receiver
    }

    async fn send(self, mut watch: Watch, sender: mpsc::Sender<Bytes>) {
        let mut part = BytesMut::new();
        for event in std::mem::take(&mut watch.initial) {
            self.write(&event, &mut part);
            if part.len() >= LARGEST_PART && sender.send(part.split().freeze()).await.is_err() {
                return;
            }
        }
        if !part.is_empty() && sender.send(part.split().freeze()).await.is_err() {
            return;
        }
        let Some(mut events) = watch.events.take() else { return };
        let mut bookmark_at = self.next_bookmark();
        loop {
            tokio::select! {
                biased;
                () = sender.closed() => return,
                () = sleep_until(self.deadline) => return,
                () = sleep_until(bookmark_at), if self.bookmarks => {
                    watch.bookmark();
                    bookmark_at = self.next_bookmark();
                }
                event = events.recv() => {
                    let Some(event) = event else { return };
                    self.write(&event, &mut part);
                    while part.len() < LARGEST_PART && let Ok(event) = events.try_recv() {
                        self.write(&event, &mut part);
                    }
                    if sender.send(part.split().freeze()).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    fn next_bookmark(&self) -> Instant {
        let now = Instant::now();
        let periodic = now + self.bookmark_period;
        let last = self.deadline.checked_sub(BEFORE_END).filter(|last| *last > now);
        last.map_or(periodic, |last| last.min(periodic))
    }

    fn write(&self, event: &WatchEvent, part: &mut BytesMut) {
        let write_object = |kind: &str, object: &Object, part: &mut BytesMut| {
            let object = self.form.object(self.resource, object);
            write_event(kind, object.trim_ascii_end(), part);
        };
        match event {
            WatchEvent::Added(object) => write_object("ADDED", object, part),
            WatchEvent::Modified(object) => write_object("MODIFIED", object, part),
            WatchEvent::Deleted(object) => write_object("DELETED", object, part),
            WatchEvent::Bookmark { revision, ends_initial_events } => {
                let object = Object::at_revision(bookmark(*ends_initial_events), *revision);
                write_object("BOOKMARK", &object, part);
            }
            WatchEvent::Error(refusal) => write_event("ERROR", refusal.body().to_string().as_bytes(), part),
        }
    }
}

fn write_event(kind: &str, object: &[u8], part: &mut BytesMut) {
    part.put_slice(format!(r#"{{"type":"{kind}","object":"#).as_bytes());
    part.put_slice(object);
    part.put_slice(b"}\n");
}

fn bookmark(ends_initial_events: bool) -> Value {
    if ends_initial_events {
        json!({"metadata": {"creationTimestamp": null, "annotations": {"k8s.io/initial-events-end": "true"}}})
    } else {
        json!({"metadata": {"creationTimestamp": null}})
    }
}
