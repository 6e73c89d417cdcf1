//! Lists and gets of the demo server.

use observer_demo::{DemoConfig, DemoError, DemoServer};
use observer_tests::{Client, ListCounters};

use super::place::{CONFIGMAPS, Place, names, revision};

#[test]
fn pages_of_a_list_are_one_state_and_come_without_a_read_of_the_store() {
    let place = Place::start();
    let [.., newest] = ["a", "b", "c", "d", "e"].map(|name| revision(&place.create(name)));
    let before = place.counters("configmaps");
    let first = place.get(&format!("{CONFIGMAPS}?limit=2"));
    place.create("aa");
    let list = first.json().unwrap();
    assert_eq!((names(&first), list["metadata"]["remainingItemCount"].as_u64()), (vec!["a".to_owned(), "b".to_owned()], Some(3)));
    let next = format!("{CONFIGMAPS}?limit=3&continue={}", list["metadata"]["continue"].as_str().unwrap());
    let second = place.get(&next);
    assert_eq!(names(&second), ["c", "d", "e"], "the later one is no part of it");
    assert_eq!(revision(&second.json().unwrap()), newest);
    let expected = ListCounters { cache_lists: 2, storage_lists: 1, etcd_gets: 1, etcd_lists: 0, consistent_reads: 1 };
    assert_eq!(place.counters("configmaps") - before, expected);
}

#[test]
fn list_of_any_state_ignores_the_limit_and_may_be_old() {
    let place = Place::start();
    let made = revision(&place.create("a"));
    place.handle().write_own();
    let any = place.get(&format!("{CONFIGMAPS}?resourceVersion=0&limit=1")).json().unwrap();
    assert_eq!((revision(&any), any["metadata"].get("continue")), (made, None), "the cache heard of nothing since");
    let consistent = place.get(CONFIGMAPS).json().unwrap();
    assert_eq!(revision(&consistent), made + 1);
}

#[test]
fn page_that_was_compacted_away_brings_a_token_for_the_rest() {
    let place = Place::start();
    for name in ["a", "b", "c"] {
        place.create(name);
    }
    let first = place.get(&format!("{CONFIGMAPS}?limit=2")).json().unwrap();
    place.create("d");
    place.handle().compact();
    let expired = place.get(&format!("{CONFIGMAPS}?limit=2&continue={}", first["metadata"]["continue"].as_str().unwrap()));
    let status = expired.json().unwrap();
    assert_eq!((expired.status, &status["reason"]), (410, &"Expired".into()));
    let rest = place.get(&format!("{CONFIGMAPS}?limit=2&continue={}", status["metadata"]["continue"].as_str().unwrap()));
    assert_eq!(names(&rest), ["c", "d"], "from the present state");
    let exact = place.get(&format!("{CONFIGMAPS}?resourceVersion=3&resourceVersionMatch=Exact"));
    assert_eq!((exact.status, &exact.json().unwrap()["reason"]), (410, &"Expired".into()));
}

#[test]
fn too_large_revision_is_a_504_that_says_when_to_come_back() {
    let place = Place::start();
    let late = place.get(&format!("{CONFIGMAPS}?resourceVersion=999999"));
    let status = late.json().unwrap();
    assert_eq!((late.status, late.headers["retry-after"].to_str().unwrap()), (504, "1"));
    assert_eq!(status["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
    assert_eq!(status["details"]["retryAfterSeconds"], 1);
    assert!(status["message"].as_str().unwrap().starts_with("Timeout: Too large resource version: 999999, current: "), "{status}");
}

#[test]
fn strangers_are_refused() {
    let place = Place::start();
    let stranger = Client::of_server(&format!("https://{}", place.server.address()), place.server.ca_pem(), "guessed").unwrap();
    assert_eq!(stranger.raw("GET", CONFIGMAPS, &[], b"").unwrap().status, 401);
    assert_eq!(stranger.raw("GET", "/readyz", &[], b"").unwrap().text(), "ok");
    let everywhere = DemoConfig { address: "0.0.0.0:0".parse().unwrap(), ..DemoConfig::default() };
    assert!(matches!(DemoServer::start(everywhere), Err(DemoError::NotLoopback(_))));
}

#[test]
fn nothing_secret_is_in_debug_output() {
    let place = Place::start();
    let shown = format!("{:?} {:?}", place.server, place.handle());
    assert!(!shown.contains(place.server.token()), "{shown}");
}
