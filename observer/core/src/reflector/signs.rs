//! Evidence that a resource changed: bookmarks and objects that clients got recently. It proves that a watch that got nothing is deaf.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde::Serialize;

use crate::exchange::Exchange;
use crate::k8s::{ResourceVersion, Verb};
use crate::observation::Body;
use crate::routing::{ServedFrom, Verdict};
use crate::thresholds::{BOOKMARK_DUE, WAIT_FOR_CACHE};
use crate::time::Timestamp;
use crate::wire::{EventType, ObjectRef};

/// Bound for the namespaces of one resource whose changes are kept apart. Changes elsewhere prove nothing about a watch of one
/// namespace.
const MAX_NAMESPACES: usize = 64;

/// Something that a client got of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "sign")]
pub enum Sign {
    /// A bookmark of another watch.
    Bookmark {
        /// When it arrived.
        at: Timestamp,
    },
    /// A newer object: in an event of another watch, in a list, or in the answer to a write.
    Change {
        /// When it arrived.
        at: Timestamp,
        /// The `resourceVersion` of that object.
        revision: u64,
        /// The layer that it came from.
        source: ChangeSource,
    },
}

/// The layer that a newer object came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeSource {
    /// The watch cache, or another watch: other watches of the resource should deliver it, too.
    Watches,
    /// etcd, in a list or as the answer to a write. Watches do not deliver it while the watch cache lags.
    Etcd,
}

impl ChangeSource {
    /// The source of the objects in the response of `exchange`.
    pub(super) fn of(exchange: &Exchange) -> Self {
        let verdict = exchange.verdict.as_ref();
        let is_from_etcd = verdict.is_some_and(|verdict| verdict.served_from == ServedFrom::Etcd);
        // A watch without a watch cache is all that another watch could get.
        if exchange.verb() == Some(Verb::Watch) && (!is_from_etcd || verdict.is_some_and(Verdict::is_of_uncached_resource)) {
            return Self::Watches;
        }
        let waited = exchange.response.as_ref().map(|(at, _)| at.since(exchange.started));
        match verdict.map(|verdict| &verdict.served_from) {
            Some(ServedFrom::Cache | ServedFrom::Snapshot) => Self::Watches,
            // After this wait, the API server reads etcd.
            Some(ServedFrom::CacheConsistent) if waited.is_some_and(|waited| waited < WAIT_FOR_CACHE) => Self::Watches,
            Some(
                ServedFrom::CacheConsistent
                | ServedFrom::Etcd
                | ServedFrom::Proxied
                | ServedFrom::Rejected { .. }
                | ServedFrom::Unknown { .. },
            )
            | None => Self::Etcd,
        }
    }
}

/// The latest signs of one resource.
#[derive(Clone, Debug, Default)]
pub(super) struct Signs {
    bookmarks: Latest,
    changes: Changes,
    in_namespace: BTreeMap<String, Changes>,
}

/// The latest objects that were newer than all objects before them, by source.
#[derive(Clone, Debug, Default)]
struct Changes {
    of_watches: Latest,
    of_etcd: Latest,
}

/// The facts about a silent watch that decide which signs prove it deaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silent<'w> {
    /// The namespace of its objects; empty for all objects.
    pub namespace: &'w str,
    /// When it last delivered something. Earlier signs prove nothing.
    pub since: Timestamp,
    /// Its revision. Older objects prove nothing.
    pub revision: Option<u64>,
    /// Whether the server sends it bookmarks.
    pub gets_bookmarks: bool,
    /// Whether it may exclude objects of the resource.
    pub is_selective: bool,
}

