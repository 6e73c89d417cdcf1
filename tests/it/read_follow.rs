//! `watchtap read --follow`: logs that grow and are rotated while they are read.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use observer_tests::{Lines, output_within, wait_within, watchtap};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::page_cli::Seat;

/// A longer wait counts as a hang.
const LIMIT: Duration = Duration::from_mins(1);

/// An event about a request with this audit ID, in this second.
fn event(id: &str, second: u64) -> String {
    let event = json!({
        "kind": "Event", "level": "Metadata", "auditID": id, "stage": "ResponseComplete", "verb": "list",
        "requestURI": "/api/v1/pods?resourceVersion=0", "user": {"username": "u"}, "sourceIPs": ["10.0.0.1"], "userAgent": "a/v1",
        "objectRef": {"resource": "pods", "apiVersion": "v1"}, "responseStatus": {"code": 200},
        "requestReceivedTimestamp": format!("{}.000000Z", time(second)),
        "stageTimestamp": format!("{}.100000Z", time(second)),
    });
    format!("{event}\n")
}

fn time(second: u64) -> String {
    format!("2026-11-22T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

fn append(path: &Path, text: &str) {
    OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// A run that follows logs, and its events.
struct Following {
    child: Child,
    events: Lines,
    report: PathBuf,
}

impl Following {
    fn of(logs: &[&Path], report: &Path) -> Self {
        let mut command = watchtap().unwrap();
        command.args(["read", "--follow", "--events", "-", "--format", "json", "--server-version", "1.34.2", "--report"]);
        command.arg(report).args(logs).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let events = Lines::of(child.stdout.take().unwrap(), LIMIT);
        Self { child, events, report: report.to_owned() }
    }

    /// Waits for the events of the next requests, and returns their audit IDs.
    fn next(&self, number: usize) -> Vec<String> {
        let mut ids = Vec::new();
        while ids.len() < number {
            let line = self.events.next_line().unwrap().expect("the run continues");
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["event"] == "request" {
                ids.push(event["audit_id"].as_str().unwrap().to_owned());
            }
        }
        ids
    }

    /// Interrupts the run, and returns its report.
    fn interrupted(mut self) -> Value {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        assert_eq!(wait_within(&mut self.child, LIMIT).unwrap().code(), Some(0));
        serde_json::from_slice(&fs::read(&self.report).unwrap()).unwrap()
    }
}

#[test]
fn growing_log_is_followed_until_an_interrupt() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.log");
    append(&log, &event("a", 1));
    let run = Following::of(&[&log], &folder.path().join("report"));
    assert_eq!(run.next(1), ["a"]);
    let text = [event("b", 2), event("c", 3)].concat();
    let (begin, end) = text.split_at(250);
    append(&log, begin);
    append(&log, end);
    assert_eq!(run.next(2), ["b", "c"]);
    // Nothing waits for later lines then.
    append(&log, &event("d", 4));
    let report = run.interrupted();
    assert!((3..=4).contains(&report["totals"]["requests"].as_u64().unwrap()), "{report}");
    assert_eq!((&report["log"]["late"], &report["log"]["not_understood"]), (&json!(0), &json!(0)));
}

#[test]
fn rotation_by_rename_loses_no_line() {
    let folder = tempfile::tempdir().unwrap();
    let (log, old) = (folder.path().join("audit.log"), folder.path().join("audit.log.1"));
    append(&log, &event("a", 1));
    let run = Following::of(&[&log], &folder.path().join("report"));
    assert_eq!(run.next(1), ["a"]);
    fs::rename(&log, &old).unwrap();
    append(&old, &event("b", 2));
    assert_eq!(run.next(1), ["b"]);
    append(&old, &event("c", 3));
    append(&log, &event("d", 4));
    assert_eq!(run.next(2), ["c", "d"]);
    append(&log, &event("e", 5));
    assert_eq!(run.next(1), ["e"]);
    assert_eq!(run.interrupted()["totals"]["requests"], 5);
}

#[test]
fn rotation_by_truncation_is_survived() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.log");
    append(&log, &[event("a", 1), event("b", 2)].concat());
    let run = Following::of(&[&log], &folder.path().join("report"));
    assert_eq!(run.next(2), ["a", "b"]);
    File::create(&log).unwrap();
    append(&log, &event("c", 3));
    assert_eq!(run.next(1), ["c"]);
    append(&log, &event("d", 4));
    assert_eq!(run.next(1), ["d"]);
    assert_eq!(run.interrupted()["totals"]["requests"], 4);
}

#[test]
fn logs_of_several_servers_are_followed_together() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a.log", "b.log"].map(|name| folder.path().join(name));
    append(&a, &event("a", 1));
    append(&b, "");
    let run = Following::of(&[&a, &b], &folder.path().join("report"));
    assert_eq!(run.next(1), ["a"]);
    append(&b, &event("b", 2));
    assert_eq!(run.next(1), ["b"]);
    append(&a, &event("c", 3));
    assert_eq!(run.next(1), ["c"]);
    assert_eq!(run.interrupted()["totals"]["connections"], 1, "both logs are of one client");
}

#[test]
fn event_far_in_the_future_makes_no_other_one_late() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.log");
    append(&log, &[event("a", 1), event("far", 20 * 3600), event("b", 2)].concat());
    let run = Following::of(&[&log], &folder.path().join("report"));
    assert_eq!(run.next(2), ["a", "b"]);
    append(&log, &event("c", 3));
    assert_eq!(run.next(1), ["c"]);
    let report = run.interrupted();
    assert_eq!((&report["totals"]["requests"], &report["log"]["late"]), (&json!(4), &json!(0)));
}

#[test]
fn terminal_shows_the_page_and_then_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.log");
    append(&log, &event("a", 1));
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let mut watchtap = seat.start(&["read", "--follow", log.to_str().unwrap()]);
    seat.screen.wait_for("1 Reflectors").unwrap();
    seat.screen.wait_for("log until 00:00:01").unwrap();
    seat.screen.press("2").unwrap();
    seat.screen.wait_for("pods").unwrap();
    seat.screen.press("q").unwrap();
    seat.assert_ended(&mut watchtap, 0, &modes, "audit log, level Metadata");
}

#[test]
fn inputs_that_do_not_grow_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let written = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (packed, capture) = (written("a.gz", &[0x1f, 0x8b, 8]), written("run.cap", observer_core::capture::MAGIC.as_slice()));
    let log = written("a.log", event("a", 1).as_bytes());
    for (arguments, code, refusal) in [
        (&["-"][..], 1, "stdin: --follow needs a file that grows"),
        (&[&*packed], 1, "a.gz: --follow cannot read a file that gzip packed"),
        (&[&*capture], 1, "run.cap: --follow is for logs, and this is a capture"),
        (&["/no/such/log"], 1, "cannot read /no/such/log"),
        (&[folder.path().to_str().unwrap()], 1, "--follow needs a file that grows"),
        (&[&*log, "--against", &*log], 2, "cannot be used with"),
        (&[&*log, "--speed", "2"], 2, "cannot be used with"),
    ] {
        let output = output_within(watchtap().unwrap().args(["read", "--follow"]).args(arguments), LIMIT).unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        assert!(error.contains(refusal), "{arguments:?}: {error}");
    }
}
