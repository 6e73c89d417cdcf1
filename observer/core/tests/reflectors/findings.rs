//! Findings, and the cost of a restart, for scripts of wire traffic.

use std::fmt::Write as _;

use observer_core::observer::{FindingKind, Limits, Quantity, Snapshot, Usage};
use observer_core::reflector::PollingKind;

use crate::script::play;

#[test]
fn poller_and_hot_loop_are_distinguished() {
    let poll = |letter: char, step: u64, lists: u64| {
        let mut script = format!("0s {letter} connects client={letter}/v1\n");
        for number in 0..lists {
            let (at, exchange) = (number * step, 2 * number + 1);
            let _infallible =
                writeln!(script, "{at}ms {letter}{exchange} GET /api/v1/pods\n{at}ms {letter}{exchange} whole rv=10 x@5");
        }
        script
    };
    let snapshot = snapshot(&(poll('a', 10_000, 40) + &poll('b', 50, 20)));
    assert_eq!(ids(&snapshot), ["hot-loop:b/v1:pods/all-namespaces", "poller:a/v1:pods/all-namespaces"]);
    assert_eq!(snapshot.findings[1].seen, "polls every 10 s (± 0 µs; 40 lists), never watches");
}

/// Kubernetes' end-to-end suite waits like this for a `ReplicaSet`.
#[test]
fn wait_for_a_condition_is_not_a_poller() {
    let mut lists = String::new();
    for number in 0..=150_u64 {
        let (at, stream) = (2 * number, 2 * number + 1);
        let _infallible = writeln!(lists, "{at}s a{stream} GET /apis/apps/v1/replicasets\n{at}s a{stream} whole rv=10 x@5");
    }
    let polling = |script: &str| {
        let snapshot = snapshot(&format!("0s a connects client=e2e.test/v1\n{script}"));
        let seen: Vec<String> = snapshot.findings.iter().map(|finding| finding.seen.clone()).collect();
        (snapshot.reflectors[0].polling.unwrap(), seen)
    };
    let (live, seen) = polling(&lists);
    assert_eq!((live.kind, live.lists, live.every_us, live.lasted().as_secs()), (PollingKind::Polls, 151, 2_000_000, 300));
    assert_eq!(seen, ["polls every 2.0 s (± 0 µs; 151 lists), never watches"]);
    let (over, seen) = polling(&format!("{lists}320s b connects"));
    assert_eq!((over.kind, over.lists, seen), (PollingKind::Wait, 151, Vec::new()));
    let (left, seen) = polling(&format!("{lists}301s a closed by client"));
    assert_eq!((left.kind, seen), (PollingKind::Wait, Vec::new()), "its client has left");
}

#[test]
fn duplicate_informers_are_reported_only_for_one_known_process() {
    let informer = |connection: &str, first: u64| {
        format!(
            "0s {connection}{first} GET /api/v1/pods?limit=500&resourceVersion=0\n0s {connection}{first} whole rv=10 x@5\n\
             0s {connection}{0} GET /api/v1/pods?resourceVersion=10&watch=true\n0s {connection}{0} opens\n",
            first + 2
        )
    };
    let both = "0s a connects client=c/v1 pid=7\n".to_owned() + &informer("a", 1) + &informer("a", 11);
    let soon = snapshot(&format!("{both} 0s a3 BOOKMARK @10"));
    assert_eq!(ids(&soon), [""; 0], "the second may be the first again, whose end is not seen yet");
    let live = snapshot(&format!("{both} 9s a3 BOOKMARK @10"));
    let over = snapshot(&format!("{both} 9s a closed by client"));
    for one in [live, over] {
        assert_eq!(ids(&one), ["duplicate-informers:c/v1:pods/all-namespaces"]);
        assert_eq!(one.findings[0].seen, "2 informers for the same objects in process 7");
        assert_eq!(one.findings[0].reflectors.len(), 2);
        assert_eq!(Usage::of(&one).total[&Quantity::DuplicateInformers], 1);
    }

    let later = " 9s a connects\n".to_owned();
    let connects = "0s a connects client=c/v1 pid=7\n0s b connects client=c/v1 pid=8\n".to_owned();
    assert_eq!(ids(&snapshot(&(connects + &informer("a", 1) + &informer("b", 11) + &later))), [""; 0]);

    let unknown = "0s a connects client=c/v1\n0s b connects client=c/v1\n".to_owned();
    assert_eq!(ids(&snapshot(&(unknown + &informer("a", 1) + &informer("b", 11) + &later))), [""; 0], "they may be two processes");
}

