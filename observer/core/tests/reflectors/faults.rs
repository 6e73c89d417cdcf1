//! The account of what clients did after each fault of a demo cluster.

use expect_test::{Expect, expect};
use observer_core::observer::{Event, FaultRecord, FaultResponse, Limits};

use crate::script::{play, seconds};

const WATCHED: &str = "0s server v1.34.4\n0s a connects client=c/v1\n\
     0s a1 GET /api/v1/pods?limit=500&resourceVersion=0\n0s a1 whole rv=10 x@5 y@6\n\
     0s a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&watch=true\n0s a3 opens\n";

#[test]
fn everything_counts_for_the_fault_before_it() {
    check(
        "10s fault end-watches: a client should resume
         11s a3 ends
         12s a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&watch=true
         12s a5 opens
         20s fault answer 429 for=5s
         30s fault expire all
         31s a5 ERROR 410 Expired
         31s a5 ends
         32s a7 GET /api/v1/pods?resourceVersion=10
         32s a7 refused 429 TooManyRequests
         33s a9 GET /api/v1/pods?resourceVersion=10
         34s a9 whole rv=12 x@5 y@12
         34s a11 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=12&watch=true
         34s a11 opens
         35s a13 GET /api/v1/namespaces/default/configmaps/lock
         35s a13 refused 404 NotFound
         36s a15 GET /livez
         36s a15 refused 500 InternalError
         40s shutdown
         41s a11 ends",
        &expect![[r#"
            10s end-watches (a client should resume)
                c/v1 pods: ended {"ended by the server": 1}, failed {}, resumes 1 after Some(2000000), relists 0 after None {}, 0 of 0 unchanged
            20s answer 429 for=5s
            30s expire all
                c/v1 pods: ended {"410 Expired": 1}, failed {"429 TooManyRequests": 1}, resumes 0 after None, relists 1 after Some(2000000) {"expired/cache-reset": 1}, 1 of 2 unchanged
        "#]],
    );
}

#[test]
fn findings_count_for_the_fault_after_which_they_appear() {
    // A client-go before 1.16 relists after refused connections.
    let script = "0s server v1.16.15
        0s a connects client=c/v1 pid=7
        0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
        0s a1 whole rv=1000 x@500 y@600
        0s a3 GET /api/v1/pods?resourceVersion=1000&timeoutSeconds=500&watch=true
        0s a3 opens
        60s a3 BOOKMARK @1100
        100s fault compact
        120s fault restart for=3s
        120s refusing
        120001ms a closed by server
        126s listening
        126400ms b connects client=c/v1 pid=7
        126405ms b1 GET /api/v1/pods?limit=500&resourceVersion=0
        126420ms b1 whole rv=1130 x@500 y@1120
        126430ms b3 GET /api/v1/pods?resourceVersion=1130&timeoutSeconds=333&watch=true
        126435ms b3 opens
        140s fault compact";
    let (snapshot, events) = play(script, Limits::default());
    let findings: Vec<&[String]> = snapshot.faults.latest.iter().map(|fault| fault.findings.as_slice()).collect();
    assert_eq!(findings, [&[][..], &["refused-misread:c/v1:pods/all-namespaces".to_owned()][..], &[][..]]);
    let faults = events.iter().filter(|event| matches!(event, Event::Fault { .. })).count();
    assert_eq!(faults as u64, snapshot.faults.times);
    let muted = snapshot.without_findings(&["refused-misread:".to_owned()]);
    assert!(muted.faults.latest.iter().all(|fault| fault.findings.is_empty()), "{:?}", muted.faults);
}

#[test]
fn latest_faults_are_kept_and_all_are_counted() {
    let script = (1..=100).map(|second| format!("{second}s fault compact\n")).collect::<Vec<_>>().concat();
    let faults = play(&format!("{WATCHED}{script}"), Limits::default()).0.faults;
    assert_eq!((faults.times, faults.latest.len() as u64 + faults.dropped()), (100, 100));
    assert_eq!(faults.latest.back().map(|fault| seconds(fault.at)), Some("100s".to_owned()));
}

#[track_caller]
fn check(script: &str, expected: &Expect) {
    let (snapshot, _) = play(&format!("{WATCHED}{script}"), Limits::default());
    let text: String = snapshot.faults.latest.iter().flat_map(described).map(|line| line + "\n").collect();
    expected.assert_eq(&text);
}

fn described(fault: &FaultRecord) -> Vec<String> {
    let note = if fault.note.is_empty() { String::new() } else { format!(" ({})", fault.note) };
    let mut lines = vec![format!("{} {}{note}", seconds(fault.at), fault.act)];
    for row in &fault.clients {
        let FaultResponse { client, resource, watches_ended, failed, resumes, resumed_after_us, .. } = row;
        let FaultResponse { relists, relisted_after_us, causes, objects, unchanged, .. } = row;
        lines.push(format!(
            "    {} {resource}: ended {watches_ended:?}, failed {failed:?}, resumes {resumes} after {resumed_after_us:?}, relists \
             {relists} after {relisted_after_us:?} {causes:?}, {unchanged} of {objects} unchanged",
            client.program
        ));
    }
    lines
}
