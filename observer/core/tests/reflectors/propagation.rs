//! Writes of a client that return as events of its own watches.

use observer_core::observer::Limits;
use observer_core::reflector::PropagationRow;

use crate::script::play;

const INFORMER: &str = "
    0s a connects client=writer/1
    1s a1 GET /api/v1/pods?limit=500&resourceVersion=0
    1s a1 whole rv=10 x@5
    2s a2 GET /api/v1/pods?watch=1&resourceVersion=10
    2s a2 opens
";

#[test]
fn propagation_time_runs_from_response_to_event() {
    let rows = rows(
        "5s a3 PATCH /api/v1/namespaces/default/pods/x
        5s a3 written x@11
        5250ms a2 MODIFIED x@11
        6s a4 PUT /api/v1/namespaces/default/pods/x/status
        6s a4 written x@12
        6750ms a2 MODIFIED x@12",
    );
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((row.resource.as_str(), row.writes, row.before_answer), ("pods", 2, 0));
    assert!(row.median_us.abs_diff(250_000) < 5_000 && row.max_us.abs_diff(750_000) < 10_000, "{row:?}");
}

#[test]
fn event_before_the_response_counts_as_zero_time() {
    let rows = rows(
        "5s a3 POST /api/v1/namespaces/default/pods
        6s a2 ADDED y@11
        7s a3 written y@11",
    );
    let [row] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!((row.writes, row.before_answer, row.max_us), (1, 1, 0));
}

#[test]
fn foreign_refused_and_unwatched_writes_do_not_count() {
    let rows = rows(
        "3s b connects client=other/1
        5s b1 PATCH /api/v1/namespaces/default/pods/x
        5s b1 written x@11
        5s a2 MODIFIED x@11
        6s a3 PATCH /api/v1/namespaces/default/secrets/x
        6s a3 written x@12
        7s a2 MODIFIED x@12
        8s a4 PATCH /api/v1/namespaces/default/pods/x
        8s a4 refused 409 Conflict
        9s a2 MODIFIED x@13",
    );
    assert_eq!(rows, []);
}

#[test]
fn writes_without_an_event_are_forgotten() {
    let write = |number| format!("5s a{0} PATCH /api/v1/namespaces/default/secrets/x\n 5s a{0} written x@{0}\n", number * 2 + 101);
    let mut script: String = (0..1_000).map(write).collect();
    script += "6s a9 PATCH /api/v1/namespaces/default/pods/x\n 6s a9 written x@9000\n 7s a2 MODIFIED x@9000";
    assert_eq!(rows(&script).iter().map(|row| row.writes).collect::<Vec<_>>(), [1]);
}

fn rows(script: &str) -> Vec<PropagationRow> {
    play(&format!("{INFORMER}\n{script}"), Limits::default()).0.propagation
}
