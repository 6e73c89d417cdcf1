//! Open watches that deliver nothing: deaf ones, those that are ahead of the server, and quiet ones that are neither.

use expect_test::expect;
use observer_core::observer::{Finding, FindingKind, Limits, Snapshot};

use crate::script::{check, play};

/// A watch of pods that got a bookmark at 62 s, and nothing since.
const SILENT: &str = "
    0s server v1.34.4
    0s a connects client=deaf/1
    1s a1 GET /api/v1/pods?limit=500&resourceVersion=0
    1s a1 whole rv=10 x@5
    2s a3 GET /api/v1/pods?watch=1&resourceVersion=10&allowWatchBookmarks=true&timeoutSeconds=590
    2s a3 opens
    62s a3 BOOKMARK @11
";

/// A watch of pods by another client.
const OTHER: &str = "
    65s b connects client=other/1
    66s b1 GET /api/v1/pods?limit=500&resourceVersion=0
    66s b1 whole rv=11 x@5
    67s b3 GET /api/v1/pods?watch=1&resourceVersion=11&allowWatchBookmarks=true&timeoutSeconds=590
    67s b3 opens
";

#[test]
fn watch_that_misses_a_change_for_minutes_is_deaf_until_it_delivers() {
    check(
        &with_ticks(&format!(
            "{SILENT}{OTHER} 70s b3 MODIFIED x@20\n 243s b3 BOOKMARK @21\n 300s a3 MODIFIED x@20\n 301s b3 BOOKMARK @22"
        )),
        &expect![[r"
            1s initial-list #1 requests=1 items=1 known=0/1
            66s initial-list #2 requests=1 items=1 known=0/1
            243s deaf-watch #1: nothing came for 3 m 1 s; others got a change (revision 20) 8.0 s into that time
            300s deaf-watch #1 is over
            #1 client 1 pods · all namespaces watching rv=20 lists=1 watches=1 resumes=0 relists=0 known=0/2
            #2 client 2 pods · all namespaces watching rv=22 lists=1 watches=1 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// Findings of one program have one identifier. Several silences at the same time last as long as the longest.
#[test]
fn deaf_watches_of_one_program_last_as_long_as_the_longest() {
    let second = SILENT.replace("a connects", "c connects").replace(" a1 ", " c1 ").replace(" a3 ", " c3 ");
    let found =
        snapshot(&format!("{SILENT}{}{OTHER} 70s b3 MODIFIED x@20\n 250s b connects", second.replace("0s server v1.34.4", "")));
    let finding = only(&found, FindingKind::DeafWatch);
    assert_eq!((finding.reflectors.len(), finding.amount / 1_000_000), (2, 190));
}

#[test]
fn bookmarks_of_others_prove_a_watch_deaf_that_got_one_before() {
    let snapshot = snapshot(&format!("{SILENT}{OTHER} 160s b3 BOOKMARK @11\n 250s b connects"));
    let finding = only(&snapshot, FindingKind::DeafWatch);
    assert_eq!(finding.seen, "nothing came for 3 m 10 s; others got a bookmark 1 m 38 s into that time");
    assert!(finding.spell.unwrap().until.is_none());
    assert_eq!(finding.amount, 190_000_000);
}

#[test]
fn change_from_etcd_alone_is_a_suspicion_because_the_cache_may_lag() {
    let reads = "70s c connects client=reader/1\n 70s c1 GET /api/v1/pods\n";
    let fast = format!("{SILENT}{reads} 70s c1 whole rv=20 x@20\n 250s c connects");
    let waited = format!("{SILENT}{reads} 74s c1 whole rv=20 x@20\n 250s c connects");
    let old = fast.replace("v1.34.4", "v1.28.9");
    let written = format!(
        "{SILENT}70s c connects client=w/1\n 70s c5 PUT /api/v1/namespaces/default/pods/x\n 70s c5 written x@20\n 250s c connects"
    );
    let certain = snapshot(&fast);
    assert_eq!(
        only(&certain, FindingKind::DeafWatch).seen,
        "nothing came for 3 m 10 s; others got a change (revision 20) 8.0 s into that time"
    );
    assert!(certain.problems[0].change.starts_with("restart deaf"), "{}", certain.problems[0].change);
    for script in [waited, old, written] {
        let perhaps = snapshot(&script);
        let finding = only(&perhaps, FindingKind::DeafWatch);
        assert!(finding.seen.starts_with("perhaps deaf: nothing came for 3 m "), "{}", finding.seen);
        assert!(finding.seen.ends_with(" from etcd, and the watch cache may lag"), "{}", finding.seen);
        assert_eq!(perhaps.problems[0].change, "find out whether the API server's watch cache lags behind etcd");
    }
}

#[test]
fn change_that_a_selector_may_exclude_is_a_suspicion() {
    let script = format!("{SILENT}{OTHER} 70s b3 MODIFIED x@20\n 250s b connects")
        .replace("watch=1&resourceVersion=10", "watch=1&labelSelector=a&resourceVersion=10");
    let script = script.replace("limit=500&resourceVersion=0\n    1s", "limit=500&resourceVersion=0&labelSelector=a\n    1s");
    let snapshot = snapshot(&script);
    let finding = only(&snapshot, FindingKind::DeafWatch);
    assert!(finding.seen.starts_with("perhaps deaf: nothing came for 3 m 10 s"), "{}", finding.seen);
}

/// Like `kubectl wait`: a watch of one object without bookmarks.
#[test]
fn watch_of_one_object_without_bookmarks_is_not_judged() {
    let script = "
        0s server v1.34.4
        0s a connects client=wait/1
        1s a1 GET /api/v1/pods?fieldSelector=metadata.name%3Dx
        1s a1 whole rv=10 x@5
        2s a3 GET /api/v1/pods?watch=1&fieldSelector=metadata.name%3Dx&resourceVersion=10
        2s a3 opens
    ";
    let snapshot = snapshot(&format!("{script}{OTHER} 70s b3 MODIFIED y@20\n 250s b connects"));
    assert!(snapshot.findings.is_empty(), "{:?}", snapshot.findings);
}

/// Pings of the client found the dead connection. The server's half of it never ends.
#[test]
fn watch_of_a_client_that_left_is_over() {
    let snapshot = snapshot(&format!("{SILENT}{OTHER} 70s b3 MODIFIED x@20\n 80s a leaves\n 300s b connects"));
    assert!(snapshot.findings.is_empty(), "{:?}", snapshot.findings);
    assert_eq!(snapshot.watches[0].count, 2);
    let left = snapshot.reflectors.iter().find(|row| row.client.program == "deaf/1").unwrap();
    assert!(!left.is_watching(), "{left:?}");
}

/// A laptop sleeps: nothing is observed for an hour, and the first observation afterwards is no proof.
#[test]
fn time_in_which_nothing_was_observed_is_no_silence() {
    let script = format!("{SILENT}{OTHER} 70s b3 MODIFIED x@20\n 3600s b3 MODIFIED x@30");
    let snapshot = play(&script, Limits::default()).0;
    assert!(snapshot.findings.iter().all(|finding| finding.kind != FindingKind::DeafWatch), "{:?}", snapshot.findings);
}

#[test]
fn writes_and_lists_of_others_prove_a_watch_deaf() {
    for sign in [
        "70s b1 PATCH /api/v1/namespaces/default/pods/x\n 71s b1 written x@20",
        "70s b1 GET /api/v1/pods?resourceVersion=0\n 71s b1 whole rv=30 x@20",
    ] {
        let snapshot = snapshot(&format!("{SILENT} 65s b connects client=other/1\n {sign}\n 250s b connects"));
        assert_eq!(only(&snapshot, FindingKind::DeafWatch).shape.resource, "pods", "{sign}");
    }
}

#[test]
fn quiet_watches_are_not_deaf() {
    let in_another_namespace = SILENT.replace("/api/v1/pods", "/api/v1/namespaces/quiet/pods");
    let blocked = format!("{SILENT} 63s a3 blocked");
    let unread = format!("{SILENT} 63s a3 missed 100");
    let only_old = "70s b5 GET /api/v1/pods?resourceVersion=0\n 71s b5 whole rv=90 x@5";
    for (script, sign) in [
        (SILENT, ""),
        (SILENT, only_old),
        (SILENT, "240s b3 MODIFIED x@20"),
        (SILENT, "70s b5 PATCH /api/v1/namespaces/default/pods/x\n 71s b5 refused 409 Conflict"),
        (&in_another_namespace, "70s b3 MODIFIED x@20"),
        (&blocked, "70s b3 MODIFIED x@20"),
        (&unread, "70s b3 MODIFIED x@20"),
    ] {
        let snapshot = snapshot(&format!("{script}{OTHER}{sign}\n 250s b connects"));
        assert!(snapshot.findings.iter().all(|finding| finding.kind != FindingKind::DeafWatch), "{sign}: {:?}", snapshot.findings);
    }
}

#[test]
fn watch_from_a_revision_that_the_server_does_not_have_is_ahead() {
    let script = "0s server v1.34.4
         0s a connects client=ahead/1
         1s a1 GET /api/v1/nodes?resourceVersion=0
         1s a1 whole rv=900 x@5
         2s a3 GET /api/v1/nodes?watch=1&resourceVersion=900&allowWatchBookmarks=true
         2s a3 opens
         3s a3 reset by server
         20s a5 GET /api/v1/nodes?watch=1&resourceVersion=900&allowWatchBookmarks=true
         20s a5 opens
         21s b connects client=other/1
         22s b1 GET /api/v1/pods
         22s b1 whole rv=100 y@50
         31s b3 GET /api/v1/pods?watch=1&resourceVersion=100
         31s b3 opens
         90s a5 ADDED x@901";
    check(
        &with_ticks(script),
        &expect![[r"
            1s initial-list #1 requests=1 items=1 known=0/1
            20s resume #1 rv=900: the watch before was reset by the server (code 2)
            30s watch-ahead-of-server #1: from revision 900, while the API server was at 100: nothing came for 10 s
            22s initial-list #2 requests=1 items=1 known=0/1
            90s watch-ahead-of-server #1 is over
            #1 client 1 nodes · cluster watching rv=901 lists=1 watches=2 resumes=1 relists=0 known=0/2
            #2 client 2 pods · all namespaces watching rv=100 lists=1 watches=1 resumes=0 relists=0 known=0/1
        "]],
    );
}

/// The server only reached the revision; nothing of the resource changed.
#[test]
fn watch_is_no_longer_ahead_once_the_server_reaches_its_revision() {
    let script = "0s server v1.34.4
         0s a connects client=ahead/1
         1s a1 GET /api/v1/nodes?watch=1&resourceVersion=900&allowWatchBookmarks=true
         1s a1 opens
         2s b connects client=other/1
         3s b1 GET /api/v1/pods
         3s b1 whole rv=100 y@50
         100s b3 GET /api/v1/pods
         100s b3 whole rv=901 y@901
         130s b connects";
    let found = snapshot(script);
    let spell = only(&found, FindingKind::WatchAheadOfServer).spell.unwrap();
    assert_eq!((spell.times, spell.lasts()), (1, false));
    assert_eq!(spell.lasted_us / 1_000_000 / 10, 10, "{spell:?}");
}

fn snapshot(script: &str) -> Snapshot {
    play(&with_ticks(script), Limits::default()).0
}

/// The script with a tick every ten seconds, as a run has when a timer is due.
fn with_ticks(script: &str) -> String {
    let second = |line: &str| line.trim().split_once("s ").map_or(0, |(second, _)| second.parse::<u64>().unwrap());
    let mut lines: Vec<String> = script.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
    let last = lines.iter().map(|line| second(line)).max().unwrap_or_default();
    lines.extend((0..last).step_by(10).map(|at| format!("{at}s tick")));
    lines.sort_by_key(|line| second(line));
    lines.join("\n")
}

#[track_caller]
fn only(snapshot: &Snapshot, kind: FindingKind) -> &Finding {
    let mut of_kind = snapshot.findings.iter().filter(|finding| finding.kind == kind);
    let first = of_kind.next().unwrap_or_else(|| panic!("{:?}", snapshot.findings));
    assert!(of_kind.next().is_none(), "{:?}", snapshot.findings);
    first
}
