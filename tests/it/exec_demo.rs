//! `watchtap exec --demo`: a command in a demo cluster, with the faults of a script.

use std::path::PathBuf;
use std::time::Duration;

use observer_tests::{output_within, watchtap};
use serde_json::Value;
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_mins(1);

/// Runs a command in a demo cluster. Returns the exit code, the report, and the messages.
fn run(options: &[&str], command: &[&str]) -> (Option<i32>, Value, String) {
    let folder = TempDir::new().unwrap();
    let report: PathBuf = folder.path().join("report.json");
    let mut exec = watchtap().unwrap();
    exec.args(["exec", "--format", "json", "--report"]).arg(&report).args(options).arg("--").args(command);
    let output = output_within(exec.env_remove("KUBECONFIG").current_dir(folder.path()), LIMIT).unwrap();
    let report = std::fs::read(&report).unwrap_or_default();
    (
        output.status.code(),
        serde_json::from_slice(&report).unwrap_or_default(),
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout),
    )
}

#[test]
fn command_runs_in_a_quiet_demo_cluster_and_keeps_its_exit_code() {
    let (code, report, messages) = run(&["--demo"], &["sh", "-c", "cat $KUBECONFIG; exit 7"]);
    assert_eq!(code, Some(7), "{messages}");
    assert!(messages.contains("no real API server"), "{messages}");
    assert!(messages.contains("current-context"), "the command has a kubeconfig: {messages}");
    assert_eq!(report["profile"]["version"], "v1.34.4", "{report:#}");
}

#[test]
fn end_of_the_script_ends_the_command_without_a_failure() {
    let folder = TempDir::new().unwrap();
    let script = folder.path().join("a.script");
    std::fs::write(&script, "0s print it begins\n0s expire all\n1s print it is over\n").unwrap();
    let (code, report, messages) = run(&["--demo", script.to_str().unwrap()], &["sleep", "600"]);
    assert_eq!(code, Some(0), "{messages}");
    assert!(messages.contains("demo: it begins") && messages.contains("demo: it is over"), "{messages}");
    assert_eq!(report["exit_code"], 0, "{report:#}");
    let ignores = "trap 'exit 9' TERM; while true; do sleep 1; done";
    let (code, _, messages) = run(&["--demo", script.to_str().unwrap()], &["sh", "-c", ignores]);
    assert_eq!(code, Some(9), "the command's own exit code remains: {messages}");
}

#[test]
fn torture_plays_every_fault() {
    let (code, report, messages) = run(&["--demo", "torture", "--demo-speed", "100"], &["sleep", "600"]);
    assert_eq!(code, Some(0), "{messages}");
    let faults = report["faults"]["latest"].as_array().unwrap();
    let acts: Vec<&str> = faults.iter().filter_map(|fault| fault["act"].as_str()).collect();
    assert_eq!(acts.first().zip(acts.last()), Some((&"end-watches", &"deaf all for=230s")), "{acts:?}");
    assert!(faults[0]["note"].as_str().is_some_and(|note| note.starts_with("all watches end cleanly")), "{report:#}");
    for fault in [
        "end cleanly",
        "restarts",
        "reset",
        "429",
        "500",
        "every two seconds",
        "do not end",
        "restored",
        "deliver nothing",
        "the last fault",
    ] {
        assert!(messages.contains(fault), "{fault} is missing: {messages}");
    }
}

#[test]
fn objects_of_a_file_are_created_or_refused() {
    const DEFINITION: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
";
    let widget = |name: &str| format!("---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: {name}}}\n");
    let folder = TempDir::new().unwrap();
    let objects = folder.path().join("objects.yaml");
    let objects = objects.to_str().unwrap();
    let run = |text: &str| {
        std::fs::write(objects, text).unwrap();
        run(&["--demo", "--demo-objects", objects], &["true"])
    };
    // The definition is created first, wherever it stands.
    let (code, _, messages) = run(&format!("{}{DEFINITION}", widget("a") + "---"));
    assert_eq!(code, Some(0), "{messages}");
    let (code, _, messages) = run(&format!("{DEFINITION}{}{}", widget("a"), widget("a")));
    assert_eq!(code, Some(125), "{messages}");
    assert!(messages.contains("cannot create Widget a"), "{messages}");
    let (code, _, messages) = run(&widget("a"));
    assert_eq!(code, Some(125), "{messages}");
    assert!(messages.contains("does not serve example.com/v1 Widget"), "{messages}");
}

#[test]
fn script_with_an_error_is_refused_with_its_line() {
    let folder = TempDir::new().unwrap();
    let script = folder.path().join("bad.script");
    std::fs::write(&script, "0s deaf pods\n").unwrap();
    let (code, _, messages) = run(&["--demo", script.to_str().unwrap()], &["true"]);
    assert_eq!(code, Some(125), "{messages}");
    assert!(messages.contains("bad.script:1: for= is missing"), "{messages}");
    let (code, _, messages) = run(&["--demo-speed", "3"], &["true"]);
    assert_eq!(code, Some(125), "{messages}");
}
