//! Watches that get nowhere: from an expired revision again and again, and streaming lists without an end.

use std::fmt::Write as _;

use expect_test::expect;
use observer_core::observer::{FindingKind, Limits, Snapshot};

use crate::script::{check, play};

/// A client that lists once, and then watches from the same revision whatever happens, as Airflow's pod watcher does.
fn repeats(resource: &str, answer: &str, times: u64) -> String {
    repeats_from(0, resource, answer, times)
}

/// The same, `first` seconds after the list.
fn repeats_from(first: u64, resource: &str, answer: &str, times: u64) -> String {
    let mut script =
        format!("0s server v1.34.4\n0s a connects client=airflow/2\n0s a1 GET /api/v1/{resource}\n0s a1 whole rv=100 x@5\n");
    for number in 1..=times {
        let (at, exchange) = (first + 10 * number, 2 * number + 1);
        let _infallible = writeln!(script, "{at}s a{exchange} GET /api/v1/{resource}?watch=true&resourceVersion=100");
        for line in answer.split('|') {
            let _infallible = writeln!(script, "{at}s a{exchange} {line}");
        }
    }
    script
}

#[test]
fn same_expired_revision_three_times_is_a_loop_until_the_client_lists() {
    let listed = "50s a90 GET /api/v1/pods\n50s a90 whole rv=200 x@150";
    check(
        &format!("{}{listed}", repeats("pods", "opens|ERROR 410 Expired|ends", 4)),
        &expect![[r"
        0s initial-list #1 requests=1 items=1 known=0/1
        30s expired-loop #1: 3 watches in a row from revision 100, each answered 410, no list between them
        50s expired-loop #1 is over
        50s relist-began #1 cause=expired/cache-reset
        50s relist #1 cause=expired/cache-reset requests=1 items=1 known=0/1
        #1 client 1 pods · all namespaces listed rv=200 lists=2 watches=4 resumes=0 relists=1 known=0/2
    "]],
    );
    for answer in ["opens|ERROR 410 Expired|ends", "refused 410 Expired"] {
        let snapshot = snapshot(&repeats("pods", answer, 5));
        assert_eq!(snapshot.findings[0].kind, FindingKind::ExpiredLoop);
        assert_eq!(snapshot.findings[0].amount, 5);
        let seen = "5 watches in a row from revision 100, each answered 410, no list between them";
        assert_eq!(snapshot.findings[0].seen, seen, "{answer}");
    }
}

#[test]
fn loop_ends_when_a_watch_delivers_or_asks_for_another_revision() {
    let script = repeats("pods", "opens|ERROR 410 Expired|ends", 2);
    let other = script.clone()
        + "30s a91 GET /api/v1/pods?watch=true&resourceVersion=101\n30s a91 opens\n30s a91 ERROR 410 Expired\n30s a91 ends";
    let delivers = script.clone() + "30s a91 GET /api/v1/pods?watch=true&resourceVersion=100\n30s a91 opens\n31s a91 ADDED y@101";
    for script in [script, other, delivers] {
        let kinds: Vec<FindingKind> = snapshot(&script).findings.iter().map(|finding| finding.kind).collect();
        assert!(!kinds.contains(&FindingKind::ExpiredLoop), "{kinds:?}");
    }
}

/// Replicas share a user agent and an identity. After a restart, each of them gets one 410.
#[test]
fn replicas_on_connections_of_their_own_are_in_no_loop() {
    let mut script = "0s server v1.34.4\n".to_owned();
    for letter in ['a', 'b', 'c', 'd'] {
        let _infallible = writeln!(
            script,
            "0s {letter} connects client=proxy/1\n0s {letter}1 GET /api/v1/pods?watch=true&resourceVersion=100\n\
             0s {letter}1 opens\n0s {letter}1 ERROR 410 Expired\n0s {letter}1 ends"
        );
    }
    let kinds: Vec<FindingKind> = snapshot(&script).findings.iter().map(|finding| finding.kind).collect();
    assert!(!kinds.contains(&FindingKind::ExpiredLoop), "{kinds:?}");
}

#[test]
fn empty_watches_of_events_are_a_silent_expiry() {
    let events = snapshot(&repeats_from(300, "events", "opens|ends", 3));
    let kinds: Vec<FindingKind> = events.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::SilentExpired]);
    let seen = "3 watches in a row from revision 100 ended at once, empty and without 410: this resource has no watch cache, and \
                etcd no longer has the revision";
    assert_eq!(events.findings[0].seen, seen);
    for other in [repeats_from(300, "pods", "opens|ends", 3), repeats("events", "opens|ends", 3)] {
        assert_eq!(
            snapshot(&other).findings[0].kind,
            FindingKind::ShortWatches,
            "a cache answers 410, and etcd has a young revision"
        );
    }
}

const STREAMING: &str =
    "GET /api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

