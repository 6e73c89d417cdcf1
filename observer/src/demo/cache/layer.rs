//! Which layer answers a read, by the rules of kube-apiserver 1.34.
//!
//! `kubernetes/apiserver` `pkg/storage/cacher/{delegator,delegator/interface,cacher,watch_cache}.go` v0.34 with the default
//! feature gates and an etcd that supports progress requests. These are the demo's own rules, written a second time on purpose:
//! the demo must be able to contradict those that watchtap predicts with.

use crate::demo::options::{ListRequest, Match, Revision, Token};

/// What the decision depends on besides the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CacheState {
    /// Whether it is filled.
    pub(crate) ready: bool,
    /// The last revision that it has heard of.
    pub(crate) revision: u64,
    /// The oldest revision that a snapshot covers.
    pub(crate) oldest_snapshot: Option<u64>,
}

/// Where a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListLayer {
    /// From the store, at the revision that [`ListRequest::exact_revision`] says or the present one.
    Etcd,
    /// From the cache, once it has heard of this revision; 0 waits for nothing.
    Cache { not_older_than: u64 },
    /// From the cache, once it has heard of what the store's revision is now.
    CacheConsistent,
    /// From the cache's snapshot for this revision.
    Snapshot { revision: u64 },
    /// Refused: the cache is being filled.
    NotReady,
}

/// Where a get is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GetLayer {
    /// From the store.
    Etcd,
    /// From the cache, once it has heard of this revision; 0 waits for nothing.
    Cache { not_older_than: u64 },
}

/// Decides for a list whose options are valid; `cache` is nothing for a resource without one.
pub(crate) fn of_list(request: &ListRequest, cache: Option<CacheState>) -> ListLayer {
    let Some(cache) = cache else { return ListLayer::Etcd };
    let layer = of_ready_cache(request, cache);
    if cache.ready || layer == ListLayer::Etcd {
        return layer;
    }
    if request.limit > 0 && !request.has_selector { ListLayer::Etcd } else { ListLayer::NotReady }
}

/// Decides for a get.
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
