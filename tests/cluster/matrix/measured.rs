//! Derives the layer of an answer from the changes of the server's counters and the revision in the answer.

use std::fmt;

use observer_tests::ReadCounters;

use super::row::Act;

/// The layer that answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measured {
    Cache,
    CacheConsistent,
    Snapshot,
    Etcd,
    /// Only the extension server.
    Proxied,
    /// No layer: the status of the answer.
    Refused {
        status: u16,
        etcd_touched: bool,
    },
    /// No layer: the code of an `ERROR` event in a watch with status 200.
    ErrorEvent {
        code: u16,
        etcd_touched: bool,
    },
}

/// The facts about one request from which the layer is derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) act: Act,
    pub(super) status: u16,
    /// The revision of a list.
    pub(super) revision: Option<u64>,
    /// The revision that the request names, if it names one; it is no longer current.
    pub(super) named: Option<u64>,
    /// The code of an `ERROR` event.
    pub(super) error: Option<u16>,
    pub(super) moved: ReadCounters,
    /// Requests that reached the extension server; `None` if there is none.
    pub(super) passed_on: Option<usize>,
}

/// The code of the error with which a watch ends if its events are no longer available, in the watch cache or in etcd.
const EXPIRED: u16 = 410;
/// The status when etcd cannot answer; the counters show whether etcd was asked.
const INTERNAL_ERROR: u16 = 500;

impl Seen {
    /// The layer that answered; `None` if no single layer moves the counters in this way.
    pub(super) fn measured(&self) -> Option<Measured> {
        let moved = self.moved;
        let asked = moved.etcd_gets + moved.revision_requests;
        let etcd_touched = asked + moved.etcd_lists + moved.watch_streams > 0;
        if let Some(passed_on) = self.passed_on {
            return (passed_on == 1 && moved == ReadCounters { watch_streams: moved.watch_streams, ..ReadCounters::default() })
                .then_some(Measured::Proxied);
        }
        let refused = (400..600).contains(&self.status) && !(self.status == INTERNAL_ERROR && moved.etcd_lists > 0);
        if refused && !(self.act == Act::Get && self.status == 404) {
            return Some(Measured::Refused { status: self.status, etcd_touched });
        }
        if let Some(code) = self.error.filter(|code| *code != EXPIRED) {
            return Some(Measured::ErrorEvent { code, etcd_touched });
        }
        match self.act {
            Act::Get => of_get(moved),
            Act::Watch => of_watch(moved, asked),
            Act::List | Act::DeleteCollection => self.of_list(asked),
        }
    }

    fn of_list(&self, asked: i64) -> Option<Measured> {
        let ReadCounters { cache_lists, storage_lists, etcd_lists, .. } = self.moved;
        match (cache_lists, etcd_lists, asked) {
            (0, 1.., _) => Some(Measured::Etcd),
            // A list of one object by name is a get of its key.
            (0, 0, 1) if storage_lists == 1 => Some(Measured::Etcd),
            (1, 0, 1) => Some(Measured::CacheConsistent),
            // Later writes are in the cache's present state, but not in this snapshot.
            (1, 0, 0) if self.named.is_some() && self.revision == self.named => Some(Measured::Snapshot),
            (1, 0, 0) => Some(Measured::Cache),
            _ => None,
        }
    }
}

fn of_get(moved: ReadCounters) -> Option<Measured> {
    match (moved.etcd_gets, moved.etcd_lists) {
        (1, 0) => Some(Measured::Etcd),
        (0, 0) => Some(Measured::Cache),
        _ => None,
    }
}

fn of_watch(moved: ReadCounters, asked: i64) -> Option<Measured> {
    match (moved.watch_streams, moved.etcd_lists, asked) {
        (1, _, _) => Some(Measured::Etcd),
        (0, 0, 1) => Some(Measured::CacheConsistent),
        (0, 0, 0) => Some(Measured::Cache),
        _ => None,
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = |touched: bool| if touched { " after asking etcd" } else { "" };
        match self {
            Self::Cache => formatter.write_str("cache"),
            Self::CacheConsistent => formatter.write_str("cache, consistent"),
            Self::Snapshot => formatter.write_str("snapshot"),
            Self::Etcd => formatter.write_str("etcd"),
            Self::Proxied => formatter.write_str("proxied"),
            Self::Refused { status, etcd_touched } => write!(formatter, "refused with {status}{}", after(*etcd_touched)),
            Self::ErrorEvent { code, etcd_touched } => write!(formatter, "ERROR event {code}{}", after(*etcd_touched)),
        }
    }
}

/// The changed counters, as in `C+1 S+1 g+1`.
pub(super) fn in_letters(moved: ReadCounters) -> String {
    let letters = [
        ("C", moved.cache_lists),
        ("S", moved.storage_lists),
        ("g", moved.etcd_gets),
        ("r", moved.revision_requests),
        ("l", moved.etcd_lists),
        ("w", moved.watch_streams),
    ];
    let moved: Vec<String> = letters.iter().filter(|(_, by)| *by != 0).map(|(letter, by)| format!("{letter}{by:+}")).collect();
    if moved.is_empty() { "none".to_owned() } else { moved.join(" ") }
}

#[test]
fn counters_distinguish_the_layers() {
    let quiet = ReadCounters::default();
    let seen = |act, moved| Seen { act, status: 200, revision: Some(9), named: None, error: None, moved, passed_on: None };
    let consistent = ReadCounters { cache_lists: 1, storage_lists: 1, etcd_gets: 1, ..quiet };
    let bulk = ReadCounters { storage_lists: 1, etcd_lists: 1, ..quiet };
    let cache = ReadCounters { cache_lists: 1, ..quiet };
    assert_eq!(seen(Act::List, consistent).measured(), Some(Measured::CacheConsistent));
    assert_eq!(seen(Act::List, bulk).measured(), Some(Measured::Etcd));
    assert_eq!(seen(Act::List, cache).measured(), Some(Measured::Cache));
    assert_eq!(Seen { named: Some(9), ..seen(Act::List, cache) }.measured(), Some(Measured::Snapshot));
    assert_eq!(Seen { named: Some(8), ..seen(Act::List, cache) }.measured(), Some(Measured::Cache));
    assert_eq!(seen(Act::List, quiet).measured(), None, "somebody must have answered");
    assert_eq!(seen(Act::List, ReadCounters { cache_lists: 2, ..quiet }).measured(), None, "somebody else listed, too");
    assert_eq!(seen(Act::Get, ReadCounters { etcd_gets: 1, ..quiet }).measured(), Some(Measured::Etcd));
    assert_eq!(seen(Act::Watch, ReadCounters { watch_streams: 1, ..bulk }).measured(), Some(Measured::Etcd));
    assert_eq!(seen(Act::Watch, quiet).measured(), Some(Measured::Cache));
    let refused = Seen { status: 429, ..seen(Act::List, ReadCounters { etcd_gets: 1, storage_lists: 1, ..quiet }) };
    assert_eq!(refused.measured(), Some(Measured::Refused { status: 429, etcd_touched: true }));
}
