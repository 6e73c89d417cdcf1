//! Lists and watches that the server refuses again and again, and gets and writes that it answers with 5xx.

use std::fmt::Write as _;

use expect_test::expect;
use observer_core::observer::{FindingKind, Limits, Snapshot};

use crate::script::{check, play};

/// A client that lists every ten seconds; the answers follow each other.
fn lists(answers: &[&str]) -> String {
    let mut script = "0s server v1.34.4\n0s a connects client=reader/1\n".to_owned();
    for (number, answer) in answers.iter().enumerate() {
        let (at, exchange) = (10 * number, 2 * number + 1);
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
fn refusals_of_half_a_minute_are_a_trouble_until_an_answer() {
    let mut answers = vec!["refused 403 Forbidden"; 5];
    answers.push("whole rv=5 x@5");
    check(
        &lists(&answers),
        &expect![[r"
            30s refused-requests #1: 4 lists and watches in a row answered 403, for 30 s
            50s refused-requests #1 is over
            #1 client 1 secrets · all namespaces listed rv=5 lists=6 watches=0 resumes=0 relists=0 known=0/1
        "]],
    );
}

#[test]
fn few_or_brief_refusals_are_no_trouble() {
    assert_eq!(refused(&["refused 503 ServiceUnavailable"; 3]), None, "a restart");
    let alternating: Vec<&str> = ["refused 403 Forbidden", "refused 404 NotFound"].into_iter().cycle().take(10).collect();
    assert_eq!(refused(&alternating), None, "one status after another");
    assert_eq!(refused(&["refused 410 Expired"; 10]), None, "has a finding of its own");
}

#[test]
fn statuses_of_the_server_itself_are_one_series() {
    let failing: Vec<&str> = ["refused 500 InternalError", "refused 503 ServiceUnavailable"].into_iter().cycle().take(8).collect();
    let (amount, seen, advice) = refused(&failing).unwrap();
    assert_eq!((amount, seen.as_str()), (8, "8 lists and watches in a row answered 503, for 1 m 10 s"));
    assert_eq!(advice, FindingKind::ServerErrors.advice());
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
        let problems = snapshot(&lists(&[answer; 5])).problems;
        let problem = problems.iter().find(|problem| problem.kind == FindingKind::RefusedRequests).unwrap();
        assert_eq!(problem.change, change);
        assert_eq!(problem.wrong, format!("5 lists and watches of secrets in a row answered {status}"));
    }
}

#[test]
fn ten_writes_answered_with_5xx_are_a_finding() {
    let updates = |failing: u64| {
        let mut script = "0s server v1.34.4\n0s a connects client=elects/1\n".to_owned();
        for number in 0..20_u64 {
            let exchange = 2 * number + 1;
            let answer = if number < failing { "refused 500 InternalError" } else { "refused 409 Conflict" };
            let _infallible = writeln!(
                script,
                "{number}s a{exchange} PUT /apis/coordination.k8s.io/v1/namespaces/d/leases/x\n{number}s a{exchange} {answer}"
            );
        }
        snapshot(&script)
    };
    assert!(updates(9).findings.is_empty());
    let findings = updates(12).findings;
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((finding.kind, finding.amount), (FindingKind::ServerErrors, 12));
    assert_eq!(finding.seen, "12 of 20 requests answered with 5xx (update)");
    assert_eq!(finding.id, "server-errors::leases.coordination.k8s.io/d/:update");
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