#[test]
fn streaming_list_that_is_cut_off_twice_has_never_synced() {
    let begin = "0s server v1.34.4\n0s a connects client=new/1\n";
    let attempt = |number: u64| {
        let (at, exchange) = (20 * number, 2 * number + 1);
        format!(
            "{at}s a{exchange} {STREAMING}\n{at}s a{exchange} opens\n{at}s a{exchange} ADDED x@5\n{}s a{exchange} ends\n",
            at + 15
        )
    };
    let synced = "50s a91 END-BOOKMARK @20";
    let third = format!("45s a91 {STREAMING}\n45s a91 opens\n45s a91 ADDED x@5\n{synced}");
    check(
        &format!("{begin}{}{}{third}", attempt(0), attempt(1)),
        &expect![[r"
        35s never-synced #1: not synced after 35 s (2 attempts, 2 cut off): 1 object came, the bookmark that ends the initial events did not
        50s never-synced #1 is over
        50s initial-list #1 requests=3 items=1 known=0/1
        #1 client 1 pods · all namespaces watching rv=20 age=WatchList lists=0 watches=3 resumes=0 relists=0 known=0/1
    "]],
    );
    let once = snapshot(&format!("{begin}{}{third}", attempt(0)));
    assert!(once.findings.is_empty(), "{:?}", once.findings);
}

#[test]
fn open_streaming_list_without_an_end_has_not_synced_after_half_a_minute() {
    let script = format!("0s server v1.34.4\n0s a connects client=new/1\n0s a1 {STREAMING}\n0s a1 opens\n1s a1 ADDED x@5\n");
    let soon = snapshot(&format!("{script}25s b connects"));
    assert!(soon.findings.is_empty(), "{:?}", soon.findings);
    let sends = snapshot(&format!("{script}26s a1 ADDED y@6\n30s b connects"));
    assert!(sends.findings.is_empty(), "it still sends: {:?}", sends.findings);
    let late = snapshot(&format!("{script}38s b connects"));
    assert_eq!(late.findings[0].kind, FindingKind::NeverSynced);
    let seen = "not synced after 40 s (1 attempt): 1 object came, the bookmark that ends the initial events did not";
    assert_eq!(late.findings[0].seen, seen);
}

fn snapshot(script: &str) -> Snapshot {
    play(script, Limits::default()).0
}

/// Airflow's scheduler starts its pod watcher again, as a new process with the same revision, whenever it exited after a 410.
#[test]
fn new_process_that_watches_from_the_same_expired_revision_continues_the_loop() {
    let mut script = "0s server v1.29.13\n".to_owned();
    for (number, letter) in ['a', 'b', 'c', 'd'].into_iter().enumerate() {
        let at = 10 * (number + 1);
        let _infallible = writeln!(
            script,
            "{at}s {letter} connects client=OpenAPI-Generator/28.1.0/python as=airflow/scheduler pid={}\n\
             {at}s {letter}1 GET /api/v1/pods?watch=true&resourceVersion=100\n{at}s {letter}1 opens\n\
             {at}s {letter}1 ERROR 410 Expired\n{at}s {letter}1 ends\n{}s {letter} closed by client",
            100 + number,
            at + 1
        );
    }
    let found = snapshot(&script);
    let [finding] = &found.findings[..] else { panic!("{:#?}", found.findings) };
    assert_eq!((finding.kind, finding.amount, finding.reflectors.len()), (FindingKind::ExpiredLoop, 4, 1));
    assert!(finding.seen.starts_with("4 watches in a row from revision 100"), "{}", finding.seen);
    let other =
        script.replace("pid=103", "pid=103 ").replace("d1 GET /api/v1/pods?watch=true&resourceVersion=100", "d1 GET /api/v1/pods");
    assert_eq!(snapshot(&other).findings[0].amount, 3, "the fourth process lists");
}

/// A proxy in front of watchtap is one process for all its clients, each with a connection of its own. After a restart, each of
/// them gets one 410.
#[test]
fn clients_behind_a_proxy_are_in_no_loop() {
    let mut script = "0s server v1.34.4\n".to_owned();
    for letter in ['a', 'b', 'c', 'd'] {
        let _infallible = writeln!(
            script,
            "0s {letter} connects client=client-go/1 as=soak/keeper pid=7\n\
             0s {letter}1 GET /api/v1/pods?watch=true&resourceVersion=100\n0s {letter}1 opens\n\
             10s {letter}1 ERROR 410 Expired\n10s {letter}1 ends"
        );
    }
    for (at, letter) in [(11, 'a'), (12, 'b'), (13, 'c'), (14, 'd')] {
        let _infallible = writeln!(
            script,
            "{at}s {letter}3 GET /api/v1/pods?watch=true&resourceVersion=100\n{at}s {letter}3 opens\n\
             {at}s {letter}3 ERROR 410 Expired\n{at}s {letter}3 ends"
        );
    }
    let kinds: Vec<FindingKind> = snapshot(&script).findings.iter().map(|finding| finding.kind).collect();
    assert!(!kinds.contains(&FindingKind::ExpiredLoop), "{kinds:?}");
}

/// Two replicas that run at the same time are no series.
#[test]
fn process_that_still_runs_keeps_its_watches() {
    let mut script = "0s server v1.29.13\n".to_owned();
    for (number, letter) in ['a', 'b', 'c', 'd'].into_iter().enumerate() {
        let _infallible = writeln!(
            script,
            "0s {letter} connects client=watcher/1 as=airflow/scheduler pid={}\n\
             1s {letter}1 GET /api/v1/pods?watch=true&resourceVersion=100\n1s {letter}1 opens\n\
             1s {letter}1 ERROR 410 Expired\n1s {letter}1 ends",
            100 + number
        );
    }
    let kinds: Vec<FindingKind> = snapshot(&script).findings.iter().map(|finding| finding.kind).collect();
    assert!(!kinds.contains(&FindingKind::ExpiredLoop), "{kinds:?}");
}
