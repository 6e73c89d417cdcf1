//! Tests of the watch cache and of the rules by which it answers.

use std::time::Duration;

use serde_json::json;

use super::layer::ListLayer::{Cache, CacheConsistent, Etcd, NotReady, Snapshot};
use super::watch_cache::TooOld;
use super::*;
use crate::options::{Parameters, Revision};
use crate::store::{Bounds, Store};

const PREFIX: &str = "/registry/pods/";
const FRESH: Duration = Duration::from_secs(75);
const READY: CacheState = CacheState { ready: true, revision: 100, oldest_snapshot: Some(50) };

/// The rows of the routing table for 1.34. The cache is at revision 100, and has snapshots from revision 50 on.
#[test]
fn lists_are_routed_as_in_1_34() {
    let token = |revision| crate::token::encode(revision, "a");
    let page = format!("limit=3&continue={}", token(Some(70)));
    let old_page = format!("limit=3&continue={}", token(Some(49)));
    let inconsistent_page = format!("limit=3&continue={}", token(None));
    for (query, expected) in [
        ("", CacheConsistent),
        ("limit=500", CacheConsistent),
        ("resourceVersion=0", Cache { not_older_than: 0 }),
        ("resourceVersion=0&limit=500", Cache { not_older_than: 0 }),
        ("resourceVersion=70", Cache { not_older_than: 70 }),
        ("resourceVersion=170", Cache { not_older_than: 170 }),
        ("resourceVersion=70&limit=3", Snapshot { revision: 70 }),
        ("resourceVersion=49&limit=3", Etcd),
        ("resourceVersion=170&limit=3", Snapshot { revision: 170 }),
        ("resourceVersion=70&resourceVersionMatch=Exact", Snapshot { revision: 70 }),
        ("resourceVersion=49&resourceVersionMatch=Exact", Etcd),
        ("resourceVersion=70&resourceVersionMatch=NotOlderThan&limit=3", Cache { not_older_than: 70 }),
        ("resourceVersion=0&resourceVersionMatch=NotOlderThan&limit=3", Cache { not_older_than: 0 }),
        (&page, Snapshot { revision: 70 }),
        (&old_page, Etcd),
        (&inconsistent_page, CacheConsistent),
    ] {
        assert_eq!(layer(query, true, Some(READY)), expected, "{query}");
    }
}

#[test]
fn one_object_at_an_exact_revision_is_read_from_the_store() {
    assert_eq!(layer("resourceVersion=70&resourceVersionMatch=Exact", false, Some(READY)), Etcd);
    assert_eq!(layer("resourceVersion=70&limit=1", false, Some(READY)), Etcd);
    assert_eq!(layer("", false, Some(READY)), CacheConsistent);
    assert_eq!(layer("resourceVersion=70", false, Some(READY)), Cache { not_older_than: 70 });
}

#[test]
fn resource_without_cache_is_read_from_the_store() {
    for query in ["", "resourceVersion=0", "resourceVersion=70", "limit=3"] {
        assert_eq!(layer(query, true, None), Etcd, "{query}");
    }
    assert_eq!(of_get(Revision::Any, None), GetLayer::Etcd);
}

#[test]
fn initializing_cache_refuses_requests_not_delegated_to_the_store() {
    let filling = CacheState { ready: false, revision: 0, oldest_snapshot: None };
    for (query, expected) in [
        ("", NotReady),
        ("limit=500", Etcd),
        ("resourceVersion=0", NotReady),
        ("resourceVersion=0&limit=500", Etcd),
        ("resourceVersion=0&limit=500&labelSelector=a", NotReady),
        ("resourceVersion=70", NotReady),
    ] {
        assert_eq!(layer(query, true, Some(filling)), expected, "{query}");
    }
    assert_eq!(of_get(Revision::At(7), Some(filling)), GetLayer::Etcd);
}

#[test]
fn gets_come_from_the_cache_only_when_they_name_a_revision() {
    assert_eq!(of_get(Revision::Unset, Some(READY)), GetLayer::Etcd);
    assert_eq!(of_get(Revision::Any, Some(READY)), GetLayer::Cache { not_older_than: 0 });
    assert_eq!(of_get(Revision::At(170), Some(READY)), GetLayer::Cache { not_older_than: 170 });
}

