//! Derives from the counters which layer answered one request.

use std::fmt;

use serde::Serialize;

use super::answer::ObservedAnswer;
use super::counters::Counters;
use super::prediction::Prediction;
use crate::k8s::Verb;
use crate::routing::Layer;

/// The layer that answered, by the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Measured {
    /// This layer. The counters do not distinguish a snapshot from the current state of the cache. So a list at one exact revision
    /// without a read from etcd counts as a snapshot.
    Layer(Layer),
    /// The watch cache or etcd. For a watch from a revision, servers count only messages to etcd, and not by resource.
    CacheOrEtcd,
    /// etcd, after the cache did not catch up in time.
    AfterWaiting,
    /// No layer: the request was refused.
    Refused {
        /// The HTTP status.
        status: u16,
        /// Whether the server sent a request to etcd before the refusal.
        etcd_touched: bool,
    },
    /// No layer: the only event of the watch is an `ERROR`.
    ErrorEvent {
        /// The code of its `Status`.
        code: u16,
    },
    /// No counter increased, as when an extension server answers.
    NotCounted,
    /// Counters increased in a way that one request alone cannot cause.
    Noise,
}

/// The layer that `moved` shows, for a request with this answer between two readings.
pub fn measure(prediction: &Prediction, answer: &ObservedAnswer, moved: Counters) -> Measured {
    if prediction.is_proxied() {
        return if moved.is_still() { Measured::NotCounted } else { Measured::Noise };
    }
    match prediction.verb {
        Verb::Get => get(answer, moved),
        Verb::Watch => watch(answer, moved, prediction.begins_with_objects),
        Verb::List
        | Verb::DeleteCollection
        | Verb::Create
        | Verb::Update
        | Verb::Patch
        | Verb::Delete
        | Verb::Proxy
        | Verb::Other => list(answer, moved, prediction.is_exact),
    }
}

fn get(answer: &ObservedAnswer, moved: Counters) -> Measured {
    const NOT_FOUND: u16 = 404;
    if [moved.cache_lists, moved.storage_lists, moved.etcd_lists] != [0; 3] {
        return Measured::Noise;
    }
    let is_refused = is_refusal(answer) && answer.status != NOT_FOUND;
    match moved.etcd_gets {
        0 | 1 if is_refused => Measured::Refused { status: answer.status, etcd_touched: moved.etcd_gets == 1 },
        0 => Measured::Layer(Layer::Cache),
        1 => Measured::Layer(Layer::Etcd),
        _ => Measured::Noise,
    }
}

fn list(answer: &ObservedAnswer, moved: Counters, is_exact: bool) -> Measured {
    let Counters { cache_lists, storage_lists, etcd_gets, etcd_lists, fallbacks, .. } = moved;
    match (cache_lists, storage_lists, etcd_gets, etcd_lists) {
        // The request for the current revision counts as a list and as a get, in addition to the list itself.
        (0, 0..=2, 0..=1, 1..) if fallbacks > 0 => Measured::AfterWaiting,
        (1, 0, 0, 0) => Measured::Layer(if is_exact { Layer::Snapshot } else { Layer::Cache }),
        (1, 0..=1, 1, 0) => Measured::Layer(Layer::CacheConsistent),
        (0, 0..=1, 0..=1, 0) if is_refusal(answer) => Measured::Refused { status: answer.status, etcd_touched: etcd_gets == 1 },
        // A list of a range, or of one key.
        (0, 0..=2, 0..=1, 1..) | (0, 1, 1, 0) => Measured::Layer(Layer::Etcd),
        (0, 0, 0, 0) => Measured::NotCounted,
        _ => Measured::Noise,
    }
}

/// The layer that answered a watch. `begins_with_objects` is whether the existing objects come first. A watch cache counts these.
fn watch(answer: &ObservedAnswer, moved: Counters, begins_with_objects: bool) -> Measured {
    let Counters { cache_lists, storage_lists, etcd_gets, etcd_lists, .. } = moved;
    match (cache_lists, storage_lists, etcd_gets, etcd_lists) {
        (0, 0..=1, 0..=1, 0) if is_refusal(answer) => Measured::Refused { status: answer.status, etcd_touched: etcd_gets == 1 },
        (0, 0..=1, 0..=1, 0) if let Some(code) = answer.error_event => error_event(code, answer),
        (0, 0..=1, 0, 1..) => Measured::Layer(Layer::Etcd),
        (0, 0..=1, 1, 0) => Measured::Layer(Layer::CacheConsistent),
        (0, 0, 0, 0) if moved.initial_events > 0 => Measured::Layer(Layer::Cache),
        // Up to 1.28 the objects that come before a watch in etcd are not counted.
        (0, 0, 0, 0) if begins_with_objects && answer.events > 0 => Measured::Layer(Layer::Etcd),
        (0, 0, 0, 0) if !begins_with_objects && moved.etcd_watch_messages == 0 => Measured::Layer(Layer::Cache),
        (0, 0, 0, 0) => Measured::CacheOrEtcd,
        _ => Measured::Noise,
    }
}

/// The layer of a watch that ended with an `ERROR` event. For a revision that is too old, a watch cache and etcd send different
/// messages (§1.10 of docs/semantics.md; kubernetes/apiserver `pkg/storage/cacher/watch_cache.go` and
/// `pkg/storage/etcd3/errors.go`, v0.17 and later).
fn error_event(code: u16, answer: &ObservedAnswer) -> Measured {
    const GONE: u16 = 410;
    let is_of_cache = answer.message.as_ref().is_some_and(|message| message.starts_with("too old resource version"));
    match (code, is_of_cache) {
        (GONE, true) => Measured::Layer(Layer::Cache),
        (GONE, false) => Measured::Layer(Layer::Etcd),
        _ => Measured::ErrorEvent { code },
    }
}

fn is_refusal(answer: &ObservedAnswer) -> bool {
    const FIRST_REFUSAL: u16 = 400;
    answer.status >= FIRST_REFUSAL
}

impl fmt::Display for Measured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layer(layer) => layer.fmt(formatter),
            Self::CacheOrEtcd => formatter.write_str("cache or etcd"),
            Self::AfterWaiting => formatter.write_str("etcd, after waiting"),
            Self::Refused { status, .. } => write!(formatter, "refused with {status}"),
            Self::ErrorEvent { code } => write!(formatter, "an ERROR event {code}"),
            Self::NotCounted => formatter.write_str("not counted"),
            Self::Noise => formatter.write_str("other clients read, too"),
        }
    }
}
