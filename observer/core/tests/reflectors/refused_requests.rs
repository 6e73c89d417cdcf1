//! Lists and watches that the server refuses again and again, and gets and writes that it answers with 5xx.

use std::fmt::Write as _;

use expect_test::expect;
use observer_core::observer::{Event, FindingKind, Limits, Snapshot};

use crate::script::{check, play};

/// A client that lists every ten seconds; the answers follow each other.
fn lists(answers: &[&str]) -> String {
    lists_every(10, answers)
}

/// The same with this number of seconds between two lists.
fn lists_every(step: usize, answers: &[&str]) -> String {
    let mut script = "0s server v1.34.4\n0s a connects client=reader/1\n".to_owned();
    for (number, answer) in answers.iter().enumerate() {
        let (at, exchange) = (step * number, 2 * number + 1);
        let _infallible = writeln!(script, "{at}s a{exchange} GET /api/v1/secrets?resourceVersion=0\n{at}s a{exchange} {answer}");
    }
    script
}

fn snapshot(script: &str) -> Snapshot {
    play(script, Limits::default()).0
}

fn refused(answers: &[&str]) -> Option<(u64, String, &'static str)> {
    let mut findings = snapshot(&lists(answers)).findings;
    findings.retain(|finding| finding.kind == FindingKind::RefusedRequests);
    findings.pop().map(|finding| (finding.amount, finding.seen, finding.advice))
}

