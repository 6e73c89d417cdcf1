//! The open lists, by the keys that they read if etcd answers them.

use std::collections::{BTreeMap, HashMap, VecDeque};

use foldhash::fast::RandomState;

use super::etcd_range::EtcdRange;
use crate::k8s::{Continue, Verb};
use crate::observation::RequestLine;
use crate::routing::listed_prefix;
use crate::time::Timestamp;

/// Number of ends of lists after which keys without an open list are forgotten.
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
pub(super) struct OpenLists {
    known: HashMap<ListedKeys, SameKeys, RandomState>,
    /// The keys without an open list, each with the time when it ended. The oldest come first, and a key may be there several times.
    ended: VecDeque<(Timestamp, ListedKeys)>,
}

impl ListedKeys {
    /// The keys of a list. `None` for other requests, for a page after the first one, and for a list of one object.
    pub(super) fn of(request: &RequestLine) -> Option<Self> {
        let info = request.info.as_ref().filter(|info| info.verb == Verb::List)?;
        let options = &request.options;
        let is_of_one = options.field_selector.contains("metadata.name=");
        let is_complete = options.continue_token == Continue::Unset && !is_of_one;
        is_complete.then_some(())?;
        Some(Self { prefix: listed_prefix(info)?, limit: options.limit })
    }
}

impl OpenLists {
    pub(super) fn open(&mut self, keys: &ListedKeys, ordinal: u64, at: Timestamp) {
        self.known.entry(keys.clone()).or_default().open.insert(ordinal, at);
    }

    pub(super) fn close(&mut self, keys: &ListedKeys, ordinal: u64, at: Timestamp) {
        let Some(same) = self.known.get_mut(keys) else { return };
        same.open.remove(&ordinal);
        same.ended = same.ended.max(at);
        if same.open.is_empty() {
            self.ended.push_back((same.ended, keys.clone()));
        }
        if self.ended.len() > MOST_KEYS {
            self.forget_oldest();
        }
    }

    /// Forgets the keys whose last list ended first, unless there was another one since.
    fn forget_oldest(&mut self) {
        let Some((ended, keys)) = self.ended.pop_front() else { return };
        if self.known.get(&keys).is_some_and(|same| same.open.is_empty() && same.ended == ended) {
            self.known.remove(&keys);
        }
    }

    /// The ordinal of the only list of these keys that was open while etcd read them. `None` if there were several.
    pub(super) fn only_one_in(&self, range: &EtcdRange) -> Option<u64> {
        let same = self.known.get(&ListedKeys { prefix: range.prefix.clone(), limit: range.limit })?;
        let mut those = same.open.iter().filter(|(_, since)| **since <= range.began);
        let (ordinal, _) = those.next().filter(|_| same.ended < range.began)?;
        those.next().is_none().then_some(*ordinal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_without_an_open_list_are_bounded() {
        let mut lists = OpenLists::default();
        let keys = |number: u64| ListedKeys { prefix: format!("/registry/pods/{number}/"), limit: 0 };
        let at = Timestamp::from_nanos;
        lists.open(&keys(0), 0, at(0));
        for number in 1..=3 * MOST_KEYS as u64 {
            lists.open(&keys(number), number, at(number));
            lists.close(&keys(number), number, at(number));
        }
        assert_eq!((lists.known.len(), lists.ended.len()), (MOST_KEYS + 1, MOST_KEYS));
        let range = EtcdRange { prefix: keys(0).prefix, limit: 0, began: at(5), ended: at(6) };
        assert_eq!(lists.only_one_in(&range), Some(0), "an open list is not forgotten");
    }
}
