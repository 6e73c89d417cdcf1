//! `watchtap read` with audit logs.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use observer_tests::{output_within, watchtap};
use serde_json::{Value, json};

/// A longer wait counts as a hang.
const LIMIT: Duration = Duration::from_mins(1);
/// Number of clients, enough for a storm.
const CLIENTS: u64 = 15;

/// An event of a request that was received at `received` and reached its stage at `reached`, in milliseconds.
fn event(id: &str, stage: &str, (received, reached): (u64, u64), verb: &str, query: &str, user: &str) -> String {
    let time = |at: u64| format!("2026-11-22T02:{:02}:{:02}.{:03}000Z", at / 60_000, at / 1_000 % 60, at % 1_000);
    let event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": id, "stage": stage, "verb": verb,
        "requestURI": format!("/api/v1/pods?{query}"), "user": {"username": user}, "sourceIPs": ["10.0.0.1"],
        "userAgent": format!("{user}/v1 (linux/amd64)"), "objectRef": {"resource": "pods", "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": time(received), "stageTimestamp": time(reached),
    });
    event.to_string()
}

/// The log of clients that list, watch, lose their watch at the same time, and relist.
fn audit_log() -> Vec<String> {
    let mut events = Vec::new();
    for number in 0..CLIENTS {
        let (user, begin) = (format!("controller-{number}"), number * 10);
        let id = |request: &str| format!("{user}-{request}");
        let mut add = |at: u64, event: String| events.push((at, event));
        add(begin + 50, event(&id("a"), "ResponseComplete", (begin, begin + 50), "list", "resourceVersion=0", &user));
        let watch = "watch=true&resourceVersion=100&timeoutSeconds=480&allowWatchBookmarks=true";
        add(begin + 61, event(&id("b"), "ResponseStarted", (begin + 60, begin + 61), "watch", watch, &user));
        let ended = 90_000 + number;
        add(ended, event(&id("b"), "ResponseComplete", (begin + 60, ended), "watch", watch, &user));
        let again = 91_000 + begin;
        add(again + 50, event(&id("c"), "ResponseComplete", (again, again + 50), "list", "resourceVersion=0", &user));
        add(again + 61, event(&id("d"), "ResponseStarted", (again + 60, again + 61), "watch", watch, &user));
    }
    events.sort();
    events.into_iter().map(|(_, event)| event).collect()
}

fn read(arguments: &[&str]) -> Output {
    output_within(watchtap().unwrap().arg("read").args(arguments), LIMIT).unwrap()
}

/// The report as JSON, without the names of files.
fn report(output: &Output) -> Value {
    let mut report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    report["command"].take();
    report["notes"].take();
    report
}

fn written(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn storm_is_found_in_an_audit_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = written(folder.path(), "audit.log", audit_log().join("\n"));
    let output = read(&[&log, "--server-version", "1.34.2", "--format", "json"]);
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["totals"]["requests"], CLIENTS * 4);
    assert_eq!(report["storms"][0]["reflectors"], CLIENTS, "{}", report["storms"]);
    assert_eq!(report["reflectors"].as_array().unwrap().len() as u64, CLIENTS);
    let notes = report["notes"].to_string();
    for note in ["audit log, level Metadata", "60 requests", "the log has no bodies"] {
        assert!(notes.contains(note), "{notes}");
    }
}

#[test]
fn envelopes_packing_order_and_stdin_change_no_report() {
    let folder = tempfile::tempdir().unwrap();
    let lines = audit_log();
    let text = lines.join("\n");
    let plain = written(folder.path(), "plain", &text);
    let expected = report(&read(&[&plain, "--format", "json"]));

    let docker: Vec<String> =
        lines.iter().map(|line| json!({"log": format!("{line}\n"), "stream": "stdout"}).to_string()).collect();
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(docker.join("\n").as_bytes()).unwrap();
    let docker = written(folder.path(), "docker.gz", packed.finish().unwrap());
    assert!(report(&read(&[&docker, "--format", "json"])) == expected, "the report is another one");

    let records: Vec<Value> = lines.iter().map(|line| json!({"category": "kube-audit", "properties": {"log": line}})).collect();
    let azure = written(folder.path(), "azure", json!({ "records": records }).to_string());
    assert!(report(&read(&[&azure, "--format", "json"])) == expected, "the report is another one");

    // Two API servers, each with every second event.
    let of_server = |server: usize| lines.iter().skip(server).step_by(2).cloned().collect::<Vec<_>>().join("\n");
    let [a, b] = [0, 1].map(|server| written(folder.path(), &format!("server-{server}"), of_server(server)));
    assert!(report(&read(&[&b, &a, "--format", "json"])) == expected, "the report is another one");

    let mut child = watchtap().unwrap();
    child.args(["read", "-", "--format", "json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(report(&child.wait_with_output().unwrap()) == expected, "the report is another one");
}

#[test]
fn lines_that_are_not_understood_are_counted_and_change_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = audit_log();
    lines.insert(3, "I1122 02:00:00.000000 1 httplog.go:132] \"HTTP\"".to_owned());
    lines.insert(5, lines[5].split_at(40).0.to_owned());
    let log = written(folder.path(), "audit.log", [lines.join("\n").as_bytes(), b"\n\xff\x00"].concat());
    let output = read(&[&log]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("note: 3 lines are not understood"), "{text}");
}

#[test]
fn files_without_an_event_are_an_error_that_names_them() {
    let folder = tempfile::tempdir().unwrap();
    let log = written(folder.path(), "words.txt", "not a log\n");
    let output = read(&[&log]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("words.txt: not a watchtap capture") && error.contains("docs/logs.md"), "{error}");
}
