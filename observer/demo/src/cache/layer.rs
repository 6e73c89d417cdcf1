//! Determines the layer that answers a read, by the rules of kube-apiserver 1.34.
//!
//! The source is `kubernetes/apiserver` `pkg/storage/cacher/{delegator,delegator/interface,cacher,watch_cache}.go` v0.34, with
//! default feature gates and an etcd that supports progress requests. These rules are deliberately implemented separately from
//! watchtap's: the demo must be able to contradict watchtap's predictions.

use crate::options::{ListRequest, Match, Revision, Token};

/// The state of a watch cache that determines the layer, in addition to the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CacheState {
    /// Whether it is filled.
    pub(crate) ready: bool,
    /// The last revision that has reached it.
    pub(crate) revision: u64,
    /// The oldest revision that a snapshot covers.
    pub(crate) oldest_snapshot: Option<u64>,
}

/// The layer that a list is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListLayer {
    /// The store, at the revision of [`ListRequest::exact_revision`] or the current one.
    Etcd,
    /// The cache, once it has reached this revision; 0 does not wait.
    Cache { not_older_than: u64 },
    /// The cache, once it has reached the store's current revision.
    CacheConsistent,
    /// The cache's snapshot for this revision.
    Snapshot { revision: u64 },
    /// Refused, since the cache is being filled.
    NotReady,
}

/// The layer that a get is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GetLayer {
    /// The store.
    Etcd,
    /// The cache, once it has reached this revision; 0 does not wait.
    Cache { not_older_than: u64 },
}

/// Returns the layer for a list with valid options. `cache` is `None` for a resource without a watch cache.
pub(crate) fn of_list(request: &ListRequest, cache: Option<CacheState>) -> ListLayer {
    let Some(cache) = cache else { return ListLayer::Etcd };
    let layer = of_ready_cache(request, cache);
    if cache.ready || layer == ListLayer::Etcd {
        return layer;
    }
    if request.limit > 0 && !request.has_selector { ListLayer::Etcd } else { ListLayer::NotReady }
}

/// Returns the layer for a get, likewise.
pub(crate) fn of_get(revision: Revision, cache: Option<CacheState>) -> GetLayer {
    match (cache, revision) {
        (Some(CacheState { ready: true, .. }), Revision::Any) => GetLayer::Cache { not_older_than: 0 },
        (Some(CacheState { ready: true, .. }), Revision::At(revision)) => GetLayer::Cache { not_older_than: revision },
        (Some(_) | None, Revision::Unset | Revision::Any | Revision::At(_)) => GetLayer::Etcd,
    }
}

fn of_ready_cache(request: &ListRequest, cache: CacheState) -> ListLayer {
    match (request.matching, request.revision) {
        (Match::Exact, Revision::At(revision)) => exact(revision, request, cache),
        (Match::NotOlderThan, Revision::At(revision)) => ListLayer::Cache { not_older_than: revision },
        (Match::Exact | Match::NotOlderThan, Revision::Unset | Revision::Any) => ListLayer::Cache { not_older_than: 0 },
        (Match::Unset, revision) => match (&request.token, revision) {
            (Some(_), _) if !request.recursive => ListLayer::Etcd,
            (Some(Token { revision: Some(revision), .. }), _) => exact(*revision, request, cache),
            (Some(Token { revision: None, .. }), _) | (None, Revision::Unset) => ListLayer::CacheConsistent,
            (None, Revision::Any) => ListLayer::Cache { not_older_than: 0 },
            (None, Revision::At(revision)) if request.limit > 0 => exact(revision, request, cache),
            (None, Revision::At(revision)) => ListLayer::Cache { not_older_than: revision },
        },
    }
}

fn exact(revision: u64, request: &ListRequest, cache: CacheState) -> ListLayer {
    let is_ahead = revision > cache.revision;
    let is_covered = cache.oldest_snapshot.is_some_and(|oldest| oldest <= revision);
    if request.recursive && (is_ahead || is_covered) { ListLayer::Snapshot { revision } } else { ListLayer::Etcd }
}
