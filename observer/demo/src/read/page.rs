//! One page of a list: the selected items, the start of the next page, and the cost of reading the store.

use std::sync::Arc;

use crate::select::Selection;
use crate::store::{Entry, Object};
use crate::token;

/// Maximum number of objects that the API server requests from etcd at once (kubernetes/apiserver pkg/storage/etcd3/store.go v0.34,
/// `maxLimit`).
const LARGEST_RANGE: usize = 10_000;

/// The answer to a list.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    /// `metadata.resourceVersion`.
    pub(crate) revision: u64,
    pub(crate) items: Vec<Arc<Object>>,
    /// `metadata.continue`.
    pub(crate) next: Option<String>,
    /// `metadata.remainingItemCount`.
    pub(crate) remaining: Option<usize>,
}

/// The cost of reading a page from the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// Number of requests to the store.
    pub(super) ranges: usize,
    /// Number of objects in their answers.
    pub(super) fetched: usize,
    /// Number of objects that the selectors were applied to.
    pub(super) evaluated: usize,
}

/// The parameters of a page, and of its continue token.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageRequest<'r> {
    pub(super) selection: &'r Selection,
    /// The common prefix of the keys; a token is relative to it.
    pub(super) prefix: &'r str,
    /// 0 means no limit.
    pub(super) limit: usize,
    /// The revision of the list and of its token.
    pub(super) revision: u64,
}

impl PageRequest<'_> {
    /// Reads from the cache, which has all entries available (kubernetes/apiserver pkg/storage/cacher/cacher.go v0.34, `GetList`).
    pub(super) fn page_of_cache(&self, entries: &[Entry]) -> Page {
        let mut items = Vec::new();
        let mut looked_at = entries.len();
        for (index, entry) in entries.iter().enumerate() {
            if self.selection.matches(&entry.object) {
                items.push(Arc::clone(&entry.object));
            }
            if self.limit > 0 && items.len() >= self.limit {
                looked_at = index + 1;
                break;
            }
        }
        let has_more = looked_at < entries.len();
        self.page(items, has_more.then(|| entries.get(looked_at - 1)).flatten(), entries.len())
    }

    /// Reads from the store, in ranges that double until the page is full (kubernetes/apiserver pkg/storage/etcd3/store.go v0.34,
    /// `GetList`).
    pub(super) fn page_of_store(&self, entries: &[Entry]) -> (Page, Cost) {
        let mut cost = Cost::default();
        let mut items = Vec::new();
        let mut rest = entries;
        let mut range = if self.limit == 0 { usize::MAX } else { self.limit };
        let mut last = None;
        let mut counted;
        loop {
            let (fetched, behind) = rest.split_at(range.min(rest.len()));
            cost.ranges += 1;
            cost.fetched += fetched.len();
            counted = rest.len();
            let mut has_more = !behind.is_empty();
            for entry in fetched {
                if self.limit > 0 && items.len() >= self.limit {
                    has_more = true;
                    break;
                }
                last = Some(entry);
                cost.evaluated += 1;
                if self.selection.matches(&entry.object) {
                    items.push(Arc::clone(&entry.object));
                }
            }
            rest = behind;
            if !has_more {
                return (self.page(items, None, counted), cost);
            }
            if items.len() >= self.limit {
                return (self.page(items, last, counted), cost);
            }
            range = range.saturating_mul(2).min(LARGEST_RANGE);
        }
    }

    fn page(&self, items: Vec<Arc<Object>>, continues_behind: Option<&Entry>, counted: usize) -> Page {
        let next = continues_behind.map(|last| {
            let start = last.key.strip_prefix(self.prefix).unwrap_or(&last.key);
            token::encode(Some(self.revision), &format!("{start}\0"))
        });
        let remaining = (next.is_some() && !self.selection.has_selector()).then(|| counted.saturating_sub(self.limit));
        Page { revision: self.revision, items, next, remaining }
    }
}
