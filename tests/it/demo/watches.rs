//! Watches: their initial events, the events that follow, and their ends.

use std::time::Duration;

use observer_demo::DemoConfig;

use super::place::{CONFIGMAPS, DemoFixture, events, names, revision, summary, until};

#[test]
fn watch_from_a_revision_delivers_later_changes() {
    let place = DemoFixture::start();
    let first = revision(&place.create("a"));
    place.touch("a", "changed");
    place.create("b");
    let watch = place.watch(&format!("resourceVersion={first}&timeoutSeconds=2"));
    place.client.raw("DELETE", &format!("{CONFIGMAPS}/a"), &[], b"").unwrap();
    let events = watch.join().unwrap();
    assert_eq!(summary(&events), ["MODIFIED a", "ADDED b", "DELETED a"]);
    assert!(revision(&events[2]["object"]) > revision(&events[1]["object"]), "a deletion has a revision of its own");
}

#[test]
fn selector_turns_changes_into_added_and_deleted_events() {
    let place = DemoFixture::start();
    let first = revision(&place.create("a"));
    let watch = place.watch(&format!("resourceVersion={first}&labelSelector=colour%3Dred&timeoutSeconds=2"));
    for colour in ["red", "blue"] {
        let patch = format!(r#"{{"metadata":{{"labels":{{"colour":"{colour}"}}}}}}"#);
        let headers = [("Content-Type", "application/merge-patch+json")];
        place.client.raw("PATCH", &format!("{CONFIGMAPS}/a"), &headers, patch.as_bytes()).unwrap().success().unwrap();
    }
    let events = watch.join().unwrap();
    assert_eq!(summary(&events), ["ADDED a", "DELETED a"]);
    assert_eq!(events[1]["object"]["metadata"]["labels"]["colour"], "red", "as it was last seen");
}

#[test]
fn initial_events_end_with_their_bookmark() {
    let place = DemoFixture::start();
    place.create("a");
    let last = revision(&place.create("b"));
    let query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1";
    let events = place.watch(query).join().unwrap();
    assert_eq!(summary(&events), ["ADDED a", "ADDED b", "BOOKMARK"]);
    assert_eq!(events[2]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
    assert_eq!(revision(&events[2]["object"]), last);
    let without_bookmarks = place.watch("timeoutSeconds=1").join().unwrap();
    assert_eq!(summary(&without_bookmarks), ["ADDED a", "ADDED b"], "the old way to begin");
}

#[test]
fn bookmarks_follow_the_demo_clock_until_they_are_dropped() {
    let place = DemoFixture::with(DemoConfig { speed: 120, ..DemoConfig::default() });
    let first = revision(&place.create("a"));
    let events = place.watch(&format!("resourceVersion={first}&allowWatchBookmarks=true&timeoutSeconds=3")).join().unwrap();
    assert!(events.len() >= 4, "one each half second: {}", events.len());
    assert!(events.iter().all(|event| event["type"] == "BOOKMARK"), "{:?}", summary(&events));
    place.handle().drop_bookmarks(Duration::from_mins(1));
    let silent = place.watch(&format!("resourceVersion={first}&allowWatchBookmarks=true&timeoutSeconds=2")).join().unwrap();
    assert!(silent.is_empty(), "{silent:?}");
}

#[test]
fn watch_older_than_the_event_window_gets_an_expired_event() {
    let place = DemoFixture::start();
    let first = revision(&place.create("a"));
    place.handle().expire_watches();
    let events = events(&place.get(&format!("{CONFIGMAPS}?watch=true&resourceVersion={first}&timeoutSeconds=5")));
    assert_eq!(summary(&events), ["ERROR"]);
    let status = &events[0]["object"];
    assert_eq!((&status["code"], &status["reason"]), (&410.into(), &"Expired".into()));
    assert!(status["message"].as_str().unwrap().starts_with(&format!("too old resource version: {first} (")), "{status}");
}

#[test]
fn events_resource_is_served_without_a_watch_cache() {
    let place = DemoFixture::start();
    let event = |name: &str| {
        let object = serde_json::json!({"metadata": {"name": name}, "involvedObject": {"namespace": "default"}});
        place.client.post("/api/v1/namespaces/default/events", &object).unwrap().success().unwrap().json().unwrap()
    };
    let first = revision(&event("one"));
    event("two");
    let before = place.counters("events");
    assert_eq!(names(&place.get("/api/v1/events?resourceVersion=0&limit=1")), ["one"], "the store honours the limit");
    let moved = place.counters("events") - before;
    assert_eq!((moved.cache_lists, moved.etcd_lists), (0, 1));
    let stream = events(&place.get(&format!("/api/v1/events?watch=true&resourceVersion={first}&timeoutSeconds=1")));
    assert_eq!(summary(&stream), ["ADDED two"]);
    place.handle().compact();
    let expired = events(&place.get(&format!("/api/v1/events?watch=true&resourceVersion={first}&timeoutSeconds=1")));
    assert_eq!(expired[0]["object"]["code"], 410);
}

#[test]
fn finished_watch_is_removed_from_the_open_watches() {
    let place = DemoFixture::start();
    place.watch("timeoutSeconds=1").join().unwrap();
    let handle = place.handle();
    until(|| handle.open_watches() == 0);
}
