//! The words of labels of requests and watches: verbs, scopes, layers, ends, ….

use super::word::words;
use crate::exchange::Exchange;
use crate::k8s::{RequestInfo, Verb};
use crate::reflector::WatchEnd;
use crate::routing::{Certainty, ServedFrom};
use crate::wire::EventType;

words! {
    /// A verb, as kube-apiserver's metrics report it: `cleanVerb` and `validRequestMethods` in kubernetes/apiserver
    /// pkg/endpoints/metrics/metrics.go, 0.31.14, 0.34.4 and 0.37.0. APPLY counts as PATCH, and CONNECT as its method.
    VerbWord {
        /// GET or HEAD of one object, or of a path that is not a resource.
        Get = "GET",
        /// GET of a collection.
        List = "LIST",
        /// Also in the legacy form `/watch/`.
        Watch = "WATCH",
        /// Creates an object, or connects to a pod.
        Post = "POST",
        /// Replaces an object.
        Put = "PUT",
        /// Changes a part of an object, or applies it.
        Patch = "PATCH",
        /// Deletes one object.
        Delete = "DELETE",
        /// Deletes all objects that a list would return.
        DeleteCollection = "DELETECOLLECTION",
        /// The legacy prefix `/proxy/`.
        Proxy = "PROXY",
        /// Any other method; `OtherRequestMethod` upstream.
        Other = "other",
        /// Method or path is unknown.
        Unknown = "unknown",
    }
}

words! {
    /// The objects that a request is for: `CleanScope` in kubernetes/apiserver pkg/endpoints/metrics/metrics.go, 0.31.14,
    /// 0.34.4 and 0.37.0.
    ScopeWord {
        /// The path is no resource, or is unknown.
        None = "",
        /// One object.
        Resource = "resource",
        /// The objects of one namespace.
        Namespace = "namespace",
        /// All objects.
        Cluster = "cluster",
    }
}

words! {
    /// The layer that answers.
    LayerWord {
        /// No object is read, or the path is unknown.
        None = "",
        /// The watch cache.
        Cache = "cache",
        /// The watch cache, once it has reached the current revision.
        CacheConsistent = "cache_consistent",
        /// An older state that the watch cache keeps.
        Snapshot = "snapshot",
        /// The objects are read from etcd.
        Etcd = "etcd",
        /// An extension server.
        Proxied = "proxied",
        /// No layer: the request is refused.
        Rejected = "rejected",
        /// The known facts do not decide the layer.
        Unknown = "unknown",
    }
}

words! {
    /// Whether an answer proved the layer of a verdict.
    CertaintyWord {
        /// Nothing.
        Predicted = "predicted",
        /// The layer is the predicted one.
        Confirmed = "confirmed",
        /// The layer is another one.
        Contradicted = "contradicted",
    }
}

words! {
    /// How a watch ended.
    EndWord {
        /// By the server, after the requested time.
        TimedOut = "timed_out",
        /// By the server before that time.
        Early = "early",
        /// By the server within a second, before any event.
        VeryShort = "very_short",
        /// By the server by force, as its log shows.
        ByForce = "by_force",
        /// By an `ERROR` event.
        ErrorEvent = "error_event",
        /// It was refused.
        Refused = "refused",
        /// The server reset the stream.
        StreamReset = "stream_reset",
        /// The connection ended, and not by the client.
        ConnectionLost = "connection_lost",
        /// The client reset the stream.
        Cancelled = "cancelled",
        /// The client ended the connection.
        ClientLeft = "client_left",
        /// watchtap ended the connection.
        ByWatchtap = "by_watchtap",
        /// Before the requested time, as a log shows, which does not show why.
        BeforeTimeout = "before_timeout",
        /// It was no longer observed.
        NotObserved = "not_observed",
    }
}

words! {
    /// The type of a watch event.
    EventWord {
        /// `ADDED`.
        Added = "added",
        /// `MODIFIED`.
        Modified = "modified",
        /// `DELETED`.
        Deleted = "deleted",
        /// `BOOKMARK`.
        Bookmark = "bookmark",
        /// `ERROR`.
        Error = "error",
        /// A type that no known version defines.
        Unknown = "unknown",
    }
}

