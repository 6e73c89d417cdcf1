//! Lists and gets of the demo server.

use observer_demo::{DemoConfig, DemoError, DemoServer};
use observer_tests::{Client, ListCounters};

use super::place::{CONFIGMAPS, DemoFixture, names, revision};

#[test]
fn later_pages_share_one_snapshot_without_an_etcd_list() {
    let place = DemoFixture::start();
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
fn list_at_rv_0_ignores_the_limit_and_may_be_stale() {
    let place = DemoFixture::start();
    let made = revision(&place.create("a"));
    place.handle().write_own();
    let any = place.get(&format!("{CONFIGMAPS}?resourceVersion=0&limit=1")).json().unwrap();
    assert_eq!((revision(&any), any["metadata"].get("continue")), (made, None), "the cache heard of nothing since");
    let consistent = place.get(CONFIGMAPS).json().unwrap();
    assert_eq!(revision(&consistent), made + 1);
}

#[test]
fn compacted_page_returns_410_with_a_token_for_the_rest() {
    let place = DemoFixture::start();
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
fn too_large_resource_version_gets_504_with_retry_after() {
    let place = DemoFixture::start();
    let late = place.get(&format!("{CONFIGMAPS}?resourceVersion=999999"));
    let status = late.json().unwrap();
    assert_eq!((late.status, late.headers["retry-after"].to_str().unwrap()), (504, "1"));
    assert_eq!(status["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
    assert_eq!(status["details"]["retryAfterSeconds"], 1);
    assert!(status["message"].as_str().unwrap().starts_with("Timeout: Too large resource version: 999999, current: "), "{status}");
}

#[test]
fn unknown_tokens_and_public_addresses_are_refused() {
    let place = DemoFixture::start();
    let stranger = Client::of_server(&format!("https://{}", place.server.address()), place.server.ca_pem(), "guessed").unwrap();
    assert_eq!(stranger.raw("GET", CONFIGMAPS, &[], b"").unwrap().status, 401);
    assert_eq!(stranger.raw("GET", "/readyz", &[], b"").unwrap().text(), "ok");
    let everywhere = DemoConfig { address: "0.0.0.0:0".parse().unwrap(), ..DemoConfig::default() };
    assert!(matches!(DemoServer::start(everywhere), Err(DemoError::NotLoopback(_))));
}

#[test]
fn debug_output_hides_the_token() {
    let place = DemoFixture::start();
    let shown = format!("{:?} {:?}", place.server, place.handle());
    assert!(!shown.contains(place.server.token()), "{shown}");
}
