//! Controllers in `watchtap exec --demo` that exceed a budget until they are fixed.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use observer_tests::{ClientGo, built, output_within, watchtap};
use serde_json::Value;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_mins(2);
/// The exit code of `exec` if the command exceeded its budget.
const EXCEEDED: i32 = 124;

/// Plays `script` for a program that keeps config maps. Returns the exit code, and the report.
fn judged(script: &str, budget: &str, program: PathBuf, arguments: &[&str]) -> (Option<i32>, Value) {
    let folder = TempDir::new().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let (script, budget) = (file("a.script", script), file("budget.json", budget));
    let report = folder.path().join("report.json");
    let mut exec = watchtap().unwrap();
    exec.args(["exec", "--format", "json", "--report"]).arg(&report);
    exec.arg("--demo").arg(script).arg("--budget").arg(budget).arg("--").arg(program).args(arguments);
    let output = output_within(exec.env_remove("KUBECONFIG").current_dir(folder.path()), LIMIT).unwrap();
    let report = fs::read(&report).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.code(), serde_json::from_slice(&report).unwrap())
}

/// Before 1.16, client-go relists everything after a refused connection. The server is down for longer than the second after which Go's
/// HTTP/2 client repeats a request that its old connection did not take.
#[test]
fn update_of_client_go_keeps_a_budget_of_relists() {
    const SCRIPT: &str = "5s restart for=3s\n15s wait\n";
    const BUDGET: &str = r#"{"schema": "watchtap.budget/v1", "resources": {"configmaps": {"relists": 0}}}"#;
    let run = |release: ClientGo| judged(SCRIPT, BUDGET, release.reflector().unwrap(), &["default", "my-controller/1"]);
    let (code, report) = run(ClientGo::V0_15);
    assert_eq!(code, Some(EXCEEDED), "{report:#}");
    assert_eq!(report["budget"]["exceeded"][0]["quantity"], "relists", "{report:#}");
    assert!(kinds(&report).contains(&"refused-misread"), "{report:#}");
    let (code, report) = run(ClientGo::V0_37);
    assert_eq!(code, Some(0), "{report:#}");
    assert!(report["totals"]["watches"].as_u64() > Some(1), "it watched again: {report:#}");
}

/// A watcher of kube-rs repeats a failed request at once, unless it has a backoff.
#[test]
fn backoff_of_kube_rs_keeps_a_budget_of_lists() {
    const SCRIPT: &str = "0s answer 500 for=5s\n12s wait\n";
    const BUDGET: &str = r#"{"schema": "watchtap.budget/v1", "resources": {"configmaps": {"lists": 8}}}"#;
    let run =
        |more: &[&str]| judged(SCRIPT, BUDGET, built("kube-reflector").unwrap(), &[&["default", "my-controller/1"], more].concat());
    let (code, report) = run(&["hasty"]);
    assert_eq!(code, Some(EXCEEDED), "{report:#}");
    assert_eq!(report["budget"]["exceeded"][0]["quantity"], "lists", "{report:#}");
    let (code, report) = run(&[]);
    assert_eq!(code, Some(0), "{report:#}");
}

/// The kinds of all findings.
fn kinds(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().filter_map(|finding| finding["kind"].as_str()).collect()
}
