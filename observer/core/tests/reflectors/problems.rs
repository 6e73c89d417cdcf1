//! Problems, one per cause: the clients, an amount and the change to make.

use std::fmt::Write as _;

use observer_core::observer::{FindingKind, Limits, Snapshot};

use crate::script::play;

#[test]
fn one_cause_of_several_clients_is_one_problem_with_one_change() {
    let mut script = "0s server v1.34.4\n".to_owned();
    for (letter, client) in [('a', "old-ingress/v0.26.1"), ('b', "log-shipper/v1"), ('c', "disk-provisioner/v2")] {
        let _infallible = writeln!(
            script,
            "0s {letter} connects client={client}\n0s {letter}1 GET /api/v1/pods?limit=500&resourceVersion=0\n0s {letter}1 whole rv=10 x@5\n\
             1s {letter}3 GET /api/v1/pods?resourceVersion=10&watch=true\n1s {letter}3 opens\n2s {letter}3 ADDED y@10"
        );
    }
    script += "10s refusing\n10s a closed by server\n10s b closed by server\n10s c closed by server\n13s listening\n";
    for (again, client) in [('d', "old-ingress/v0.26.1"), ('e', "log-shipper/v1"), ('f', "disk-provisioner/v2")] {
        let _infallible = writeln!(
            script,
            "14s {again} connects client={client}\n14s {again}1 GET /api/v1/pods?limit=500&resourceVersion=0\n14s {again}1 whole rv=10 x@5 y@10"
        );
    }
    let snapshot = snapshot(&script);
    let [problem] = &snapshot.problems[..] else { panic!("{:#?}", snapshot.problems) };
    assert_eq!(problem.change, "update client-go in disk-provisioner, log-shipper and old-ingress to 1.16 or later");
    assert_eq!(
        (problem.wrong.as_str(), problem.amount, problem.findings.len()),
        ("3 needless relists after refused connections", 3, 3)
    );
    assert_eq!((snapshot.outages.times, snapshot.outages.lasted_us), (1, 3_000_000));
    let outage = &snapshot.outages.latest[0];
    assert_eq!(outage.until.map(|until| until.since(outage.since).as_secs()), Some(3));
}

#[test]
fn lasting_problems_come_first_without_muted_findings() {
    let mut script = "0s server v1.34.4\n0s a connects client=a/v1\n0s b connects client=b/v1\n".to_owned();
    for number in 0..20_u64 {
        let (at, exchange) = (number * 5, 2 * number + 1);
        let _infallible = writeln!(script, "{at}s a{exchange} GET /api/v1/pods\n{at}s a{exchange} whole rv=10 x@5");
    }
    script += "90s b1 GET /api/v1/pods?resourceVersion=10&watch=true\n90s b1 opens\n90s b1 blocked\n";
    let snapshot = snapshot(&(script + "99s shutdown\n100s a closed by client\n100s b closed by client"));
    let kinds: Vec<FindingKind> = snapshot.problems.iter().map(|problem| problem.kind).collect();
    assert_eq!(kinds, [FindingKind::SlowReader, FindingKind::Poller]);
    assert!(snapshot.problems[0].lasts(), "it did when the shutdown was requested");
    assert_eq!(snapshot.problems[1].change, "in a, watch instead of polling");
    assert_eq!(snapshot.problems[1].wrong, "20 lists of pods, no watch");
    let muted = snapshot.without_findings(&["poller:".to_owned()]);
    assert_eq!(muted.problems.iter().map(|problem| problem.kind).collect::<Vec<_>>(), [FindingKind::SlowReader]);
}

fn snapshot(script: &str) -> Snapshot {
    play(script, Limits::default()).0
}
