//! Findings about gets, many watches, rollouts and slow starts, and about lists that are older or larger than asked for.

use std::fmt::Write as _;

use observer_core::observer::{FindingKind, Limits, Snapshot};

use crate::script::play;

#[test]
fn steady_gets_of_one_object_are_a_poller_unless_the_client_writes_it() {
    let mut script = "0s server v1.34.4\n0s a connects client=poll/1\n".to_owned();
    for number in 0..50_u64 {
        let (at, exchange) = (2 * number, 4 * number + 1);
        let _infallible =
            writeln!(script, "{at}s a{exchange} GET /api/v1/namespaces/default/pods/x\n{at}s a{exchange} written x@5");
    }
    let found = snapshot(&script);
    assert_eq!(kinds(&found), [FindingKind::GetPoller]);
    assert_eq!(found.findings[0].seen, "gets one object every 2.0 s (50 gets)");
    let elects = script + "1s a999 PUT /api/v1/namespaces/default/pods/x\n1s a999 written x@6\n";
    assert!(kinds(&snapshot(&sorted(&elects))).is_empty());
}

#[test]
fn many_gets_a_second_of_one_resource_are_a_poller() {
    let gets = |step: u64, until: u64| {
        let mut script = "0s server v1.34.4\n0s a connects client=nfd/1\n".to_owned();
        for number in 0..until / step {
            let (at, exchange) = (number * step, 2 * number + 1);
            let _infallible = writeln!(
                script,
                "{at}ms a{exchange} GET /api/v1/namespaces/default/pods/p{}\n{at}ms a{exchange} written x@5",
                number % 97
            );
        }
        snapshot(&script)
    };
    let busy = gets(50, 70_000);
    assert_eq!(busy.findings[0].kind, FindingKind::GetPoller);
    assert_eq!(busy.findings[0].seen, "up to 20 gets a second, 1200 in all");
    assert!(!kinds(&gets(500, 70_000)).contains(&FindingKind::GetPoller), "two a second");
    assert!(!kinds(&gets(50, 20_000)).contains(&FindingKind::GetPoller), "a burst");
}

/// `kubectl apply` of many objects: a burst, and one more get much later.
#[test]
fn burst_of_gets_before_a_pause_is_no_poller() {
    let mut script = "0s server v1.34.4\n0s a connects client=apply/1\n".to_owned();
    for number in 0..400_u64 {
        let (at, exchange) = (number * 20, 2 * number + 1);
        let _infallible = writeln!(script, "{at}ms a{exchange} GET /api/v1/namespaces/default/pods/p{number}");
    }
    script += "40s a999 GET /api/v1/namespaces/default/pods/p1\n";
    assert!(!kinds(&snapshot(&script)).contains(&FindingKind::GetPoller));
    let mut one = "0s server v1.34.4\n0s a connects client=once/1\n".to_owned();
    for number in 0..10_u64 {
        let _infallible = writeln!(one, "{}ms a{} GET /api/v1/namespaces/default/pods/x", number * 90, 2 * number + 1);
    }
    one += "40s a999 GET /api/v1/namespaces/default/pods/x\n";
    assert!(!kinds(&snapshot(&one)).contains(&FindingKind::GetPoller));
}

#[test]
fn fifty_watches_of_single_objects_are_many() {
    let watches = |number: u64| {
        let mut script = "0s server v1.34.4\n0s a connects client=agent/1 pid=7\n".to_owned();
        for number in 0..number {
            let (list, watch) = (4 * number + 1, 4 * number + 3);
            let one = format!("/api/v1/namespaces/default/secrets?fieldSelector=metadata.name%3Ds{number}");
            let _infallible = writeln!(
                script,
                "1s a{list} GET {one}\n1s a{list} whole rv=10 s{number}@5\n1s a{watch} GET {one}&watch=1&resourceVersion=10\n1s a{watch} opens"
            );
        }
        snapshot(&script)
    };
    assert_eq!(kinds(&watches(50)), [FindingKind::ManyWatches]);
    assert_eq!(watches(50).findings[0].seen, "50 open watches of one object each");
    assert!(kinds(&watches(49)).is_empty());
}