impl Signs {
    /// Notes a decoded part of a body.
    pub(super) fn note(&mut self, at: Timestamp, body: &Body, source: ChangeSource) {
        match body {
            Body::Events(events) => {
                for event in events {
                    match event.event_type {
                        EventType::Bookmark if event.initial_events_end => {}
                        EventType::Bookmark => self.bookmarks.note(at, 0),
                        EventType::Added | EventType::Modified | EventType::Deleted | EventType::Unknown => {
                            self.note_object(at, &event.object, source);
                        }
                        EventType::Error => {}
                    }
                }
            }
            Body::Items(items) => items.iter().for_each(|item| self.note_object(at, item, source)),
            Body::Object(_) | Body::MediaType(_) | Body::Kind(_) | Body::List(_) | Body::Status(_) | Body::Version(_) => {}
        }
    }

    /// Notes an object that a client got. It is a sign only if it is newer than those before.
    pub(super) fn note_object(&mut self, at: Timestamp, object: &ObjectRef, source: ChangeSource) {
        let Some(revision) = ResourceVersion::number(&object.resource_version) else { return };
        self.changes.of(source).note_newer(at, revision);
        if object.namespace.is_empty() {
            return;
        }
        if let Some(changes) = self.in_namespace.get_mut(&object.namespace) {
            changes.of(source).note_newer(at, revision);
        } else if self.in_namespace.len() < MAX_NAMESPACES {
            let mut changes = Changes::default();
            changes.of(source).note(at, revision);
            self.in_namespace.insert(object.namespace.clone(), changes);
        }
    }

    /// A sign at least as old as `age` at `now` that proves a silent watch deaf.
    pub(super) fn proof(&self, silent: Silent<'_>, now: Timestamp, age: Duration) -> Option<Sign> {
        let is_proof = |at: Timestamp| at > silent.since && now.since(at) >= age;
        let changes = if silent.namespace.is_empty() { Some(&self.changes) } else { self.in_namespace.get(silent.namespace) };
        let newer = |revision: u64| silent.revision.is_none_or(|own| revision > own);
        let change = changes.and_then(|changes| changes.find(|at, revision| is_proof(at) && newer(revision)));
        let is_due = |at: Timestamp| is_proof(at) && at.since(silent.since) >= BOOKMARK_DUE;
        let bookmark = self.bookmarks.find(|at, _| is_due(at)).filter(|_| silent.gets_bookmarks);
        let bookmark = bookmark.map(|(at, _)| Sign::Bookmark { at });
        // A bookmark proves more than a change that a selector may exclude, or that watches may not deliver yet.
        let is_weak = silent.is_selective || matches!(change, Some(Sign::Change { source: ChangeSource::Etcd, .. }));
        if is_weak { bookmark.or(change) } else { change.or(bookmark) }
    }
}

impl Changes {
    const fn of(&mut self, source: ChangeSource) -> &mut Latest {
        match source {
            ChangeSource::Watches => &mut self.of_watches,
            ChangeSource::Etcd => &mut self.of_etcd,
        }
    }

    /// The earliest change for which `is_it` holds. A change that watches delivered comes first: it is stronger evidence than a change
    /// that was read from etcd.
    fn find(&self, is_it: impl Fn(Timestamp, u64) -> bool) -> Option<Sign> {
        let sign = |source| move |(at, revision)| Sign::Change { at, revision, source };
        let of_watches = self.of_watches.find(&is_it).map(sign(ChangeSource::Watches));
        of_watches.or_else(|| self.of_etcd.find(&is_it).map(sign(ChangeSource::Etcd)))
    }
}

/// The latest times of one kind of sign: the last one, and earlier ones that are some time apart.
#[derive(Clone, Debug, Default)]
struct Latest(VecDeque<(Timestamp, u64)>);

impl Latest {
    const KEPT: usize = 8;
    const APART: Duration = Duration::from_secs(30);

    fn note_newer(&mut self, at: Timestamp, revision: u64) {
        if self.0.back().is_none_or(|(_, last)| revision > *last) {
            self.note(at, revision);
        }
    }

    fn note(&mut self, at: Timestamp, revision: u64) {
        let before = self.0.iter().rev().nth(1).map(|(at, _)| *at);
        if let Some(last) = self.0.back_mut().filter(|(last, _)| before.is_some_and(|before| last.since(before) < Self::APART)) {
            *last = (at, revision);
            return;
        }
        if self.0.len() >= Self::KEPT {
            self.0.pop_front();
        }
        self.0.push_back((at, revision));
    }

