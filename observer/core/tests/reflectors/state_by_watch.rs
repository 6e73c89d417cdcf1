//! Watches that begin with all objects although the client had them: relists in another form (§6.7 of docs/semantics.md, Python).

use std::fmt::Write as _;

use expect_test::expect;

use observer_core::observer::{Comparison, Limits, Quantity, Usage};

use crate::script::{check, play};

/// The official Python client watches without a revision. After the API server restarts, its caller watches again.
fn python(objects: usize) -> String {
    let state = |connection: &str, at: u64| -> String {
        (1..=objects).fold(String::new(), |script, number| format!("{script}{at}s {connection}1 ADDED o{number}@{number}\n"))
    };
    let mut script = "0s server v1.34.4\n0s a connects client=OpenAPI-Generator/34.1.0/python pid=7\n\
         0s a1 GET /api/v1/pods?watch=True\n0s a1 opens\n"
        .to_owned();
    script += &state("a", 0);
    script += "100s refusing\n100s a closed by server\n103s listening\n\
         104s b connects client=OpenAPI-Generator/34.1.0/python pid=7\n104s b1 GET /api/v1/pods?watch=True\n104s b1 opens\n";
    script + &state("b", 104)
}

#[test]
fn watch_without_revision_after_a_restart_is_one_relist() {
    check(
        &python(28),
        &expect![[r"
            0s initial-list #1 requests=1 items=28 known=0/28
            104s relist-began #1 cause=watch-without-revision
            104s relist #1 cause=watch-without-revision requests=1 items=28 known=28/28
            #1 client 1 pods · all namespaces watching rv=28 lists=0 watches=2 resumes=0 relists=1 known=28/56
        "]],
    );
}

#[test]
fn watch_without_revision_counts_in_budget_exposure_and_comparison() {
    let (snapshot, _) = play(&python(28), Limits::default());
    let usage = Usage::of(&snapshot);
    assert_eq!((usage.total[&Quantity::Relists], usage.total[&Quantity::Items]), (1, 56));
    let exposure = &snapshot.exposure;
    assert_eq!((exposure.watching, exposure.reflectors, exposure.items.or_zero(), exposure.bytes.or_zero()), (1, 1, 28, 2_800));
    let (before, _) = play("0s server v1.34.4", Limits::default());
    assert_eq!(Comparison::of(&before, &snapshot).after.totals.relists, 1);
}

#[test]
fn twelve_watches_without_revision_are_a_restart_storm() {
    let mut script = "0s server v1.34.4\n".to_owned();
    let of = |client: char, at: u64| {
        format!("{at}s {client}1 GET /api/v1/pods?watch=1\n{at}s {client}1 opens\n{at}s {client}1 ADDED x@5\n")
    };
    for (pid, client) in "abcdefghijkl".chars().enumerate() {
        let _infallible = write!(script, "0s {client} connects client={client}/v1 pid={pid}\n{}", of(client, 0));
    }
    script += "100s refusing\n";
    for client in "abcdefghijkl".chars() {
        let _infallible = writeln!(script, "100s {client} closed by server");
    }
    script += "103s listening\n";
    for (pid, client) in "ABCDEFGHIJKL".chars().enumerate() {
        let name = client.to_ascii_lowercase();
        let _infallible = write!(script, "104s {client} connects client={name}/v1 pid={pid}\n{}", of(client, 104));
    }
    let (snapshot, _) = play(&(script + "130s listening"), Limits::default());
    let storm = &snapshot.storms[0];
    assert_eq!((storm.reflectors, storm.relists, storm.items.or_zero(), storm.repeated.or_zero()), (12, 12, 12, 12));
    assert_eq!((storm.trigger.to_string().as_str(), storm.ended.is_some()), ("api-server-restart", true));
}

#[test]
fn rewatch_at_revision_zero_is_a_relist() {
    check(
        "0s server v1.34.4
         0s a connects client=python
         0s a1 GET /api/v1/pods?watch=true
         0s a1 opens
         0s a1 ADDED x@6
         0s a1 ADDED y@5
         20s a1 MODIFIED x@9
         60s a1 ends
         60s a3 GET /api/v1/pods?watch=true&resourceVersion=0
         60s a3 opens
         60s a3 ADDED x@9
         60s a3 ADDED y@5
         60s a3 ADDED z@8",
        &expect![[r"
            0s initial-list #1 requests=1 items=2 known=0/2
            60s relist-began #1 cause=watch-without-revision
            60s relist #1 cause=watch-without-revision requests=1 items=3 known=2/3
            #1 client 1 pods · all namespaces watching rv=9 lists=0 watches=2 resumes=0 relists=1 known=2/6
        "]],
    );
}

/// A change, a pause or the normal end of the watch ends the state. Later events are not part of it.
#[test]
fn initial_state_ends_with_a_change_pause_or_watch_end() {
    check(
        "0s server v1.34.4
         0s a connects client=python
         0s a1 GET /api/v1/pods?watch=true
         0s a1 opens
         0s a1 ADDED x@5
         500ms a1 DELETED x@7
         501ms a1 ADDED y@8
         10s a1 ends
         11s a3 GET /api/v1/pods?watch=true
         11s a3 opens
         11s a3 ADDED y@8
         12s a3 ADDED z@9
         20s a3 ends
         21s a5 GET /api/v1/pods?watch=true&timeoutSeconds=1
         21s a5 opens
         21s a5 ADDED y@8
         21500ms a5 ADDED z@9
         22s a5 ends",
        &expect![[r"
            0s initial-list #1 requests=1 items=1 known=0/1
            11s relist-began #1 cause=watch-without-revision
            11s relist #1 cause=watch-without-revision requests=1 items=1 known=1/1
            21s relist-began #1 cause=watch-without-revision
            21500ms relist #1 cause=watch-without-revision requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces waiting rv=9 lists=0 watches=3 resumes=0 relists=2 known=3/6
        "]],
    );
}

#[test]
fn interrupted_initial_state_is_retried_as_one_relist() {
    check(
        "0s server v1.34.4
         0s a connects client=python
         0s a1 GET /api/v1/pods?watch=true
         0s a1 opens
         0s a1 ADDED x@5
         0s a1 ADDED y@6
         60s a1 reset by server
         61s a3 GET /api/v1/pods?watch=true
         61s a3 opens
         61s a3 ADDED x@5
         61s a3 reset by server
         62s a5 GET /api/v1/pods?watch=true
         62s a5 opens
         62s a5 ADDED x@5
         62s a5 ADDED y@6",
        &expect![[r"
            0s initial-list #1 requests=1 items=2 known=0/2
            61s relist-began #1 cause=stream-reset
            62s relist #1 cause=stream-reset requests=2 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=6 lists=0 watches=3 resumes=0 relists=1 known=2/4
        "]],
    );
}

#[test]
fn watch_that_ignores_its_list_revision_is_a_relist() {
    check(
        "0s server v1.34.4
         0s a connects client=python
         0s a1 GET /api/v1/pods
         0s a1 whole rv=10 x@5 y@6
         1s a3 GET /api/v1/pods?watch=true
         1s a3 opens
         1s a3 ADDED x@5
         1s a3 ADDED y@6",
        &expect![[r"
            1s relist-began #1 cause=watch-without-revision
            1s relist #1 cause=watch-without-revision requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=6 lists=1 watches=1 resumes=0 relists=1 known=2/4
        "]],
    );
}

#[test]
fn poller_beside_a_watch_without_revision_is_separate() {
    let (snapshot, _) = play(
        "0s server v1.34.4
         0s a connects client=python
         0s a1 GET /api/v1/pods
         0s a1 whole rv=10 x@5
         10s a3 GET /api/v1/pods
         10s a3 whole rv=11 x@5
         11s a5 GET /api/v1/pods?watch=true
         11s a5 opens
         11s a5 ADDED x@5",
        Limits::default(),
    );
    assert_eq!((snapshot.reflectors.len(), snapshot.totals.relists), (2, 0));
}

#[test]
fn new_process_watching_without_revision_is_no_relist() {
    let (snapshot, _) = play(&python(28).replace("34.1.0/python pid=7\n104s", "34.1.0/python pid=8\n104s"), Limits::default());
    assert_eq!(snapshot.totals.relists, 0);
}

#[test]
fn watch_without_initial_events_is_not_a_list() {
    let (snapshot, events) = play(
        "0s server v1.34.4
         0s a connects client=c/v1
         0s a1 GET /api/v1/pods?watch=true&sendInitialEvents=false&resourceVersion=0
         0s a1 opens
         5s a1 ends
         5s a3 GET /api/v1/pods?watch=true&sendInitialEvents=false&resourceVersion=0
         5s a3 opens",
        Limits::default(),
    );
    assert_eq!(snapshot.totals.relists, 0, "{events:?}");
}