#[test]
fn invalid_parameter_combinations_are_refused() {
    for (query, code) in [
        ("resourceVersionMatch=Exact", 422),
        ("resourceVersion=0&resourceVersionMatch=Exact", 422),
        ("resourceVersion=5&resourceVersionMatch=Newest", 422),
        ("sendInitialEvents=false", 422),
        ("resourceVersion=0&resourceVersionMatch=NotOlderThan&continue=x", 422),
        ("resourceVersion=five", 400),
        ("continue=rubbish", 400),
        (&format!("resourceVersion=5&continue={}", crate::token::encode(Some(5), "a")), 400),
    ] {
        assert_eq!(Parameters::parse(query).unwrap().list(true, false).unwrap_err().code, code, "{query}");
    }
    for query in ["limit=ten", "labelSelector=a%20in", "fieldSelector=a"] {
        assert_eq!(Parameters::parse(query).unwrap_err().code, 400, "{query}");
    }
    for query in ["resourceVersionMatch=NotOlderThan", "sendInitialEvents=true", "resourceVersion=5&sendInitialEvents=true"] {
        assert_eq!(Parameters::parse(query).unwrap().watch(true).unwrap_err().code, 422, "{query}");
    }
}

#[test]
fn legacy_watch_gets_initial_events() {
    for (query, expected) in
        [("watch=1", Some(true)), ("watch=1&resourceVersion=0", Some(true)), ("watch=1&resourceVersion=5", None)]
    {
        let mut parameters = Parameters::parse(query).unwrap();
        parameters.watch(true).unwrap();
        assert_eq!(parameters.send_initial_events, expected, "{query}");
    }
}

#[test]
fn snapshots_cover_every_revision_since_the_cache_was_filled() {
    let (mut cache, mut store) = filled(2);
    let first = store.revision();
    write(&mut cache, &mut store, "x", 0);
    write(&mut cache, &mut store, "y", 0);
    let names = |cache: &WatchCache, revision| {
        cache.snapshot(PREFIX, "", revision).map(|entries| entries.map(|entry| entry.object.name().to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(names(&cache, first).unwrap(), ["0", "1"]);
    assert_eq!(names(&cache, first + 1).unwrap(), ["0", "1", "x"]);
    assert_eq!(names(&cache, first + 2).unwrap(), ["0", "1", "x", "y"]);
    assert_eq!(names(&cache, first - 1), None);
    cache.compact(first + 1);
    assert_eq!(names(&cache, first), None);
    assert_eq!(cache.state().oldest_snapshot, Some(first + 1));
}

#[test]
fn quiet_ring_keeps_its_capacity_and_busy_ring_grows() {
    let (mut cache, mut store) = filled(1);
    let first = store.revision();
    for second in 0..150 {
        write(&mut cache, &mut store, "x", second);
    }
    assert_eq!(cache.capacity(), 100, "an event a second: the oldest of a hundred is older than the window");
    assert!(cache.events_since(first).is_err_and(|too_old| too_old.oldest == first + 50));
    let (mut cache, mut store) = filled(1);
    for _ in 0..150 {
        write(&mut cache, &mut store, "x", 0);
    }
    assert_eq!(cache.capacity(), 200);
    assert_eq!(cache.events_since(store.revision() - 150).unwrap().count(), 150);
}

#[test]
fn watch_below_the_initial_list_is_too_old() {
    let (mut cache, mut store) = filled(3);
    let first = store.revision();
    assert_eq!(cache.events_since(first - 1).map(Iterator::count), Err(TooOld { oldest: first }));
    write(&mut cache, &mut store, "x", 0);
    assert_eq!(cache.events_since(first).unwrap().count(), 1);
    assert_eq!(cache.events_since(first + 9).unwrap().count(), 0, "the future has no events yet");
}

#[track_caller]
fn layer(query: &str, recursive: bool, cache: Option<CacheState>) -> ListLayer {
    let parameters = Parameters::parse(query).unwrap();
    of_list(&parameters.list(recursive, !parameters.labels.is_empty()).unwrap(), cache)
}

fn filled(objects: usize) -> (WatchCache, Store) {
    let mut store = Store::new(Bounds { objects: 1000, bytes: 1_000_000, changes: 1000 });
    for number in 0..objects {
        store.put(&format!("{PREFIX}n/{number}"), 0, json!({"metadata": {"name": number.to_string()}})).unwrap();
    }
    let cache = WatchCache::filled(store.range(PREFIX, "", store.revision()).unwrap(), store.revision(), FRESH);
    (cache, store)
}

/// Writes an object at a second of the demo's clock.
fn write(cache: &mut WatchCache, store: &mut Store, name: &str, second: u64) {
    let key = format!("{PREFIX}n/{name}");
    let present = store.get(&key).map_or(0, |object| object.revision());
    let change = store.put(&key, present, json!({"metadata": {"name": name}})).unwrap();
    cache.apply(change, Duration::from_secs(second));
}
