//! Injected faults of the demo server.

use std::net::TcpStream;
use std::time::Duration;

use observer_demo::{DemoConfig, FaultAnswer};
use observer_tests::ListCounters;

use super::place::{CONFIGMAPS, DemoFixture, events, names, revision, summary, until};

#[test]
fn restart_refuses_clients_ends_watches_and_keeps_objects() {
    let place = DemoFixture::start();
    let first = revision(&place.create("a"));
    let watch = place.watch(&format!("resourceVersion={first}&timeoutSeconds=60"));
    let address = place.server.address();
    let restart = place.handle().restart(Duration::from_secs(1));
    assert!(watch.join().unwrap().is_empty(), "the stream ends cleanly");
    until(|| TcpStream::connect(address).is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused));
    restart.blocking_recv().unwrap();
    assert_eq!(names(&place.get(CONFIGMAPS)), ["a"]);
    let resumed = events(&place.get(&format!("{CONFIGMAPS}?watch=true&resourceVersion={first}&timeoutSeconds=1")));
    assert!(resumed.is_empty(), "nothing was written since: {resumed:?}");
}

#[test]
fn resumed_watch_expires_if_a_restart_followed_a_write() {
    let place = DemoFixture::start();
    let first = revision(&place.create("a"));
    place.handle().write_own();
    place.handle().restart(Duration::ZERO).blocking_recv().unwrap();
    let resumed = events(&place.get(&format!("{CONFIGMAPS}?watch=true&resourceVersion={first}&timeoutSeconds=1")));
    assert_eq!(summary(&resumed), ["ERROR"]);
}

#[test]
fn stalled_cache_falls_back_to_the_store_after_three_seconds() {
    let place = DemoFixture::start();
    place.create("a");
    place.handle().stall_caches();
    place.create("b");
    let before = place.counters("configmaps");
    assert_eq!(names(&place.get(&format!("{CONFIGMAPS}?resourceVersion=0"))), ["a"], "the cache has not heard of it");
    assert_eq!(names(&place.get(CONFIGMAPS)), ["a", "b"]);
    let moved = place.counters("configmaps") - before;
    // Two storage lists: one for the revision, one for the objects.
    assert_eq!(moved, ListCounters { cache_lists: 1, storage_lists: 2, etcd_gets: 1, etcd_lists: 1, consistent_reads: 0 });
    place.handle().resume_caches();
    assert_eq!(names(&place.get(&format!("{CONFIGMAPS}?resourceVersion=0"))), ["a", "b"]);
}

#[test]
fn injected_refusals_last_for_their_configured_time() {
    let place = DemoFixture::start();
    for (answer, status) in
        [(FaultAnswer::TooManyRequests, 429), (FaultAnswer::GatewayTimeout, 504), (FaultAnswer::ServiceUnavailable, 503)]
    {
        place.handle().answer_with(answer, Duration::from_mins(1));
        assert_eq!(place.get(CONFIGMAPS).status, status);
    }
    place.handle().answer_with(FaultAnswer::TooManyRequests, Duration::from_millis(300));
    until(|| place.get(CONFIGMAPS).status == 200);
}

#[test]
fn cache_that_is_not_ready_answers_429_with_retry_after() {
    let place = DemoFixture::start();
    place.create("a");
    place.handle().set_caches_ready(false);
    let refused = place.get(CONFIGMAPS);
    assert_eq!((refused.status, refused.headers["retry-after"].to_str().unwrap()), (429, "1"));
    assert_eq!(place.get(&format!("{CONFIGMAPS}?limit=500")).status, 200, "the store takes it over");
    assert_eq!(place.get(&format!("{CONFIGMAPS}?watch=true&timeoutSeconds=1")).status, 429);
    place.handle().set_caches_ready(true);
    assert_eq!(place.get(CONFIGMAPS).status, 200);
}

#[test]
fn restored_store_refuses_revisions_newer_than_the_backup() {
    let place = DemoFixture::with(DemoConfig { speed: 10, ..DemoConfig::default() });
    place.create("kept");
    let saved = place.handle().revision();
    place.handle().back_up();
    let lost = revision(&place.create("lost"));
    assert_eq!(place.handle().restore(Duration::ZERO).blocking_recv(), Ok(()));
    assert_eq!((names(&place.get(CONFIGMAPS)), place.handle().revision()), (vec!["kept".to_owned()], saved));
    let refused = place.get(&format!("{CONFIGMAPS}?resourceVersion={lost}"));
    assert_eq!(refused.status, 504, "{}", refused.text());
    assert!(refused.text().contains("ResourceVersionTooLarge"), "{}", refused.text());
    assert_eq!(revision(&place.create("other")), lost, "the revision is given a second time");
    assert_eq!(names(&place.get(&format!("{CONFIGMAPS}?resourceVersion={lost}"))), ["kept", "other"]);
}