#[test]
fn findings_stay_when_their_client_has_left() {
    let poll = |number: u64| format!("{0}s a{1} GET /api/v1/pods\n{0}s a{1} whole rv=10 x@5\n", number * 10, 2 * number + 1);
    let script: String = (0..40).map(poll).collect();
    let snapshot = snapshot(&format!("0s a connects client=a/v1\n{script}400s a closed by client"));
    assert_eq!(ids(&snapshot), ["poller:a/v1:pods/all-namespaces"]);
    assert!(snapshot.findings[0].seen.ends_with("; it has disconnected"), "{}", snapshot.findings[0].seen);
}

#[test]
fn five_relists_are_a_loop_and_their_causes_are_counted() {
    let mut script =
        "0s server v1.34.4\n0s a connects client=c/v1\n0s a1 GET /api/v1/pods?limit=500&resourceVersion=0\n0s a1 whole rv=10 x@5\n"
            .to_owned();
    for number in 0..6_u64 {
        let (at, watch, list) = (10 + 2 * number, 4 * number + 3, 4 * number + 5);
        let _infallible = writeln!(
            script,
            "{at}s a{watch} GET /api/v1/pods?resourceVersion=10&watch=true\n{at}s a{watch} opens\n{at}s a{watch} ends\n\
             {}s a{list} GET /api/v1/pods?resourceVersion=10\n{0}s a{list} whole rv=10 x@5",
            at + 1
        );
    }
    let snapshot = snapshot(&script);
    assert_eq!(ids(&snapshot), ["short-watches:c/v1:pods/all-namespaces"], "the specific finding stands for the generic one");
    assert_eq!(snapshot.findings[0].seen, "6 watches in a row ended within a second");
    let twice = script.replace(" ends\n", " reset by server\n");
    let snapshot = self::snapshot(&twice);
    assert_eq!(ids(&snapshot), ["relist-loop:c/v1:pods/all-namespaces"]);
    assert_eq!(snapshot.findings[0].seen, "6 relists, the last five within ten minutes: 6 × watch stream reset");
    assert!(snapshot.findings[0].advice.contains("connections are cut"), "{}", snapshot.findings[0].advice);
}

#[test]
fn exposure_counts_only_reflectors_with_old_revisions() {
    let script = "0s server v1.34.4\n0s a connects client=c/v1\n\
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0\n0s a1 whole rv=10 x@5 y@6\n\
         0s a3 GET /api/v1/pods?resourceVersion=10&watch=true\n0s a3 opens\n\
         0s a5 GET /api/v1/secrets?limit=500&resourceVersion=0\n0s a5 whole rv=10 s@7\n\
         0s a7 GET /api/v1/secrets?resourceVersion=10&watch=true&allowWatchBookmarks=true\n0s a7 opens\n";
    let none = snapshot(script).exposure;
    assert_eq!((none.watching, none.reflectors, none.items.or_zero()), (2, 0, 0));
    let behind = snapshot(&(script.to_owned() + "5s a7 MODIFIED s@20")).exposure;
    assert_eq!((behind.watching, behind.reflectors, behind.items.or_zero(), behind.exposed[0].behind), (2, 1, 2, 10));
    let level = snapshot(&(script.to_owned() + "5s a7 MODIFIED s@20\n6s a3 BOOKMARK @20")).exposure;
    assert_eq!(level.reflectors, 0);
}

#[test]
fn every_kind_has_an_identifier_of_its_own_and_advice() {
    let mut ids: Vec<&str> = FindingKind::ALL.iter().map(|kind| kind.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), FindingKind::ALL.len());
    assert!(FindingKind::ALL.iter().all(|kind| kind.advice().ends_with('.')));
}

fn snapshot(script: &str) -> Snapshot {
    play(script, Limits::default()).0
}

fn ids(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.findings.iter().map(|finding| finding.id.as_str()).collect()
}

