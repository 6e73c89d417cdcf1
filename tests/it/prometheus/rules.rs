//! promtool accepts the rules, the alerts and the queries of the boards of the chart, and the tests of the rules pass.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use observer_tests::output_within;
use serde_json::{Value, json};

/// promtool computes for most of a minute, and longer beside other tests.
const LIMIT: Duration = Duration::from_mins(5);

#[test]
fn rules_and_alerts_are_valid() {
    promtool(&["check", "rules"], &files("prometheus", "yaml"));
}

#[test]
fn tests_of_rules_pass() {
    let tests = files("prometheus/tests", "yaml");
    assert!(tests.len() > 3, "{tests:?}");
    let output = promtool(&["test", "rules"], &tests);
    assert_eq!(output.matches("SUCCESS").count(), tests.len(), "{output}");
}

/// Variables have the values that Grafana would insert. promtool checks rules and no queries, so each query becomes a rule.
#[test]
fn queries_of_boards_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    for board in files("grafana", "json") {
        let text = fs::read_to_string(&board).unwrap();
        let text = text.replace("$__rate_interval", "1m0s").replace("$cluster", ".*").replace("$job", "(a|b)");
        let board: Value = serde_json::from_str(&text).unwrap();
        let targets = board["panels"].as_array().unwrap().iter().filter_map(|panel| panel["targets"].as_array()).flatten();
        let rules: Vec<Value> = (0..)
            .zip(targets)
            .map(|(number, target)| json!({ "record": format!("board:query:number{number}"), "expr": target["expr"] }))
            .collect();
        assert!(rules.len() > 20, "{} queries are found", rules.len());
        let file = folder.path().join("board.yaml");
        fs::write(&file, json!({ "groups": [{ "name": "board", "rules": rules }] }).to_string()).unwrap();
        promtool(&["check", "rules"], &[file]);
    }
}

/// Runs promtool, which must succeed, and returns its output.
#[track_caller]
fn promtool(arguments: &[&str], files: &[PathBuf]) -> String {
    let output = output_within(Command::new("promtool").args(arguments).args(files), LIMIT).unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    text
}

/// The files in a folder of `deploy/chart/files` with this extension, of which there must be one.
#[track_caller]
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/chart/files").join(folder);
    let paths = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    assert!(!files.is_empty(), "{} holds no {extension}", folder.display());
    files.sort();
    files
}
