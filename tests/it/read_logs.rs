//! `watchtap read` with audit logs.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use observer_core::capture::{FileEnd, Writer};
use observer_core::observation::{ConnectionId, ConnectionObservation, Observation, Subject, UpstreamName};
use observer_core::time::Timestamp;
use observer_tests::{output_within, watchtap};
use rustix::process::{Pid, Signal, kill_process};
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
    report["log"].take();
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
    let source = &report["log"];
    assert_eq!(
        (&source["kind"], &source["levels"], &source["requests"]),
        (&json!("audit"), &json!(["Metadata"]), &json!(CLIENTS * 4))
    );
    assert_eq!((&source["version"], &source["version_from"]), (&json!("v1.34.2"), &json!("flag")));
    let unknown = [
        "/totals/items",
        "/totals/watch_events",
        "/totals/response_bytes",
        "/lists/0/items",
        "/lists/0/bytes",
        "/watches/0/events",
        "/watches/0/bookmarks",
        "/watches/0/bytes",
        "/storms/0/items",
        "/storms/0/repeated",
        "/storms/0/bytes",
        "/reflectors/0/objects",
        "/reflectors/0/bytes",
        "/reflectors/0/repeats/repeated",
        "/requests/0/items",
        "/requests/0/bytes",
    ];
    for number in unknown {
        assert_eq!(report.pointer(number), Some(&Value::Null), "{number}: a log has no bodies");
    }
    let text = String::from_utf8(read(&[&log]).stdout).unwrap();
    assert!(text.contains("? objects (? unchanged), ? B") && !text.contains("0 objects (0"), "{text}");
    let head = text.split("STORM").next().unwrap();
    let head = head.split("REFLECTORS").next().unwrap();
    for line in
        ["audit log, level Metadata", "60 requests", "logs have no bytes and no connections", "no version given (--server-version)"]
    {
        assert!(head.contains(line), "{text}");
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
    lines.insert(3, "words of no log".to_owned());
    lines.insert(5, lines[5].split_at(40).0.to_owned());
    let log = written(folder.path(), "audit.log", [lines.join("\n").as_bytes(), b"\n\xff\x00\n{\"a\":[Truncated...]"].concat());
    let output = read(&[&log]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\n3 lines are not understood\n1 event was cut by EKS\n"), "{text}");
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

#[test]
fn log_that_can_be_read_only_in_part_is_reported_until_there() {
    let folder = tempfile::tempdir().unwrap();
    let lines = audit_log();
    let (first, second) = lines.split_at(lines.len() / 2);
    let packed = |lines: &[String]| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::none());
        packed.write_all(lines.join("\n").as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let (complete, torn) = (packed(first), packed(second));
    let complete = written(folder.path(), "a.log.gz", complete);
    let empty = written(folder.path(), "empty.log.gz", &torn[..12]);
    let torn = written(folder.path(), "torn.log.gz", &torn[..torn.len() / 2]);
    let output = read(&[&complete, &torn, "--format", "json"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("torn.log.gz: ") && error.contains("the report has its lines up to there"), "{error}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let events = report["log"]["events"].as_u64().unwrap();
    assert!((first.len() as u64 + 1..lines.len() as u64).contains(&events), "{report}");
    assert_eq!(report["log"]["not_understood"], 0);

    let output = read(&[&empty]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("cannot read ") && error.contains("empty.log.gz: ") && !error.contains("up to there"), "{error}");
}

#[test]
fn more_logs_are_read_than_the_limit_of_open_files_allows() {
    let folder = tempfile::tempdir().unwrap();
    let lines = audit_log();
    let logs = lines.iter().enumerate().map(|(number, line)| written(folder.path(), &format!("{number}.log"), line));
    let mut command = Command::new("prlimit");
    command.args(["--nofile=50:4000", "--"]).arg(watchtap().unwrap().get_program()).arg("read").args(logs);
    let output = output_within(command.args(["--format", "json"]), LIMIT).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(report(&output)["totals"]["requests"], CLIENTS * 4);
}

/// The report of a file that comes through a named pipe.
fn report_through_a_pipe(folder: &Path, content: &[u8]) -> Value {
    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Writing waits for the reader, and fails if it stops reading. Its report shows that.
    let (written_to, content) = (pipe.clone(), content.to_vec());
    std::thread::spawn(move || fs::write(written_to, content));
    let output = read(&[pipe.to_str().unwrap(), "--format", "json"]);
    fs::remove_file(&pipe).unwrap();
    assert!(output.status.success(), "{output:?}");
    report(&output)
}

#[test]
fn logs_and_captures_are_read_from_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let text = audit_log().join("\n");
    let log = written(folder.path(), "audit.log", &text);
    let expected = report(&read(&[&log, "--format", "json"]));
    assert!(report_through_a_pipe(folder.path(), text.as_bytes()) == expected, "the report is another one");

    let capture = small_capture(folder.path());
    let expected = report(&read(&[&capture, "--format", "json"]));
    assert_eq!(expected["totals"]["connections"], 1);
    assert!(report_through_a_pipe(folder.path(), &fs::read(capture).unwrap()) == expected, "the report is another one");
}

/// The path of a capture in which one connection is opened.
fn small_capture(folder: &Path) -> String {
    let opened = ConnectionObservation::Opened {
        upstream: UpstreamName::default(),
        protocol: None,
        process: None,
        container_name: None,
        attached_late: false,
        logged: None,
    };
    let at = Timestamp::from_nanos(1_000_000_000);
    let (mut writer, mut bytes) = (Writer::new(at), Vec::new());
    writer.begin_file(&mut bytes);
    writer.record(&Observation { at, subject: Subject::Connection(ConnectionId(1), opened) }, &mut bytes);
    writer.end_file(FileEnd::Complete, &mut bytes);
    written(folder, "run.cap", bytes)
}

#[test]
fn long_watches_and_several_forms_are_read_completely() {
    let folder = tempfile::tempdir().unwrap();
    let lines = audit_log();
    let expected = report(&read(&[&written(folder.path(), "plain", lines.join("\n")), "--format", "json"]));
    let entries: Vec<Value> = lines.iter().map(|line| json!({"timestamp": 1, "message": line, "ingestionTime": 1})).collect();
    let indented = serde_json::to_string_pretty(&json!({"events": entries, "searchedLogStreams": []})).unwrap();
    let events: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let array = serde_json::to_string_pretty(&events).unwrap();
    let list = serde_json::to_string_pretty(&json!({"kind": "EventList", "metadata": {}, "items": events})).unwrap();
    let tail: Vec<String> =
        lines.iter().map(|line| format!("2026-11-22T02:00:00.123000+00:00 kube-apiserver-audit-1 {line}")).collect();
    let exported: Vec<String> = lines.iter().map(|line| format!("2026-11-22T02:00:00.123Z {line}\r")).collect();
    for (name, content) in
        [("indented", indented), ("array", array), ("list", list), ("tail", tail.join("\n")), ("exported", exported.join("\n"))]
    {
        let output = read(&[&written(folder.path(), name, content), "--format", "json"]);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(report(&output) == expected, "{name}: the report is another one");
    }
}

#[test]
fn year_and_zone_of_lines_without_them_are_those_of_the_flags() {
    let folder = tempfile::tempdir().unwrap();
    let line = r#"I0111 01:30:00.500000      12 httplog.go:132] "HTTP" verb="LIST" URI="/api/v1/pods" latency="500ms" audit-ID="a" resp=200"#;
    let log = written(folder.path(), "kube-apiserver.log", line);
    let zone = ["--year", "2021", "--utc-offset", "+02:00"];
    let output = read(&[&[&*log, "--format", "json"][..], &zone].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let source = &report["log"];
    assert_eq!(source["until"], "2021-01-10T23:30:00.500000000Z", "{source}");
    assert_eq!((&source["year"], &source["utc_offset"]), (&json!(2021), &json!("+02:00")));
    assert_eq!(report["started"], "2021-01-10T23:30:00.000000000Z");
    for (arguments, head) in
        [(&zone[..], "those of UTC+02:00, in 2021\n"), (&[], "those of UTC, in the year of the file's last change (assumed")]
    {
        let text = String::from_utf8(read(&[&[&*log][..], arguments].concat()).stdout).unwrap();
        assert!(text.contains(head), "{text}");
    }
    let text = String::from_utf8(read(&[&[&*log, "--against", &log][..], &zone].concat()).stdout).unwrap();
    assert_eq!(text.matches("those of UTC+02:00, in 2021").count(), 2, "{text}");
}

#[test]
fn capture_beside_a_log_and_speed_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let log = written(folder.path(), "audit.log", audit_log().join("\n"));
    let capture = small_capture(folder.path());
    for (arguments, refusal) in [
        (&[&*log, &*capture][..], "run.cap is a capture and"),
        (&[&*log, "--speed", "2"], "audit.log: --speed is for captures"),
        (&[&*capture, "--year", "2024"], "run.cap: --year is for logs"),
        (&[&*capture, "--utc-offset", "-02:00"], "run.cap: --utc-offset is for logs"),
        (&[&*log, "--against", &*capture, "--year", "2024"], "run.cap: --year is for logs"),
    ] {
        let output = read(arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(refusal), "{output:?}");
    }
}

#[test]
fn watch_that_the_server_closed_by_force_is_named_from_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let watch = "watch=true&resourceVersion=100&timeoutSeconds=480&allowWatchBookmarks=true";
    let events = [
        event("a", "ResponseComplete", (0, 50), "list", "resourceVersion=0", "archiver"),
        event("b", "ResponseStarted", (60, 61), "watch", watch, "archiver"),
        event("b", "ResponseComplete", (60, 90_000), "watch", watch, "archiver"),
        event("c", "ResponseComplete", (91_000, 91_050), "list", "resourceVersion=100", "archiver"),
        event("d", "ResponseStarted", (91_060, 91_061), "watch", watch, "archiver"),
    ];
    let audit = written(folder.path(), "audit.log", events.join("\n"));
    let close = |second: &str, key: &str| {
        format!(
            "I1122 02:01:{second}       1 cache_watcher.go:203] Forcing pods watcher close due to unresponsiveness: key: \"{key}\", labels: \"\", fields: \"\". len(c.input) = 10, len(c.result) = 9, graceful = false"
        )
    };
    let lines = [close("29.999000", "/pods"), close("29.999500", "/pods/elsewhere")];
    let server = written(folder.path(), "kube-apiserver.log", lines.join("\n"));
    let arguments = [&*audit, &*server, "--year", "2026"];
    let output = read(&[&arguments[..], &["--format", "json"]].concat());
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = &report["reflectors"][0];
    assert_eq!((&row["causes"], &row["closed_by_force"]), (&json!({"closed-by-force": 1}), &json!(1)), "{row}");
    let close = json!({"at": "2026-11-22T02:01:29.999000000Z", "moment": "closed-by-force", "waiting": 10});
    let evidence = row["last_relist"]["evidence"].as_array().unwrap();
    assert!(evidence.contains(&close), "{evidence:?}");
    let kinds: Vec<&Value> = report["findings"].as_array().unwrap().iter().map(|finding| &finding["kind"]).collect();
    assert_eq!(kinds, ["slow-reader"]);
    let source = &report["log"];
    assert_eq!(["closed_by_force", "ambiguous_closes", "unmatched_closes"].map(|name| &source[name]), [1, 0, 1], "{source}");
    let text = String::from_utf8(read(&arguments).stdout).unwrap();
    for line in [
        "2 watches were closed by force, because clients read too slowly: 1 fits no open watch of the log\n",
        "the server closed 1 of its watches by force, as its log shows",
        "closed by force",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

/// As `kubectl logs -f POD | watchtap read -`: Ctrl-C ends both, and the report has what came until then.
#[test]
fn interrupt_ends_reading_with_the_report() {
    let mut command = watchtap().unwrap();
    command.args(["read", "--format", "json", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = audit_log().join("\n") + "\n";
    // More than a pipe holds, so watchtap is reading.
    let times = (1 << 20) / text.len();
    stdin.write_all(text.repeat(times).as_bytes()).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["totals"]["requests"].as_u64() > Some(0));
    let notes = report["notes"].as_array().unwrap();
    assert!(notes.contains(&json!("interrupted: the rest of - was not read")), "{notes:?}");
}

#[test]
fn reader_of_the_report_may_stop_early() {
    let mut command = watchtap().unwrap();
    command.args(["read", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(audit_log().join("\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()), "{output:?}");
}

/// A comparison needs both runs.
#[test]
fn interrupted_comparison_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let before = written(folder.path(), "before.log", audit_log().join("\n"));
    let mut command = watchtap().unwrap();
    command.args(["read", "-", "--against", &before]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = audit_log().join("\n") + "\n";
    stdin.write_all(text.repeat((1 << 20) / text.len()).as_bytes()).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("so there is no comparison"), "{output:?}");
}