    /// The earliest entry for which `is_it` holds.
    fn find(&self, is_it: impl Fn(Timestamp, u64) -> bool) -> Option<(Timestamp, u64)> {
        self.0.iter().copied().find(|(at, revision)| is_it(*at, *revision))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_sign_and_spaced_earlier_ones_are_kept() {
        let mut latest = Latest::default();
        (0..=400).for_each(|second| latest.note(at(second), second));
        let kept: Vec<u64> = latest.0.iter().map(|(_, revision)| *revision).collect();
        assert_eq!(kept.len(), Latest::KEPT);
        assert_eq!(kept.last(), Some(&400));
        assert!(kept.windows(2).rev().skip(1).all(|pair| pair[1] - pair[0] >= 30), "{kept:?}");
        assert!(kept[0] <= 400 - 6 * 30, "{kept:?}");
    }

    #[test]
    fn namespaces_are_bounded_and_kept_apart() {
        let mut signs = Signs::default();
        for number in 0..2 * MAX_NAMESPACES {
            signs.note_object(at(10), &object(&format!("n{number}"), 7), ChangeSource::Watches);
        }
        assert_eq!(signs.in_namespace.len(), MAX_NAMESPACES);
        let proof = |namespace| {
            let silent = Silent { namespace, since: at(1), revision: Some(5), gets_bookmarks: true, is_selective: false };
            signs.proof(silent, at(100), Duration::from_mins(1))
        };
        assert_eq!(proof("n1"), Some(Sign::Change { at: at(10), revision: 7, source: ChangeSource::Watches }));
        assert_eq!((proof("other"), proof("")), (None, proof("n1")));
    }

    #[test]
    fn old_objects_late_signs_and_unasked_bookmarks_prove_nothing() {
        let mut signs = Signs::default();
        signs.note_object(at(50), &object("n", 7), ChangeSource::Etcd);
        signs.bookmarks.note(at(95), 0);
        let silent = Silent { namespace: "", since: at(1), revision: Some(7), gets_bookmarks: false, is_selective: false };
        let proof = |silent, now| signs.proof(silent, at(now), Duration::from_mins(1));
        assert_eq!(proof(silent, 200), None);
        assert_eq!(proof(Silent { revision: Some(6), ..silent }, 109), None, "the sign is too recent");
        assert_eq!(proof(Silent { revision: Some(6), since: at(50), ..silent }, 200), None, "it got this itself");
        assert_eq!(proof(Silent { gets_bookmarks: true, ..silent }, 200), Some(Sign::Bookmark { at: at(95) }));
        assert_eq!(proof(Silent { gets_bookmarks: true, since: at(10), ..silent }, 200), None, "its own is not due yet");
    }

    #[test]
    fn change_that_watches_deliver_proves_more_than_one_from_etcd() {
        let mut signs = Signs::default();
        signs.note_object(at(20), &object("n", 7), ChangeSource::Etcd);
        let silent = Silent { namespace: "", since: at(1), revision: Some(5), gets_bookmarks: true, is_selective: false };
        let proof = |signs: &Signs| signs.proof(silent, at(200), Duration::from_mins(1));
        assert_eq!(proof(&signs), Some(Sign::Change { at: at(20), revision: 7, source: ChangeSource::Etcd }));
        signs.note_object(at(30), &object("n", 6), ChangeSource::Watches);
        assert_eq!(proof(&signs), Some(Sign::Change { at: at(30), revision: 6, source: ChangeSource::Watches }));
    }

    fn object(namespace: &str, revision: u64) -> ObjectRef {
        ObjectRef { namespace: namespace.to_owned(), resource_version: revision.to_string(), ..ObjectRef::default() }
    }

    fn at(second: u64) -> Timestamp {
        Timestamp::from_nanos(second * 1_000_000_000)
    }
}
