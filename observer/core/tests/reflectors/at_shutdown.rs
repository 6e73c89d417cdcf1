//! A report describes the state at the shutdown request, without the effects of the shutdown on the clients.

use observer_core::observer::{Limits, Snapshot};
use observer_core::reflector::ReflectorState;

use crate::script::play;

const WATCHED: &str = "0s server v1.34.4\n0s a connects client=c/v1\n\
     0s a1 GET /api/v1/pods?limit=500&resourceVersion=0\n0s a1 whole rv=10 x@5 y@6\n\
     0s a3 GET /api/v1/pods?resourceVersion=10&watch=true\n0s a3 opens\n\
     0s b connects client=d/v1\n0s b1 GET /api/v1/secrets?limit=500&resourceVersion=0\n0s b1 whole rv=20 s@20\n";

#[test]
fn shutdown_request_fixes_the_state_but_not_the_counts() {
    let snapshot = snapshot(
        "9s shutdown\n10s b3 GET /api/v1/secrets\n10s b3 whole rv=21 s@21\n11s a closed by client\n11s b closed by client",
    );
    let [pods, secrets] = &snapshot.reflectors[..] else { panic!("{:?}", snapshot.reflectors) };
    assert_eq!((pods.state, pods.client_left, pods.behind_store), (ReflectorState::Watching, false, Some(10)));
    assert_eq!((secrets.client_left, secrets.list_requests, snapshot.totals.lists), (false, 2, 3));
    assert_eq!((snapshot.exposure.watching, snapshot.exposure.reflectors), (1, 1), "{:?}", snapshot.exposure);
    assert!(snapshot.shutdown_requested.is_some_and(|at| at < snapshot.at));
}

#[test]
fn client_that_left_just_before_shutdown_is_not_gone() {
    for (end, left) in [("8s a closed by client\n9s shutdown", false), ("5s a closed by client\n9s shutdown", true)] {
        let snapshot = snapshot(end);
        let pods = &snapshot.reflectors[0];
        assert_eq!(pods.client_left, left, "{end}");
        assert_eq!(pods.state, if left { ReflectorState::Waiting } else { ReflectorState::Watching }, "{end}");
    }
}

#[test]
fn continued_run_uses_the_state_of_the_next_shutdown_request() {
    let again = snapshot("1s shutdown\n20s a3 MODIFIED x@30\n30s shutdown\n31s a closed by client");
    assert_eq!(again.reflectors[0].state, ReflectorState::Watching);
    assert_eq!(again.shutdown_requested, snapshot("30s shutdown").shutdown_requested);
    let same = snapshot("1s shutdown\n4s shutdown\n4s a closed by client");
    assert_eq!(same.shutdown_requested, snapshot("1s shutdown").shutdown_requested);
}

#[test]
fn capture_without_a_shutdown_request_uses_its_end_state() {
    let snapshot = snapshot("9s a closed by client");
    assert_eq!((snapshot.reflectors[0].client_left, snapshot.shutdown_requested), (true, None));
}

fn snapshot(end: &str) -> Snapshot {
    play(&format!("{WATCHED}{end}"), Limits::default()).0
}