#[test]
fn client_side_rate_limit_is_reported() {
    let mut script = "0s a connects client=slow/v1\n".to_owned();
    for number in 0..20_u64 {
        let at = if number < 10 { number } else { (number - 9) * 200 };
        let _infallible = writeln!(script, "{at}ms a{} GET /api/v1/namespaces/n/pods/p{number}", 2 * number + 1);
    }
    let snapshot = snapshot(&script);
    assert_eq!(ids(&snapshot), ["client-rate-limit:slow/v1:all-resources"]);
    let seen = "evenly spaced requests after a burst: the client limits its own rate to 5.0 a second, burst 10";
    assert_eq!(snapshot.findings[0].seen, seen);
}

#[test]
fn wasteful_etcd_selectors_are_reported_if_the_total_is_known() {
    let mut items = String::new();
    for number in 0..600 {
        let _infallible = write!(items, " p{number}@5");
    }
    let selected =
        "0s server v1.20.15\n0s a connects client=a/v1\n1s a1 GET /api/v1/pods?labelSelector=app%3Dx\n1s a1 whole rv=10 x@5\n";
    let whole = format!("2s a3 GET /api/v1/pods?limit=500&resourceVersion=0\n2s a3 whole rv=10{items}\n");
    assert_eq!(ids(&snapshot(selected)), [""; 0]);
    let known = snapshot(&format!("{selected}{whole}3s a5 GET /api/v1/pods?watch=1&resourceVersion=10\n3s a5 opens"));
    assert_eq!(ids(&known), ["filter-after-reading::pods/all-namespaces", "wide-informer:a/v1:pods/all-namespaces"]);
    assert_eq!(known.findings[0].seen, "1 list read all 600 objects from etcd to return 1 (list-unset-etcd)");
}

#[test]
fn past_trouble_is_still_reported_with_its_times() {
    let stuck = stuck_for_a_minute();
    let lasts = &snapshot(&stuck).findings[0];
    assert_eq!((lasts.kind, lasts.spell.unwrap().until), (FindingKind::StuckReflector, None));
    for end in ["110s a999 whole rv=100 x@5", "110s a999 whole rv=100 x@5\n120s a closed by client"] {
        let over = snapshot(&format!("{stuck}110s a999 GET /api/v1/pods?resourceVersion=100\n{end}"));
        let found = &over.findings[0];
        assert_eq!(found.kind, FindingKind::StuckReflector, "{:?}", ids(&over));
        assert!(
            found.seen.starts_with("was stuck for 1 m 45 s: requested revision 100, which the server had not reached"),
            "{}",
            found.seen
        );
        let spell = found.spell.unwrap();
        assert_eq!((spell.times, spell.lasted_us), (1, 105_000_000));
        assert_eq!(spell.until.map(|until| until.since(spell.since).as_secs()), Some(105));
    }
}

#[test]
fn past_short_watches_and_loops_are_still_reported() {
    let mut script =
        "0s server v1.34.4\n0s a connects client=c/v1\n0s a1 GET /api/v1/pods?resourceVersion=0\n0s a1 whole rv=10 x@5\n"
            .to_owned();
    for number in 0..4_u64 {
        let (at, watch) = (10 + 2 * number, 4 * number + 3);
        let _infallible = writeln!(
            script,
            "{at}s a{watch} GET /api/v1/pods?resourceVersion=10&watch=true\n{at}s a{watch} opens\n{at}s a{watch} ends"
        );
    }
    let _infallible =
        writeln!(script, "30s a99 GET /api/v1/pods?resourceVersion=10&watch=true\n30s a99 opens\n40s a99 ADDED z@11\n50s a99 ends");
    let snapshot = snapshot(&script);
    assert_eq!(ids(&snapshot), ["short-watches:c/v1:pods/all-namespaces"]);
    assert_eq!(snapshot.findings[0].seen, "4 watches in a row ended within a second");
    assert!(snapshot.findings[0].spell.unwrap().until.is_some());
}