#[test]
fn refusals_of_a_minute_are_a_trouble_until_an_answer() {
    let mut answers = vec!["refused 403 Forbidden"; 8];
    answers.push("whole rv=5 x@5");
    check(
        &lists(&answers),
        &expect![[r"
            60s refused-requests #1: 7 lists in a row answered 403, for 1 m 0 s
            80s refused-requests #1 is over
            #1 client 1 secrets · all namespaces listed rv=5 lists=9 watches=0 resumes=0 relists=0 known=0/1
        "]],
    );
}

#[test]
fn accepted_watch_ends_the_refusals_of_watches() {
    let mut script =
        "0s server v1.34.4\n0s a connects client=reader/1\n0s a1 GET /api/v1/secrets\n0s a1 whole rv=5 x@5\n".to_owned();
    for number in 1..=9 {
        let (at, exchange) = (10 * number, 2 * number + 1);
        let _infallible = writeln!(script, "{at}s a{exchange} GET /api/v1/secrets?watch=true&resourceVersion=5");
        let answer = if number < 9 { "refused 503 ServiceUnavailable" } else { "opens" };
        let _infallible = writeln!(script, "{at}s a{exchange} {answer}");
    }
    let troubles: Vec<String> = play(&script, Limits::default()).1.iter().filter_map(trouble).collect();
    assert_eq!(troubles, ["8 watches in a row answered 5xx, the last with 503, for 1 m 10 s"].map(|seen| format!("over: {seen}")));
}

/// The end of a trouble.
fn trouble(event: &Event) -> Option<String> {
    if let Event::TroubleEnded { trouble } = event { Some(format!("over: {}", trouble.seen)) } else { None }
}

/// A client that has given up, and tries again hours later.
#[test]
fn late_answer_does_not_lengthen_a_trouble() {
    let answers = lists(&["refused 403 Forbidden"; 8]);
    let script = answers + "9000s a91 GET /api/v1/secrets?resourceVersion=0\n9000s a91 whole rv=5 x@5\n";
    let findings = snapshot(&script).findings;
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!(finding.spell.map(|spell| (spell.lasts(), spell.lasted_us)), Some((false, 70_000_000)));
}

/// Each status needs another change, so the findings are not merged.
#[test]
fn lists_and_watches_with_other_statuses_are_other_findings() {
    let mut script = "0s server v1.34.4\n0s a connects client=reader/1\n0s b connects client=reader/1 as=apps/reader\n".to_owned();
    for number in 0..8 {
        let (at, exchange) = (10 * number, 2 * number + 1);
        let _infallible = writeln!(script, "{at}s a{exchange} GET /api/v1/secrets\n{at}s a{exchange} refused 403 Forbidden");
        let _infallible =
            writeln!(script, "{at}s b{exchange} GET /api/v1/secrets\n{at}s b{exchange} refused 503 ServiceUnavailable");
    }
    let ids: Vec<String> = snapshot(&script).findings.into_iter().map(|finding| finding.id).collect();
    assert_eq!(ids, ["403", "5xx"].map(|class| format!("refused-requests:reader/1:secrets/all-namespaces:{class}")));
}

#[test]
fn few_or_brief_refusals_are_no_trouble() {
    assert_eq!(refused(&["refused 503 ServiceUnavailable"; 4]), None, "a restart");
    let alternating: Vec<&str> = ["refused 403 Forbidden", "refused 404 NotFound"].into_iter().cycle().take(20).collect();
    assert_eq!(refused(&alternating), None, "one status after another");
    assert_eq!(refused(&["refused 410 Expired"; 10]), None, "has a finding of its own");
    let rare = snapshot(&lists_every(400, &["refused 403 Forbidden"; 10])).findings;
    assert!(rare.iter().all(|finding| finding.kind != FindingKind::RefusedRequests), "{rare:?}");
    let kubectl = lists(&["refused 403 Forbidden"; 10]).replace("reader/1", "kubectl/v1.34.1");
    assert!(snapshot(&kubectl).findings.is_empty(), "a user who tries again");
}

#[test]
fn statuses_of_the_server_itself_are_one_series() {
    let failing: Vec<&str> = ["refused 500 InternalError", "refused 503 ServiceUnavailable"].into_iter().cycle().take(8).collect();
    let (amount, seen, advice) = refused(&failing).unwrap();
    assert_eq!((amount, seen.as_str()), (8, "8 lists in a row answered 5xx, the last with 503, for 1 m 10 s"));
    assert_eq!(advice, FindingKind::ServerErrors.advice());
}

/// client-go with streaming lists: each attempt is a refused streaming list and a list.
#[test]
fn refused_streaming_lists_do_not_interrupt_a_series() {
    let mut script = "0s server v1.34.4\n0s a connects client=reader/1\n".to_owned();
    for number in 0..10 {
        let (at, exchange) = (10 * number, 4 * number + 1);
        let streaming = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        let _infallible =
            writeln!(script, "{at}s a{exchange} GET /api/v1/secrets?{streaming}\n{at}s a{exchange} refused 422 Invalid");
        let list = exchange + 2;
        let _infallible = writeln!(script, "{at}s a{list} GET /api/v1/secrets\n{at}s a{list} refused 500 InternalError");
    }
    let findings = snapshot(&script).findings;
    let refused = findings.iter().find(|finding| finding.kind == FindingKind::RefusedRequests).unwrap();
    assert_eq!((refused.amount, findings.len()), (10, 1), "{findings:?}");
}

#[test]
fn change_depends_on_the_status() {
    for (answer, status, change) in [
        ("refused 401 Unauthorized", "401", "renew the credential of reader"),
        ("refused 403 Forbidden", "403", "let reader list and watch secrets (RBAC)"),
        ("refused 404 NotFound", "404", "install the CRD of secrets, or remove the informer from reader"),
        ("refused 429 TooManyRequests", "429", "give reader more shares in its priority level, or let it send fewer requests"),
        ("refused 503 ServiceUnavailable", "5xx", "find out why the API server cannot answer"),
        ("refused 400 BadRequest", "4xx", "find out why the API server refuses reader"),
    ] {
        let problems = snapshot(&lists(&[answer; 8])).problems;
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!((problem.kind, problem.change.as_str()), (FindingKind::RefusedRequests, change));
        assert_eq!(problem.wrong, format!("8 lists or watches of secrets answered {status}, one after another"));
    }
}

/// Updates of a lease each second; the first `failing` are answered with 500, the others with 409.
fn updates(failing: usize, path: &str) -> Snapshot {
    let mut script = "0s server v1.34.4\n0s a connects client=elects/1\n".to_owned();
    for number in 0..100 {
        let exchange = 2 * number + 1;
        let answer = if number < failing { "refused 500 InternalError" } else { "refused 409 Conflict" };
        let _infallible = writeln!(script, "{number}s a{exchange} PUT {path}\n{number}s a{exchange} {answer}");
    }
    snapshot(&script)
}

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/d/leases/x";

#[test]
fn writes_answered_with_5xx_for_a_minute_are_a_finding() {
    let findings = updates(70, LEASE).findings;
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((finding.kind, finding.amount, finding.lasts()), (FindingKind::ServerErrors, 70, true));
    assert_eq!(finding.seen, "70 requests answered with 5xx (update)");
    assert_eq!(finding.id, "server-errors::leases.coordination.k8s.io:update");
}

#[test]
fn failures_in_many_namespaces_are_one_finding_and_rare_ones_none() {
    let updates = |seconds: usize| {
        let mut script = "0s server v1.34.4\n0s a connects client=elects/1\n".to_owned();
        for number in 0..20 {
            let (at, exchange) = (number * seconds, 2 * number + 1);
            let path = format!("/apis/coordination.k8s.io/v1/namespaces/n{number}/leases/x");
            let _infallible = writeln!(script, "{at}s a{exchange} PUT {path}\n{at}s a{exchange} refused 500 InternalError");
        }
        snapshot(&script).findings
    };
    let findings = updates(5);
    assert_eq!(
        findings.iter().map(|finding| (finding.kind, finding.amount)).collect::<Vec<_>>(),
        [(FindingKind::ServerErrors, 20)]
    );
    assert!(updates(90).is_empty(), "one each 90 s");
}

#[test]
fn brief_failures_and_those_of_others_are_no_server_errors() {
    assert!(updates(30, LEASE).findings.is_empty(), "a restart");
    for path in ["/readyz", "/api/v1/namespaces/d/services/x/proxy/y", "/api/v1/namespaces/d/pods/x/exec"] {
        assert!(updates(90, path).findings.is_empty(), "{path}");
    }
}

#[test]
fn each_client_has_the_counts_of_its_requests() {
    let script = lists(&["refused 403 Forbidden", "whole rv=5 x@5"])
        + "20s b connects client=other/1\n20s b1 GET /api/v1/pods?watch=true&resourceVersion=5\n20s b1 opens\n30s b1 ends\n";
    let clients = snapshot(&script).clients;
    let counted: Vec<(&str, [u64; 4])> = clients
        .iter()
        .map(|row| {
            let requests = &row.requests;
            (row.client.program.as_str(), [requests.requests, requests.lists, requests.watches, requests.failed])
        })
        .collect();
    assert_eq!(counted, [("reader/1", [2, 2, 0, 1]), ("other/1", [1, 0, 1, 0])]);
    assert!(clients.iter().all(|row| row.requests.total_us == 0), "the time of a watch does not count");
}
