//! Clients that do not read their watches.

use expect_test::expect;
use observer_core::observer::{FindingKind, Limits};
use observer_core::reflector::ReflectorState;

use crate::script::{check, play};

const INFORMER: &str = "
    0s a connects client=slow/1
    1s a1 GET /api/v1/pods?limit=500&resourceVersion=0
    1s a1 whole rv=10 x@5
    2s a2 GET /api/v1/pods?watch=1&resourceVersion=10&allowWatchBookmarks=true&timeoutSeconds=400
    2s a2 opens
";

#[test]
fn stall_is_reported_after_a_second_and_when_it_is_over() {
    check(
        &format!("{INFORMER} 10s a2 blocked\n 12s a2 unblocked\n 20s a2 MODIFIED x@11"),
        &expect![[r"
        1s initial-list #1 requests=1 items=1 known=0/1
        12s stalled #1 by flow-control window of the stream
        12s reads again #1 after 2s
        #1 client 1 pods · all namespaces watching rv=11 lists=1 watches=1 resumes=0 relists=0 known=0/2
    "]],
    );
}

#[test]
fn short_flow_control_waits_are_not_stalls() {
    check(
        &format!("{INFORMER} 10s a2 blocked\n 10s a2 unblocked\n 11s a2 blocked\n 11s a2 unblocked"),
        &expect![[r"
        1s initial-list #1 requests=1 items=1 known=0/1
        #1 client 1 pods · all namespaces watching rv=10 lists=1 watches=1 resumes=0 relists=0 known=0/1
    "]],
    );
}

#[test]
fn blocked_socket_stalls_all_watches_and_blocked_stream_only_one() {
    let second = "
        3s a3 GET /api/v1/secrets?limit=500&resourceVersion=0
        3s a3 whole rv=10 s@5
        4s a4 GET /api/v1/secrets?watch=1&resourceVersion=10&allowWatchBookmarks=true
        4s a4 opens
    ";
    check(
        &format!("{INFORMER}{second} 10s a blocked\n 15s a unblocked\n 20s a4 blocked\n 25s a4 unblocked"),
        &expect![[r"
        1s initial-list #1 requests=1 items=1 known=0/1
        3s initial-list #2 requests=1 items=1 known=0/1
        15s stalled #1 by socket
        15s stalled #2 by socket
        15s reads again #1 after 5s
        15s reads again #2 after 5s
        25s stalled #2 by flow-control window of the stream
        25s reads again #2 after 5s
        #1 client 1 pods · all namespaces watching rv=10 lists=1 watches=1 resumes=0 relists=0 known=0/1
        #2 client 1 secrets · all namespaces watching rv=10 lists=1 watches=1 resumes=0 relists=0 known=0/1
    "]],
    );
}

#[test]
fn watch_opened_on_a_blocked_connection_stalls_immediately() {
    let second = "
        11s a3 GET /api/v1/secrets?watch=1&resourceVersion=10&allowWatchBookmarks=true
        11s a3 opens
    ";
    check(
        &format!("{INFORMER} 10s a blocked\n{second} 15s a unblocked"),
        &expect![[r"
            1s initial-list #1 requests=1 items=1 known=0/1
            11s stalled #1 by socket
            15s stalled #2 by socket
            15s reads again #1 after 5s
            15s reads again #2 after 4s
            #1 client 1 pods · all namespaces watching rv=10 lists=1 watches=1 resumes=0 relists=0 known=0/1
            #2 client 1 secrets · all namespaces watching rv=10 lists=0 watches=1 resumes=0 relists=0 known=0/0
        "]],
    );
}

#[test]
fn two_blockages_at_once_are_one_stall_and_end_with_the_later() {
    check(
        &format!("{INFORMER} 10s a2 blocked\n 11s a blocked\n 13s a2 unblocked\n 16s a unblocked"),
        &expect![[r"
        1s initial-list #1 requests=1 items=1 known=0/1
        11s stalled #1 by flow-control window of the stream
        16s reads again #1 after 6s
        #1 client 1 pods · all namespaces watching rv=10 lists=1 watches=1 resumes=0 relists=0 known=0/1
    "]],
    );
}

#[test]
fn stall_continues_at_the_end_and_is_seen_in_the_row() {
    let (snapshot, _) = play(&format!("{INFORMER} 10s a2 blocked\n 20s a2 MODIFIED x@11"), Limits::default());
    let row = &snapshot.reflectors[0];
    assert_eq!((row.state, row.stalls, row.stalled_us), (ReflectorState::Stalled, 0, 12_000_000));
    assert_eq!(row.since.since(row.first_seen).as_secs(), 9, "it has been stalled since then");
    assert_eq!(snapshot.exposure.watching, 1, "it watches all the same");
    let finding = &snapshot.findings[0];
    assert_eq!(finding.kind, FindingKind::SlowReader);
    assert_eq!(
        finding.seen,
        "did not read for 12 s in total, and does not read now (the API server waits for the flow-control window of the stream)"
    );
}

#[test]
fn watch_ended_by_the_server_after_a_stall_is_counted() {
    let (snapshot, _) = play(&format!("{INFORMER} 10s a2 blocked\n 13s a2 unblocked\n 13s a2 ends"), Limits::default());
    let finding = &snapshot.findings[0];
    assert_eq!(finding.seen, "did not read for 3.0 s in total; the server ended 1 of its watches early");
}

#[test]
fn end_of_the_watch_is_the_end_of_its_stall() {
    check(
        &format!("{INFORMER} 10s a2 blocked\n 13s a closed by client"),
        &expect![[r"
        1s initial-list #1 requests=1 items=1 known=0/1
        13s stalled #1 by flow-control window of the stream
        13s reads again #1 after 3s
        #1 client 1 pods · all namespaces waiting rv=10 lists=1 watches=1 resumes=0 relists=0 known=0/1
    "]],
    );
}

#[test]
fn expiry_after_a_stall_is_attributed_to_the_client() {
    let script = format!(
        "{INFORMER}
        3s a2 BOOKMARK @10
        10s a2 blocked
        100s a2 unblocked
        100s a2 ends
        101s a3 GET /api/v1/pods?watch=1&resourceVersion=10&allowWatchBookmarks=true
        101s a3 opens
        101s a3 ERROR 410 Expired
        101s a3 ends
        102s a4 GET /api/v1/pods?resourceVersion=10
        102s a4 whole rv=50 x@5"
    );
    check(
        &script,
        &expect![[r"
        1s initial-list #1 requests=1 items=1 known=0/1
        100s stalled #1 by flow-control window of the stream
        100s reads again #1 after 90s
        102s relist-began #1 cause=expired/client-stalled
        102s relist #1 cause=expired/client-stalled requests=1 items=1 known=1/1
        #1 client 1 pods · all namespaces listed rv=50 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=1/2
    "]],
    );
}

#[test]
fn lists_that_are_not_read_stall_too() {
    check(
        "0s a connects
        1s a1 GET /api/v1/pods
        1s a1 opens
        2s a1 blocked
        9s a1 ends",
        &expect![[r"
            9s stalled #1 by flow-control window of the stream
            9s reads again #1 after 7s
            #1 client 1 pods · all namespaces listed lists=1 watches=0 resumes=0 relists=0 known=0/0
        "]],
    );
}
