//! Lines of kube-apiserver about its watch caches.

use std::time::Duration;

use super::audit::MAX_TEXT;
use super::go_duration::go_duration;
use super::go_text::unquote;
use super::klog::{KlogRecord, LogClock};
use super::logged_error::LoggedError;
use super::text::cut;
use crate::time::Timestamp;

/// A line about the watch cache of a resource, or about its source in etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheLine {
    /// When the line was written.
    pub at: Option<Timestamp>,
    /// The resource, if the line has it.
    pub resource: Option<CachedResource>,
    /// The event that the line reports.
    pub event: CacheEvent,
}

/// The resource of a watch cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CachedResource {
    /// Plural name and group, as in `deployments.apps`.
    Named(String),
    /// Up to 1.25, the Go type of its objects, as in `*core.Pod`.
    GoType(String),
}

/// Events of a watch cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheEvent {
    /// The cache starts again, so all watches of the resource end (kubernetes/apiserver `pkg/storage/cacher/cacher.go`, 1.16.0 to
    /// v0.36.0).
    Restarted,
    /// The cache's own list or watch of etcd failed (kubernetes/apiserver `pkg/storage/cacher/cacher.go`, 1.16.0 to v0.36.0).
    SourceFailed(LoggedError),
    /// The cache is ready (kubernetes/apiserver `pkg/storage/cacher/cacher.go`, v0.34.0).
    Initialized,
    /// The cache ends a watch because its client reads too slowly (kubernetes/apiserver `pkg/storage/cacher/cache_watcher.go`, v0.36.0;
    /// before v0.27.0 `cacher.go`). A watch may have two such lines.
    WatchUnresponsive {
        /// The watch, from 1.22 on.
        watch: Option<CacheWatch>,
        /// Events that waited for the watch, from 1.22 on.
        waiting: Option<u64>,
        /// Whether the server lets the watch deliver the events that wait, from 1.27 on.
        graceful: Option<bool>,
    },
    /// A watch began with many events of the past, which took more than half a second (kubernetes/apiserver
    /// `pkg/storage/cacher/cache_watcher.go`, v0.36.0; before v0.27.0 `cacher.go`).
    InitialEvents {
        /// The watch, from 1.22 on.
        watch: Option<CacheWatch>,
        /// Number of these events.
        events: u64,
        /// Time that they took.
        took: Duration,
    },
    /// A watch of etcd failed (kubernetes/apiserver `pkg/storage/etcd3/watcher.go`, 1.16.0 to v0.36.0). If its revision is compacted, a
    /// watch that etcd serves has expired.
    EtcdWatchFailed(LoggedError),
    /// The cache and etcd differ: no verdict about the cache of this resource holds afterwards (kubernetes/apiserver
    /// `pkg/storage/cacher/delegator.go`, v0.34.0; `consistency/checker.go` beside it, later).
    Inconsistent {
        /// The resource version of the comparison.
        resource_version: String,
    },
}

/// A watch that a cache serves, as it names the watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheWatch {
    /// The path of its objects below the prefix of etcd, as in `/pods/default`.
    pub key: String,
    /// The label selector.
    pub labels: String,
    /// The field selector.
    pub fields: String,
}

impl CacheLine {
    /// Reads a record. `None` for any other line.
    pub(super) fn read(record: &KlogRecord<'_>, clock: &LogClock) -> Option<Self> {
        let (resource, event) = Self::structured(record).or_else(|| Self::plain(&record.message))?;
        Some(Self { at: record.at(clock), resource, event })
    }

    fn structured(record: &KlogRecord<'_>) -> Option<(Option<CachedResource>, CacheEvent)> {
        let event = match &*record.message {
            "cacher initialized" => CacheEvent::Initialized,
            "Cache consistency check failed" => {
                CacheEvent::Inconsistent { resource_version: cut(record.fields.text("resourceVersion"), MAX_TEXT) }
            }
            _other => return None,
        };
        let (resource, group) = (record.fields.get("resource")?, record.fields.text("group"));
        let separator = if group.is_empty() { "" } else { "." };
        let name = format!("{}{separator}{}", cut(resource, MAX_TEXT), cut(group, MAX_TEXT));
        Some((Some(CachedResource::Named(name)), event))
    }