#[test]
fn ten_clients_that_start_together_are_a_rollout() {
    let items: String = (0..60).fold(String::new(), |items, number| items + &format!(" p{number}@5"));
    let start = |clients: u8, apart: u64, process: &str| {
        let mut script = "0s server v1.34.4\n".to_owned();
        for number in 0..clients {
            let (letter, at) = (char::from(b'a' + number), apart * u64::from(number));
            let node = format!("/api/v1/pods?fieldSelector=spec.nodeName%3Dn{number}");
            let _infallible = writeln!(
                script,
                "{at}s {letter} connects client=agent/1{}\n{at}s {letter}1 GET {node}\n{at}s {letter}1 whole rv=10{items}\n\
                 {at}s {letter}3 GET {node}&watch=1&resourceVersion=10\n{at}s {letter}3 opens",
                process.replace('N', &number.to_string())
            );
        }
        snapshot(&script)
    };
    let found = start(10, 5, " pid=10N");
    let rollout = found.findings.iter().find(|finding| finding.kind == FindingKind::Rollout).unwrap();
    let seen = "10 clients of one program started within 45 s, and listed 600 objects (0 B) together";
    assert_eq!((rollout.seen.as_str(), rollout.amount), (seen, 600));
    assert!(!kinds(&start(9, 5, " pid=10N")).contains(&FindingKind::Rollout), "too few");
    assert!(!kinds(&start(10, 120, " pid=10N")).contains(&FindingKind::Rollout), "one after another");
    assert!(kinds(&start(10, 5, "")).contains(&FindingKind::Rollout), "each reads the pods of its own node");
}

#[test]
fn start_that_waits_for_its_own_rate_limit_is_slow() {
    let start = |pace: u64, informers: u64| {
        let mut script = "0s server v1.34.4\n0s a connects client=quota/1\n".to_owned();
        for number in 0..informers {
            let at = if number < 10 { number } else { (number - 9) * pace };
            let (list, watch) = (4 * number + 1, 4 * number + 3);
            let path = format!("/apis/g{number}.example.com/v1/things");
            let _infallible = writeln!(
                script,
                "{at}ms a{list} GET {path}?resourceVersion=0&limit=500\n{at}ms a{list} whole rv=10 x@5\n\
                 {at}ms a{watch} GET {path}?watch=1&resourceVersion=10\n{at}ms a{watch} opens"
            );
        }
        snapshot(&script)
    };
    // A list and a watch at once, and then nothing for a while, is no even spacing.
    assert!(!kinds(&start(200, 100)).contains(&FindingKind::SlowSync));
    let mut script = "0s server v1.34.4\n0s a connects client=quota/1\n".to_owned();
    for number in 0..200_u64 {
        let at = if number < 10 { number } else { (number - 9) * 200 };
        let path = format!("/apis/g{number}.example.com/v1/things");
        let _infallible =
            writeln!(script, "{at}ms a{0} GET {path}?resourceVersion=0&limit=500\n{at}ms a{0} whole rv=10 x@5", 2 * number + 1);
    }
    for number in 0..200_u64 {
        let (at, watch) = (38_200 + 200 * (number + 1), 1_001 + 2 * number);
        let path = format!("/apis/g{number}.example.com/v1/things");
        let _infallible = writeln!(script, "{at}ms a{watch} GET {path}?watch=1&resourceVersion=10\n{at}ms a{watch} opens");
    }
    let found = snapshot(&script);
    let slow = found.findings.iter().find(|finding| finding.kind == FindingKind::SlowSync).unwrap();
    let seen = "needed 38 s to get the state of 200 reflectors, about 38 s of it in its own rate limit (5.0 a second, burst 10)";
    assert_eq!(slow.seen, seen);
    assert!(!kinds(&found).contains(&FindingKind::ClientRateLimit), "replaced by the specific finding");
}

#[test]
fn older_state_of_a_list_that_any_state_may_answer_is_no_rollback() {
    let relist = |parameters: &str| {
        snapshot(&format!(
            "0s server v1.34.4
             0s a connects client=c/1 pid=7
             0s a1 GET /api/v1/pods?resourceVersion=0
             0s a1 whole rv=100 x@5
             1s a3 GET /api/v1/pods?watch=1&resourceVersion=100
             1s a3 opens
             9s a3 reset by server
             10s a5 GET /api/v1/pods{parameters}
             10s a5 whole rv=90 x@5"
        ))
    };
    assert_eq!(kinds(&relist("?resourceVersion=0")), [FindingKind::OlderState]);
    let seen = "1 list with resourceVersion=0 returned an older state than the client had";
    assert_eq!(relist("?resourceVersion=0").findings[0].seen, seen);
    assert_eq!(kinds(&relist("")), [FindingKind::RevisionWentBack]);
}