#[test]
fn advice_omits_changes_that_are_done_or_useless() {
    for (url, served, says) in [
        ("/api/v1/pods?resourceVersion=0", "v1.34.4", "already answers these lists"),
        ("/api/v1/pods", "v1.34.4", "already answers these lists"),
        ("/api/v1/pods", "v1.30.4", "or list with resourceVersion=0, which the watch cache answers"),
        ("/api/v1/events", "v1.34.4", "events have no watch cache"),
        ("/api/v1/events?resourceVersion=0", "v1.34.4", "events have no watch cache"),
    ] {
        let mut script = format!("0s server {served}\n0s a connects client=a/v1\n");
        for number in 0..8_u64 {
            let _infallible = writeln!(script, "{0}s a{1} GET {url}\n{0}s a{1} whole rv=10 x@5", number * 10, 2 * number + 1);
        }
        let snapshot = snapshot(&script);
        assert_eq!(snapshot.findings[0].kind, FindingKind::Poller, "{url}");
        let advice = snapshot.findings[0].advice;
        assert!(advice.contains(says), "{url} at {served}: {advice}");
    }
}

#[test]
fn advice_to_lists_from_etcd_follows_their_options_and_the_release() {
    let items: String = (0..600).fold(String::new(), |items, number| items + &format!(" p{number}@5"));
    for (url, served, says) in [
        ("/api/v1/pods", "v1.30.4", "API servers from 1.31 answer"),
        ("/api/v1/pods?resourceVersion=10&resourceVersionMatch=Exact", "v1.33.4", "reads an exact revision from etcd"),
        ("/api/v1/pods?limit=600&continue=@10", "v1.30.4", "instead of in pages"),
    ] {
        let script = format!("0s server {served}\n0s a connects client=a/v1\n1s a1 GET {url}\n1s a1 whole rv=10{items}\n");
        let snapshot = snapshot(&script);
        let found = snapshot.findings.iter().find(|finding| finding.kind == FindingKind::ListsFromEtcd);
        let advice = found.unwrap_or_else(|| panic!("{url}: {:?}", snapshot.lists)).advice;
        assert!(advice.contains(says), "{url} at {served}: {advice}");
    }
}

/// A reflector that asks for revision 100 every five seconds, from the fifth second on, and is always refused.
fn stuck_for_a_minute() -> String {
    let mut script =
        "0s server v1.34.4\n0s a connects client=c/v1\n0s a1 GET /api/v1/pods?resourceVersion=0\n0s a1 whole rv=100 x@5\n\
         1s a3 GET /api/v1/pods?resourceVersion=100&watch=true\n1s a3 opens\n3s a3 ERROR 410 Expired\n3s a3 ends\n"
            .to_owned();
    for number in 1..=20_u64 {
        let (at, list) = (number * 5, 2 * number + 11);
        let _infallible =
            writeln!(script, "{at}s a{list} GET /api/v1/pods?resourceVersion=100\n{at}s a{list} refused 504 Timeout too-large");
    }
    script
}

/// Argo CD lists each kind again whenever its watch has ended, every ten minutes.
#[test]
fn client_that_lists_after_each_watch_that_ended_normally_does_not_resume() {
    let rounds = |times: u64, pid: &str| {
        let mut script = format!("0s server v1.34.4\n0s a connects client=argocd/2 {pid}\n");
        for number in 0..=times {
            let (at, exchange) = (600 * number, 4 * number + 1);
            let _infallible = writeln!(
                script,
                "{at}s a{exchange} GET /api/v1/pods\n{at}s a{exchange} whole rv={revision} x@5\n\
                 {at}s a{} GET /api/v1/pods?resourceVersion={revision}&watch=true&timeoutSeconds=590\n{at}s a{} opens\n{}s a{} ends",
                exchange + 2,
                exchange + 2,
                at + 590,
                exchange + 2,
                revision = 100 + number,
            );
        }
        snapshot(&script)
    };
    let found = rounds(3, "pid=7");
    assert_eq!(found.findings.iter().map(|finding| finding.kind).collect::<Vec<_>>(), [FindingKind::NoResume]);
    assert_eq!(found.findings[0].seen, "3 relists after a watch that had ended normally");
    assert_eq!(found.problems[0].change, "in argocd, resume watches from the last resourceVersion instead of relisting");
    assert!(rounds(2, "pid=7").findings.is_empty(), "it may be a rebuilt informer");
    assert!(rounds(3, "").findings.is_empty(), "it may be a new process each time");
}