impl VerbWord {
    pub(crate) fn of(exchange: &Exchange) -> Self {
        match exchange.verb() {
            Some(Verb::Get) => Self::Get,
            Some(Verb::List) => Self::List,
            Some(Verb::Watch) => Self::Watch,
            Some(Verb::Create) => Self::Post,
            Some(Verb::Update) => Self::Put,
            Some(Verb::Patch) => Self::Patch,
            Some(Verb::Delete) => Self::Delete,
            Some(Verb::DeleteCollection) => Self::DeleteCollection,
            Some(Verb::Proxy) => Self::Proxy,
            Some(Verb::Other) => Self::of_method(exchange.request.method.as_deref().unwrap_or_default()),
            None => Self::Unknown,
        }
    }

    /// The verb of a request to a path that is not a resource.
    fn of_method(method: &str) -> Self {
        if method == "HEAD" {
            return Self::Get;
        }
        // Methods that are not in the table are "other", so the words of the table are compared.
        [Self::Post, Self::Put, Self::Patch, Self::Delete]
            .into_iter()
            .find(|verb| Self::WORDS.get(*verb as usize) == Some(&method))
            .unwrap_or(Self::Other)
    }
}

impl ScopeWord {
    pub(crate) fn of(info: Option<&RequestInfo>) -> Self {
        match info {
            Some(info) if !info.name.is_empty() || info.verb == Verb::Create => Self::Resource,
            Some(info) if !info.namespace.is_empty() => Self::Namespace,
            Some(info) if info.resource.is_some() => Self::Cluster,
            Some(_) | None => Self::None,
        }
    }
}

impl LayerWord {
    pub(crate) const fn of(served_from: Option<&ServedFrom>) -> Self {
        match served_from {
            Some(ServedFrom::Cache) => Self::Cache,
            Some(ServedFrom::CacheConsistent) => Self::CacheConsistent,
            Some(ServedFrom::Snapshot) => Self::Snapshot,
            Some(ServedFrom::Etcd) => Self::Etcd,
            Some(ServedFrom::Proxied) => Self::Proxied,
            Some(ServedFrom::Rejected { .. }) => Self::Rejected,
            Some(ServedFrom::Unknown { .. }) => Self::Unknown,
            None => Self::None,
        }
    }
}

impl CertaintyWord {
    pub(crate) const fn of(certainty: Certainty) -> Self {
        match certainty {
            Certainty::Predicted => Self::Predicted,
            Certainty::Confirmed => Self::Confirmed,
            Certainty::Contradicted => Self::Contradicted,
        }
    }
}

impl EndWord {
    pub(crate) const fn of(end: WatchEnd) -> Self {
        match end {
            WatchEnd::TimedOut => Self::TimedOut,
            WatchEnd::Early => Self::Early,
            WatchEnd::VeryShort => Self::VeryShort,
            WatchEnd::ByForce => Self::ByForce,
            WatchEnd::ErrorEvent { .. } => Self::ErrorEvent,
            WatchEnd::Refused { .. } => Self::Refused,
            WatchEnd::StreamReset { .. } => Self::StreamReset,
            WatchEnd::ConnectionLost { .. } => Self::ConnectionLost,
            WatchEnd::Cancelled => Self::Cancelled,
            WatchEnd::ClientLeft => Self::ClientLeft,
            WatchEnd::ByWatchtap => Self::ByWatchtap,
            WatchEnd::BeforeTimeout => Self::BeforeTimeout,
            WatchEnd::NotObserved => Self::NotObserved,
        }
    }
}

impl EventWord {
    pub(crate) const fn of(event_type: EventType) -> Self {
        match event_type {
            EventType::Added => Self::Added,
            EventType::Modified => Self::Modified,
            EventType::Deleted => Self::Deleted,
            EventType::Bookmark => Self::Bookmark,
            EventType::Error => Self::Error,
            EventType::Unknown => Self::Unknown,
        }
    }
}
