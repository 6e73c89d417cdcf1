//! Lines of client-go's reflectors, in the logs of clients.
//!
//! At the default verbosity, most of them are missing, as is a 410 from 0.18 on. So the absence of a line proves nothing.

use super::audit::MAX_TEXT;
use super::klog::{Fields, KlogRecord, LogClock};
use super::logged_error::{LoggedError, LoggedErrorKind};
use super::text::cut;
use crate::time::Timestamp;

/// A line about the list or the watch of a reflector (kubernetes/client-go `tools/cache/reflector.go`, 1.15.0 to v0.36.0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReflectorLine {
    /// When the line was written.
    pub at: Option<Timestamp>,
    /// The name of the reflector, as in `k8s.io/client-go/informers/factory.go:134`: where it was created. Many share a name. Empty if
    /// the line has none.
    pub reflector: String,
    /// The type of its objects, as in `*v1.Pod` or `apps/v1, Kind=Deployment`; empty if the line has none.
    pub object_type: String,
    /// The event that the line reports.
    pub event: ReflectorLineEvent,
}

/// Steps of a reflector's cycle, and their errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReflectorLineEvent {
    /// A cycle of list and watch begins.
    CycleStarted,
    /// The watch ended because its resource version is too old.
    WatchExpired(LoggedError),
    /// The watch lasted less than a second and delivered nothing.
    VeryShortWatch,
    /// The watch ended with another error.
    WatchFailed(LoggedError),
    /// The server answered 429 to a watch; the reflector waits and resumes.
    TooManyRequests,
    /// The watch ended without an error.
    WatchClosed {
        /// Number of events that it delivered.
        items: Option<u64>,
    },
    /// The server refused the list, or it was cut off.
    ListFailed(LoggedError),
    /// The first list of the cycle is complete, from 0.29 on.
    Synced,
    /// The streaming list failed, so the reflector lists instead; from 0.27 on. Before 0.29, the line has no error.
    FellBackToList(Option<LoggedError>),
    /// The bookmark that ends the initial events has not arrived, from 0.31 on.
    BookmarkMissing,
}

type Facts<'l> = (&'l str, &'l str, ReflectorLineEvent);

impl ReflectorLine {
    /// Reads a record. `None` for any other line.
    pub(super) fn read(record: &KlogRecord<'_>, clock: &LogClock) -> Option<Self> {
        let message = &*record.message;
        // Up to 0.30, the record of an error has the reflector's file, too. Later, its message names neither.
        let facts = if message == "Unhandled Error" {
            Self::plain(record.fields.get("err")?)
        } else if record.file != "reflector.go" {
            None
        } else if record.fields.is_empty() {
            Self::plain(message)
        } else {
            Self::structured(message, &record.fields)
        };
        let (reflector, object_type, event) = facts?;
        Some(Self { at: record.at(clock), reflector: cut(reflector, MAX_TEXT), object_type: cut(object_type, MAX_TEXT), event })
    }

    /// Whether the reflector is that of a watch cache. Its lines are in the log of kube-apiserver, and are none of a client's.
    pub fn is_of_watch_cache(&self) -> bool {
        self.reflector.starts_with("storage/cacher.go:")
    }

    /// Reads a record of 0.33 or later.
    fn structured<'l>(message: &str, fields: &'l Fields<'_>) -> Option<Facts<'l>> {
        let error = || LoggedError::of(fields.text("err"));
        let event = match message {
            "Listing and watching" => ReflectorLineEvent::CycleStarted,
            "Caches populated" => ReflectorLineEvent::Synced,
            "Watch close" => {
                ReflectorLineEvent::WatchClosed { items: fields.get("totalItems").and_then(|items| items.parse().ok()) }
            }
            "Watch returned 429 - backing off" => ReflectorLineEvent::TooManyRequests,
            "Failed to watch" if fields.text("err").starts_with("failed to list ") => ReflectorLineEvent::ListFailed(error()),
            "Watch closed"
            | "Watch closed with unexpected EOF"
            | "Watch failed - backing off"
            | "Retrying watch after internal error"
            | "watch-list failed - backing off"
            | "Warning: watch ended with error"
            | "Failed to watch" => watch_ended(error()),
            "Warning: event bookmark expired" => {
                let reflector = fields.text("err").split_once(": ").map_or("", |(name, _)| name);
                return Some((reflector, "", ReflectorLineEvent::BookmarkMissing));
            }
            _other if message.starts_with("The watchlist request ended with an error, ") => {
                ReflectorLineEvent::FellBackToList(Some(error()))
            }
            _other if message.starts_with("Data couldn't be fetched in watchlist mode.") => {
                ReflectorLineEvent::FellBackToList(Some(error()))
            }
            _other => return None,
        };
        Some((fields.text("reflector"), fields.text("type"), event))
    }