#[test]
fn consistent_lists_that_wait_three_seconds_may_have_fallen_back() {
    let list = |version: &str, parameters: &str, millis: u64| {
        snapshot(&format!(
            "0s server {version}\n0s a connects client=c/1\n0s a1 GET /api/v1/pods{parameters}\n{millis}ms a1 whole rv=100 x@5"
        ))
    };
    assert_eq!(kinds(&list("v1.34.4", "", 3_100)), [FindingKind::ConsistentReadFellBack]);
    for (version, parameters, millis) in [("v1.34.4", "", 2_900), ("v1.34.4", "?resourceVersion=0", 3_100), ("v1.30.4", "", 3_100)]
    {
        assert!(kinds(&list(version, parameters, millis)).is_empty(), "{version} {parameters} {millis}");
    }
}

#[test]
fn limit_that_the_cache_ignores_is_reported_from_ten_times_as_many_objects() {
    let list = |limit: u64, parameters: &str| {
        let items: String = (0..500).fold(String::new(), |items, number| items + &format!(" p{number}@5"));
        snapshot(&format!(
            "0s server v1.34.4\n0s a connects client=c/1\n0s a1 GET /apis/apps/v1/replicasets?limit={limit}{parameters}\n0s a1 whole rv=100{items}"
        ))
    };
    assert_eq!(kinds(&list(50, "&resourceVersion=0")), [FindingKind::IgnoredLimit]);
    assert!(kinds(&list(51, "&resourceVersion=0")).is_empty());
    assert!(kinds(&list(50, "")).is_empty(), "the server pages this list");
}

/// The informer of one client sends the same request on purpose.
#[test]
fn informer_of_another_client_does_not_hide_an_ignored_limit() {
    let items: String = (0..500).fold(String::new(), |items, number| items + &format!(" p{number}@5"));
    let list = |client: &str, name: &str| {
        format!(
            "0s {client} connects client={name}/1\n0s {client}1 GET /apis/apps/v1/replicasets?limit=50&resourceVersion=0\n0s {client}1 whole rv=100{items}\n"
        )
    };
    let informer = list("a", "informer") + "1s a3 GET /apis/apps/v1/replicasets?watch=true&resourceVersion=100\n1s a3 opens\n";
    assert!(kinds(&snapshot(&format!("0s server v1.34.4\n{informer}"))).is_empty());
    let both = snapshot(&format!("0s server v1.34.4\n{informer}{}", list("b", "script")));
    assert_eq!(kinds(&both), [FindingKind::IgnoredLimit]);
    assert_eq!(both.problems[0].clients, ["script"]);
    // A list of the newest state comes in pages, so its client is not concerned.
    let newest = "0s b connects client=kubectl/v1.34.1\n0s b1 GET /apis/apps/v1/replicasets?limit=50\n0s b1 whole rv=100 p@5\n";
    assert!(kinds(&snapshot(&format!("0s server v1.34.4\n{informer}{newest}"))).is_empty());
}

/// If all lists of one shape wait as long, and are small, they all fell back.
#[test]
fn consistent_lists_that_all_wait_are_slow_by_size_only_if_they_are_large() {
    let lists = |bytes: u64| {
        let mut script = "0s server v1.34.4\n0s a connects client=c/1\n".to_owned();
        for number in 0..6 {
            let (at, exchange) = (100 * number, 2 * number + 1);
            let _infallible = writeln!(
                script,
                "{at}s a{exchange} GET /api/v1/pods\n{}s a{exchange} bytes {bytes}\n{}s a{exchange} whole rv=100 x@5",
                at + 4,
                at + 4
            );
        }
        kinds(&snapshot(&script)).contains(&FindingKind::ConsistentReadFellBack)
    };
    assert_eq!([lists(900_000), lists(30_000_000)], [true, false]);
}

fn snapshot(script: &str) -> Snapshot {
    play(script, Limits::default()).0
}

fn kinds(snapshot: &Snapshot) -> Vec<FindingKind> {
    snapshot.findings.iter().map(|finding| finding.kind).collect()
}

/// The lines of a script in the order of their times, which are in seconds.
fn sorted(script: &str) -> String {
    let mut lines: Vec<&str> = script.lines().collect();
    lines.sort_by_key(|line| line.split_once("s ").and_then(|(second, _)| second.parse::<u64>().ok()));
    lines.join("\n")
}
