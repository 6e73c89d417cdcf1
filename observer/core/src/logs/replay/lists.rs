//! The open lists, by the keys that they read if etcd answers them.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::etcd_range::EtcdRange;
use crate::k8s::{Continue, Verb};
use crate::observation::RequestLine;
use crate::routing::listed_prefix;
use crate::time::Timestamp;

/// Maximum number of different keys whose last list is remembered after its end.
const MOST_KEYS: usize = 4_096;

/// The keys that a list reads if etcd answers it: a prefix, and the maximum number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ListedKeys {
    prefix: String,
    limit: u64,
}

/// The lists of the same keys.
#[derive(Debug, Default)]
struct SameKeys {
    /// The open ones, by their ordinals, with the times of their requests.
    open: BTreeMap<u64, Timestamp>,
    /// When one of them ended last.
    ended: Timestamp,
}

/// Those of the same keys together, also shortly after their end.
#[derive(Debug, Default)]
pub(super) struct OpenLists(HashMap<ListedKeys, SameKeys, RandomState>);

impl ListedKeys {
    /// The keys of a list. `None` for other requests, for a page after the first one, and for a list of one object.
    pub(super) fn of(request: &RequestLine) -> Option<Self> {
        let info = request.info.as_ref().filter(|info| info.verb == Verb::List)?;
        let options = &request.options;
        let is_of_one = options.field_selector.contains("metadata.name=");
        let is_whole = options.continue_token == Continue::Unset && !is_of_one;
        is_whole.then_some(())?;
        Some(Self { prefix: listed_prefix(info)?, limit: options.limit })
    }
}

impl OpenLists {
    pub(super) fn open(&mut self, keys: &ListedKeys, ordinal: u64, at: Timestamp) {
        if self.0.len() >= MOST_KEYS && !self.0.contains_key(keys) {
            self.0.retain(|_, same| !same.open.is_empty());
        }
        self.0.entry(keys.clone()).or_default().open.insert(ordinal, at);
    }

    pub(super) fn close(&mut self, keys: &ListedKeys, ordinal: u64, at: Timestamp) {
        if let Some(same) = self.0.get_mut(keys) {
            same.open.remove(&ordinal);
            same.ended = same.ended.max(at);
        }
    }

    /// The ordinal of the only list of these keys that was open while etcd read them. `None` if there were several.
    pub(super) fn only_one_in(&self, range: &EtcdRange) -> Option<u64> {
        let same = self.0.get(&ListedKeys { prefix: range.prefix.clone(), limit: range.limit })?;
        let mut those = same.open.iter().filter(|(_, since)| **since <= range.began);
        let (ordinal, _) = those.next().filter(|_| same.ended < range.began)?;
        those.next().is_none().then_some(*ordinal)
    }
}
