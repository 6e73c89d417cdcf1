//! `watchtap exec --budget`: limits for a client's requests, and `--mute`.

use std::fs;
use std::path::{Path, PathBuf};

use observer_tests::ExecSession;
use serde_json::{Value, json};

use super::exec_cli::{LIMIT, TestHome, get, stderr};
use super::upstream::Upstream;
use observer_tests::output_within;

const SECRETS: &str = "/api/v1/namespaces/a/secrets";

#[test]
fn run_over_budget_exits_with_124() {
    for (limit, code, exceeded) in [(1, 0, json!([])), (0, 124, json!([{"quantity": "lists", "allowed": 0, "used": 1}]))] {
        let budget = json!({"schema": "watchtap.budget/v1", "total": {"lists": limit}});
        let finished = run(|place| vec!["--budget".into(), place.write("budget.json", &budget.to_string())]);
        assert_eq!(finished.status.code(), Some(code), "{}", finished.stderr);
        assert_eq!(finished.report["budget"], json!({"exceeded": exceeded, "at_least": false}));
    }
}

#[test]
fn written_budget_is_kept_by_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let budget = folder.path().join("budget.json");
    assert_eq!(run(|_| vec!["--write-budget".into(), budget.clone()]).status.code(), Some(0));
    let written: Value = serde_json::from_str(&fs::read_to_string(&budget).unwrap()).unwrap();
    assert_eq!(written["resources"]["secrets"]["lists"], 1, "{written:#}");
    let finished = run(|_| vec!["--budget".into(), budget.clone()]);
    assert_eq!(finished.status.code(), Some(0), "{}", finished.report["budget"]);
}

/// Lists that are a hot loop, and too few to look like a client's own rate limit, which some pauses on a busy machine do.
const HOT_LOOP: usize = 11;

/// Lists without a pause are one finding.
#[test]
fn findings_over_their_limit_exit_with_124() {
    let found = json!([{"finding": "hot-loop", "allowed": 0, "used": 1}]);
    for (limits, mute, code, exceeded) in [
        (json!({"findings": {"hot-loop": 1}, "other_findings": 0}), "poller:", 0, json!([])),
        (json!({"findings": {"hot-loop": 0}}), "poller:", 124, found.clone()),
        (json!({"other_findings": 0}), "poller:", 124, found),
        (json!({"other_findings": 0}), "hot-loop:", 0, json!([])),
    ] {
        let mut budget = limits;
        budget["schema"] = "watchtap.budget/v1".into();
        let finished = run_listing(HOT_LOOP, |place| {
            vec!["--mute".into(), mute.into(), "--budget".into(), place.write("budget.json", &budget.to_string())]
        });
        assert_eq!(finished.status.code(), Some(code), "{budget}: {}", finished.stderr);
        assert_eq!(finished.report["budget"], json!({"exceeded": exceeded, "at_least": false}), "{budget}");
    }
}

#[test]
fn budget_written_by_a_run_with_a_finding_allows_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let budget = folder.path().join("budget.json");
    assert_eq!(run_listing(HOT_LOOP, |_| vec!["--write-budget".into(), budget.clone()]).status.code(), Some(0));
    let written: Value = serde_json::from_str(&fs::read_to_string(&budget).unwrap()).unwrap();
    assert_eq!((&written["findings"], &written["other_findings"]), (&json!({"hot-loop": 1}), &json!(0)), "{written:#}");
    let finished = run_listing(HOT_LOOP, |_| vec!["--budget".into(), budget.clone()]);
    assert_eq!(finished.status.code(), Some(0), "{}", finished.report["budget"]);
}

#[test]
fn failing_command_keeps_its_own_exit_code() {
    let place = TestHome::with_upstream();
    let budget = place.write("budget.json", r#"{"schema": "watchtap.budget/v1", "total": {"lists": 0}}"#);
    let output = output_within(place.command(&["exec", "--budget"]).arg(budget).args(["--", "false"]), LIMIT).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("budget kept"), "{}", stderr(&output));
}