    /// Reads a record before 0.33, and the error of a record of 0.31 and 0.32.
    fn plain(message: &str) -> Option<Facts<'_>> {
        if let Some(rest) = message.strip_prefix("Listing and watching ") {
            let (object_type, reflector) = rest.rsplit_once(" from ")?;
            return Some((reflector, object_type, ReflectorLineEvent::CycleStarted));
        }
        if let Some(rest) = message.strip_prefix("Caches populated for ") {
            let (object_type, reflector) = rest.rsplit_once(" from ")?;
            return Some((reflector, object_type, ReflectorLineEvent::Synced));
        }
        if message.starts_with("the watch-list feature is not supported by the server, ") {
            return Some(("", "", ReflectorLineEvent::FellBackToList(None)));
        }
        if let Some(rest) = message.strip_prefix("The watchlist request ended with an error, ") {
            let error = rest.split_once("err = ").map(|(_, error)| LoggedError::of(error));
            return Some(("", "", ReflectorLineEvent::FellBackToList(error)));
        }
        let (reflector, rest) = message.split_once(": ")?;
        if reflector.contains(' ') {
            return None;
        }
        let (object_type, event) = named(rest)?;
        Some((reflector, object_type, event))
    }
}

/// Reads a message after the name of the reflector: the type, and the event.
fn named(text: &str) -> Option<(&str, ReflectorLineEvent)> {
    if let Some(rest) = text.strip_prefix("watch of ").or_else(|| text.strip_prefix("watch-list of ")) {
        if let Some(object_type) = rest.strip_suffix(" returned 429 - backing off") {
            return Some((object_type, ReflectorLineEvent::TooManyRequests));
        }
        let ends = [" ended with: ", " closed with: ", " returned "];
        let (object_type, error) = ends.iter().find_map(|end| rest.split_once(end))?;
        return Some((object_type, watch_ended(LoggedError::of(error))));
    }
    if let Some(rest) = text.strip_prefix("retrying watch of ") {
        let (object_type, error) = rest.split_once(" internal error: ")?;
        return Some((object_type, watch_ended(LoggedError::of(error))));
    }
    if let Some(rest) = text.strip_prefix("Watch for ") {
        let (object_type, error) = rest.split_once(" closed with unexpected EOF: ")?;
        return Some((object_type, watch_ended(LoggedError::of(error))));
    }
    if let Some(rest) = text.strip_prefix("Watch close - ") {
        let (object_type, items) = rest.strip_suffix(" items received")?.rsplit_once(" total ")?;
        return Some((object_type, ReflectorLineEvent::WatchClosed { items: items.parse().ok() }));
    }
    if let Some(rest) = text.strip_prefix("Failed to list ").or_else(|| text.strip_prefix("failed to list ")) {
        let (object_type, error) = rest.split_once(": ")?;
        return Some((object_type, ReflectorLineEvent::ListFailed(LoggedError::of(error))));
    }
    if let Some(rest) = text.strip_prefix("Failed to watch ") {
        let (object_type, error) = rest.split_once(": ")?;
        let error = LoggedError::of(error);
        let is_list = error.text.starts_with("failed to list ");
        return Some((object_type, if is_list { ReflectorLineEvent::ListFailed(error) } else { watch_ended(error) }));
    }
    let is_bookmark = text.starts_with("awaiting required bookmark event for initial events stream")
        || text.starts_with("hasn't received required bookmark event marking the end of initial events stream");
    is_bookmark.then_some(("", ReflectorLineEvent::BookmarkMissing))
}

fn watch_ended(error: LoggedError) -> ReflectorLineEvent {
    match error.kind {
        LoggedErrorKind::Expired { .. } => ReflectorLineEvent::WatchExpired(error),
        LoggedErrorKind::VeryShortWatch => ReflectorLineEvent::VeryShortWatch,
        LoggedErrorKind::TooManyRequests
        | LoggedErrorKind::TooLarge { .. }
        | LoggedErrorKind::ConnectionRefused
        | LoggedErrorKind::Other => ReflectorLineEvent::WatchFailed(error),
    }
}
