//! Lists, read from the layer that the rules select, with the fallbacks of kube-apiserver 1.34.
//!
//! kubernetes/apiserver pkg/storage/cacher/delegator.go and pkg/storage/etcd3/store.go v0.34, `GetList`.

use super::page::{Cost, Page, PageRequest};
use crate::cache::{ListLayer, of_list};
use crate::cluster::{Cluster, State};
use crate::counters::ConsistentRead;
use crate::options::{ListRequest, Match, Parameters, Revision};
use crate::refusal::Refusal;
use crate::select::Selection;
use crate::store::{Entry, ReadError};
use crate::token;

/// A list, ready to be read.
struct Listing<'l> {
    selection: &'l Selection,
    request: ListRequest,
    /// The prefix of the keys, with a slash at the end; for a single object its complete key.
    prefix: String,
    /// The first key to read; empty for the beginning.
    from: String,
}

/// Answers a list.
pub(crate) async fn list(cluster: &Cluster, selection: &Selection, parameters: &Parameters) -> Result<Page, Refusal> {
    // With a token, a list of a single object becomes a list of all objects.
    let single = selection.single().filter(|_| !parameters.has_token());
    let request = parameters.list(single.is_none(), selection.has_selector())?;
    let prefix = cluster.lock().prefix(selection, single);
    let from = request.token.as_ref().map(|token| format!("{prefix}{}", token.start)).unwrap_or_default();
    let listing = Listing { selection, request, prefix, from };
    let layer = {
        let mut state = cluster.lock();
        let storage = state.storage(selection.resource).ok_or_else(Refusal::unknown_path)?;
        of_list(&listing.request, storage.cache_state())
    };
    match layer {
        ListLayer::Etcd => listing.read_store(&mut cluster.lock()),
        ListLayer::NotReady => Err(not_ready()),
        ListLayer::Cache { not_older_than } => {
            listing.wait(cluster, not_older_than).await?;
            listing.read_cache(&mut cluster.lock())
        }
        ListLayer::CacheConsistent => listing.consistent(cluster).await,
        ListLayer::Snapshot { revision } => {
            listing.wait(cluster, revision).await?;
            listing.read_snapshot(&mut cluster.lock(), revision)
        }
    }
}

/// The answer while the cache is being filled.
pub(super) fn not_ready() -> Refusal {
    Refusal::too_many_requests("storage is (re)initializing", 1)
}

impl Listing<'_> {
    async fn wait(&self, cluster: &Cluster, revision: u64) -> Result<(), Refusal> {
        let waited = cluster.reached(self.selection.resource, revision).await;
        waited.map_err(|late| Refusal::too_large_resource_version(revision, late.current, Some(1)))
    }

    async fn consistent(&self, cluster: &Cluster) -> Result<Page, Refusal> {
        let resource = self.selection.resource;
        let revision = {
            let mut state = cluster.lock();
            state.counters.current_revision(resource);
            state.store.revision()
        };
        let is_reached = cluster.reached(resource, revision).await.is_ok();
        let mut state = cluster.lock();
        let page = if is_reached { self.read_cache(&mut state) } else { self.read_store(&mut state) };
        let outcome = match (is_reached, page.is_ok()) {
            (true, _) => ConsistentRead::FromCache,
            (false, true) => ConsistentRead::FellBack,
            (false, false) => ConsistentRead::Failed,
        };
        state.counters.consistent_read(resource, outcome);
        page
    }

    fn read_cache(&self, state: &mut State) -> Result<Page, Refusal> {
        let Some(cache) = state.storage(self.selection.resource).and_then(|storage| storage.cache.as_ref()) else {
            return Err(Refusal::unknown_path());
        };
        let revision = cache.state().revision;
        let entries: Vec<Entry> = cache.latest(&self.prefix, &self.from).filter(|entry| self.is_listed(entry)).collect();
        // `resourceVersion=0` ignores the limit, but only in the cache.
        let limit = if self.request.revision == Revision::Any { 0 } else { self.request.limit };
        let page = self.page_request(limit, revision).page_of_cache(&entries);
        state.counters.cache_list(self.selection.resource, entries.len(), page.items.len());
        Ok(page)
    }

    fn read_snapshot(&self, state: &mut State, revision: u64) -> Result<Page, Refusal> {
        let cache = state.storage(self.selection.resource).and_then(|storage| storage.cache.as_ref());
        let entries = cache.and_then(|cache| Some(cache.snapshot(&self.prefix, &self.from, revision)?.collect::<Vec<Entry>>()));
        // The snapshot existed when the layer was chosen, but may have been dropped since.
        let Some(entries) = entries else { return self.read_store(state) };
        let page = self.page_request(self.request.limit, revision).page_of_cache(&entries);
        state.counters.cache_list(self.selection.resource, entries.len(), page.items.len());
        Ok(page)
    }

    fn read_store(&self, state: &mut State) -> Result<Page, Refusal> {
        let present = state.store.revision();
        let exact = self.request.exact_revision();
        let entries = match state.store.range(&self.prefix, &self.from, exact.unwrap_or(present)) {
            Ok(entries) => Ok(entries.filter(|entry| self.is_listed(entry)).collect::<Vec<Entry>>()),
            Err(error) => Err(error),
        };
        let read = match entries {
            Ok(entries) => Ok(self.page_request(self.request.limit, exact.unwrap_or(present)).page_of_store(&entries)),
            Err(error) => Err(self.unreadable(error, present)),
        };
        let cost = read.as_ref().map_or(Cost { ranges: 1, ..Cost::default() }, |(_, cost)| *cost);
        let returned = read.as_ref().map_or(0, |(page, _)| page.items.len());
        let resource = self.selection.resource;
        state.counters.etcd(resource, if self.request.recursive { "list" } else { "get" }, cost.ranges);
        state.counters.storage_list(resource, cost.fetched, cost.evaluated, returned);
        if exact.is_some_and(|revision| revision > present) {
            state.counters.current_revision(resource);
        }
        match (self.request.matching, self.request.revision) {
            (Match::Unset | Match::NotOlderThan, Revision::At(wanted)) if wanted > present => {
                Err(Refusal::too_large_resource_version(wanted, present, None))
            }
            _other => read.map(|(page, _)| page),
        }
    }

    fn unreadable(&self, error: ReadError, present: u64) -> Refusal {
        match (error, &self.request.token) {
            (ReadError::Future, _) => {
                Refusal::too_large_resource_version(self.request.exact_revision().unwrap_or_default(), present, None)
            }
            (ReadError::Compacted, Some(next)) => Refusal::expired_page(token::encode(None, &next.start)),
            (ReadError::Compacted, None) => Refusal::expired("The resourceVersion for the provided list is too old."),
        }
    }

    /// Whether an entry belongs to the list. For a single object, only its exact key does, and not keys that begin with it.
    fn is_listed(&self, entry: &Entry) -> bool {
        self.request.recursive || *entry.key == *self.prefix
    }

    fn page_request(&self, limit: usize, revision: u64) -> PageRequest<'_> {
        PageRequest { selection: self.selection, prefix: &self.prefix, limit, revision }
    }
}