    fn plain(message: &str) -> Option<(Option<CachedResource>, CacheEvent)> {
        if let Some(resource) = message.strip_prefix("Terminating all watchers from cacher ") {
            return Some((CachedResource::of(resource), CacheEvent::Restarted));
        }
        if let Some(rest) = message.strip_prefix("cacher (") {
            let (resource, rest) = rest.split_once("): unexpected ListAndWatch error: ")?;
            let error = rest.strip_suffix("; reinitializing...").unwrap_or(rest);
            return Some((CachedResource::of(resource), CacheEvent::SourceFailed(LoggedError::of(error))));
        }
        if let Some(error) = message.strip_prefix("unexpected ListAndWatch error: ") {
            // 1.16 to 1.19; the error begins with the name of the reflector, `storage/cacher.go:/pods: `.
            return Some((None, CacheEvent::SourceFailed(LoggedError::of(error))));
        }
        if let Some(error) = message.strip_prefix("watch chan error: ") {
            return Some((None, CacheEvent::EtcdWatchFailed(LoggedError::of(error))));
        }
        if let Some(rest) = message.strip_prefix("processing ") {
            return initial_events(rest);
        }
        unresponsive(message.strip_prefix("Forcing ")?)
    }
}

impl CachedResource {
    fn of(text: &str) -> Option<Self> {
        let name = cut(text.trim_ascii(), MAX_TEXT);
        match name.as_bytes().first() {
            None => None,
            Some(b'*') => Some(Self::GoType(name)),
            Some(_) => Some(Self::Named(name)),
        }
    }
}

impl CacheWatch {
    /// Reads `key: "…", labels: "…", fields: "…"`. Returns also the text after it.
    fn read(text: &str) -> Option<(Self, &str)> {
        let key = unquote(text.strip_prefix("key: ")?)?;
        let labels = unquote(key.rest.strip_prefix(", labels: ")?)?;
        let fields = unquote(labels.rest.strip_prefix(", fields: ")?)?;
        let texts = [&key.text, &labels.text, &fields.text].map(|text| cut(text, MAX_TEXT));
        let [key, labels, selected] = texts;
        Some((Self { key, labels, fields: selected }, fields.rest))
    }
}

/// Reads `N initEvents of RESOURCE (WATCH) took D`; before 1.22, there is no watch.
fn initial_events(text: &str) -> Option<(Option<CachedResource>, CacheEvent)> {
    let (events, rest) = text.split_once(" initEvents of ")?;
    let (rest, took) = rest.rsplit_once(" took ")?;
    let (resource, watch) = rest.split_once(" (").unwrap_or((rest, ""));
    let watch = CacheWatch::read(watch).map(|(watch, _)| watch);
    let event = CacheEvent::InitialEvents { watch, events: events.parse().ok()?, took: go_duration(took)? };
    Some((CachedResource::of(resource), event))
}

/// Reads `RESOURCE watcher close due to unresponsiveness: WATCH. len(c.input) = N, len(c.result) = N, graceful = B`. Before 1.22, the
/// resource stands at the end, and no watch.
fn unresponsive(text: &str) -> Option<(Option<CachedResource>, CacheEvent)> {
    let (resource, rest) = text.split_once("watcher close due to unresponsiveness: ")?;
    let Some((watch, rest)) = CacheWatch::read(rest) else {
        let event = CacheEvent::WatchUnresponsive { watch: None, waiting: None, graceful: None };
        return Some((CachedResource::of(rest), event));
    };
    let value = |name: &str| {
        let (_, value) = rest.split_once(name)?;
        value.split(',').next()
    };
    let event = CacheEvent::WatchUnresponsive {
        watch: Some(watch),
        waiting: value("len(c.input) = ").and_then(|number| number.parse().ok()),
        graceful: value("graceful = ").and_then(|flag| flag.parse().ok()),
    };
    Some((CachedResource::of(resource), event))
}