#[test]
fn markdown_report_begins_with_the_result_of_the_budget() {
    let place = TestHome::with_upstream();
    let budget = place.write("budget.json", r#"{"schema": "watchtap.budget/v1", "total": {"lists": 0}}"#);
    let mut command = place.command(&["exec", "--format", "markdown", "--budget"]);
    let output = output_within(command.arg(budget).args(["--", "true"]), LIMIT).unwrap();
    let report = stderr(&output);
    assert!(report.lines().any(|line| line.starts_with("**budget kept.** ")), "{report}");
    assert!(report.contains("- **Not observed:** nothing"), "{report}");
}

#[test]
fn invalid_budget_fails_before_the_command_runs() {
    let place = TestHome::with_upstream();
    for (text, said) in [
        (
            r#"{"schema": "watchtap.budget/v1", "total": {"list": 0}}"#,
            "line 1, column 49 has an unknown key; did you mean `lists`?",
        ),
        (
            r#"{"schema": "watchtap.budget/v1", "findings": {"deaf": 0}}"#,
            "line 1, column 52 has an unknown key; did you mean `deaf-watch`?",
        ),
        (r#"{"schema": "watchtap.budget/v2"}"#, "watchtap.budget/v1"),
        ("lists: 1", "docs/budget.md"),
    ] {
        check_refusal(&place, &place.write("budget.json", text), said);
    }
    check_refusal(&place, Path::new("/no/such/budget"), "cannot read /no/such/budget");
}

#[test]
fn write_budget_refuses_the_file_that_is_read() {
    let place = TestHome::with_upstream();
    let text = r#"{"schema": "watchtap.budget/v1"}"#;
    let budget = place.write("budget.json", text);
    let arguments = ["exec", "--budget", budget.to_str().unwrap(), "--write-budget", budget.to_str().unwrap(), "--", "true"];
    let output = output_within(&mut place.command(&arguments), LIMIT).unwrap();
    assert_eq!(output.status.code(), Some(125), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&budget).unwrap(), text);
}

#[test]
fn muted_findings_are_omitted_and_counted() {
    let findings = |flags: &[&str]| {
        let server = Upstream::start();
        let place = TestHome::new();
        let session = ExecSession::start(&place.write("kubeconfig", &server.kubeconfig()), flags).unwrap();
        // A hot loop.
        (0..20).for_each(|_| drop(get(&session, SECRETS)));
        let report = session.finish().unwrap().report;
        (report["findings"].as_array().map_or(0, Vec::len), report["findings_muted"].as_u64().unwrap_or(0))
    };
    assert_eq!(findings(&[]), (1, 0));
    assert_eq!(findings(&["--mute", "poller:"]), (1, 0));
    assert_eq!(findings(&["--mute", "hot-loop:"]), (0, 1));
}

/// A run that lists once, with the flags from `flags`.
fn run(flags: impl FnOnce(&TestHome) -> Vec<PathBuf>) -> observer_tests::Finished {
    run_listing(1, flags)
}

/// A run that lists this often, with the flags from `flags`.
fn run_listing(lists: usize, flags: impl FnOnce(&TestHome) -> Vec<PathBuf>) -> observer_tests::Finished {
    let server = Upstream::start();
    let place = TestHome::new();
    let kubeconfig = place.write("kubeconfig", &server.kubeconfig());
    let flags = flags(&place);
    let flags: Vec<&str> = flags.iter().map(|flag| flag.to_str().unwrap()).collect();
    let session = ExecSession::start(&kubeconfig, &flags).unwrap();
    (0..lists).for_each(|_| assert!(get(&session, SECRETS).starts_with("HTTP/1.1 200 OK")));
    session.finish().unwrap()
}

#[track_caller]
fn check_refusal(place: &TestHome, budget: &Path, said: &str) {
    let arguments = ["exec", "--budget", budget.to_str().unwrap(), "--", "sh", "-c", "echo it ran"];
    let output = output_within(&mut place.command(&arguments), LIMIT).unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
}
