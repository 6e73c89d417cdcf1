//! `watchtap read --audit-log`: a capture beside the audit log of the API server.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use observer_core::capture::{FileEnd, Writer};
use observer_core::observation::{ExchangeObservation, Observation, Subject};
use observer_tests::{output_within, watchtap};
use serde_json::{Value, json};

/// A longer wait counts as a hang.
const LIMIT: Duration = Duration::from_mins(1);

/// The traffic that the tap saw: an informer, and a slow list of another client.
const SCRIPT: &str = "
    0s server v1.30.4
    0s a connects client=controller/v1
    0s b connects client=lister/v1
    1s a1 GET /api/v1/pods?limit=500&resourceVersion=0
    2s a1 whole rv=10 x@5 y@6
    2s a3 GET /api/v1/pods?watch=true&resourceVersion=10&timeoutSeconds=400
    2s a3 opens
    3s a3 ADDED z@11
    10s b1 GET /api/v1/secrets?resourceVersion=0
    12s b1 bytes 7100
    12s b1 whole rv=12 s@3
    20s a3 ends
    20s a5 GET /api/v1/pods?watch=true&resourceVersion=11&timeoutSeconds=400
    20s a5 opens
    40s tick
";

/// A capture of the script, in which the responses have these audit IDs.
fn capture(folder: &Path, script: &str, ids: &[(&str, &str)]) -> String {
    let observations = observer_script::observations(script);
    let mut first = Vec::new();
    for one in &observations {
        if let Subject::Connection(id, _) = &one.subject
            && !first.contains(id)
        {
            first.push(*id);
        }
    }
    let id_of = |connection, stream: u64| {
        let letter = first.iter().position(|id| *id == connection).and_then(|index| ('a'..='z').nth(index)).unwrap_or('?');
        let name = format!("{letter}{stream}");
        ids.iter().find(|(request, _)| *request == name).map(|(_, id)| (*id).to_owned())
    };
    let began = observations[0].at;
    let (mut writer, mut bytes) = (Writer::new(began), Vec::new());
    writer.begin_file(&mut bytes);
    for Observation { at, mut subject } in observations {
        if let Subject::Exchange(id, ExchangeObservation::Responded { response }) = &mut subject {
            response.audit_id = id_of(id.connection, id.stream.0);
        }
        writer.record(&Observation { at, subject }, &mut bytes);
    }
    writer.end_file(FileEnd::Complete, &mut bytes);
    written(folder, "run.cap", bytes)
}

const IDS: &[(&str, &str)] = &[("a1", "id-list"), ("a3", "id-watch"), ("b1", "id-slow"), ("a5", "id-open")];

/// An audit event: the times of receipt and of the stage are milliseconds after the beginning of the script.
fn event(id: &str, stage: &str, (received, reached): (u64, u64), verb: &str, uri: &str, user: &str) -> Value {
    let time = |at: u64| format!("2026-01-31T12:{:02}:{:02}.{:03}000Z", at / 60_000, at / 1_000 % 60, at % 1_000);
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": id, "stage": stage, "verb": verb,
        "requestURI": uri, "user": {"username": user}, "sourceIPs": ["10.0.0.1"], "userAgent": "x/v1",
        "responseStatus": {"metadata": {}, "code": 200}, "requestReceivedTimestamp": time(received), "stageTimestamp": time(reached),
    })
}

/// The audit events of the same time, with a client that did not use the tap.
fn events() -> Vec<Value> {
    const WATCH: &str = "/api/v1/pods?watch=true&resourceVersion=10&timeoutSeconds=400";
    let complete = "ResponseComplete";
    let mut slow = event("id-slow", complete, (10_000, 11_900), "list", "/api/v1/secrets?resourceVersion=0", "admin");
    slow["annotations"] = json!({"apiserver.latency.k8s.io/total": "1.9s", "apiserver.latency.k8s.io/etcd": "1.8s"});
    let account = "system:serviceaccount:apps:controller";
    vec![
        event("id-list", complete, (1_000, 1_020), "list", "/api/v1/pods?limit=500&resourceVersion=0", account),
        event("id-watch", "ResponseStarted", (2_000, 2_001), "watch", WATCH, account),
        event("id-other", complete, (5_000, 5_010), "list", "/api/v1/nodes", "system:kube-scheduler"),
        event("id-own", complete, (5_000, 5_010), "list", "/api/v1/nodes", "system:apiserver"),
        slow,
        event("id-watch", complete, (2_000, 20_000), "watch", WATCH, account),
        event("id-open", "ResponseStarted", (20_000, 20_001), "watch", &WATCH.replace("=10&", "=11&"), account),
        event("id-later", complete, (300_000, 300_010), "list", "/api/v1/nodes", "system:kube-scheduler"),
    ]
}

fn lines(events: &[Value]) -> String {
    events.iter().map(|event| event.to_string() + "\n").collect()
}

fn written(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn read(arguments: &[&str]) -> Output {
    output_within(watchtap().unwrap().arg("read").args(arguments), LIMIT).unwrap()
}

fn report(arguments: &[&str]) -> Value {
    let output = read(&[arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The numbers of joined requests: joined, without event, without ID, ambiguous, only in the log.
fn numbers(report: &Value) -> [u64; 5] {
    let joined = &report["totals"]["joined"];
    ["joined", "without_event", "without_id", "ambiguous", "only_logged"].map(|name| joined[name].as_u64().unwrap_or(99))
}

#[test]
fn capture_and_audit_log_give_one_report_in_which_no_request_counts_twice() {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture(folder.path(), SCRIPT, IDS);
    let log = written(folder.path(), "audit.log", lines(&events()));
    let (alone, both) = (report(&[&capture]), report(&[&capture, "--audit-log", &log]));
    assert_eq!(numbers(&both), [4, 0, 0, 0, 1]);
    for same in ["connections", "requests", "lists", "watches", "items", "watch_events", "response_bytes", "resumes"] {
        assert_eq!(both["totals"][same], alone["totals"][same], "{same}");
    }
    assert_eq!(both["reflectors"].as_array().unwrap().len(), alone["reflectors"].as_array().unwrap().len());
    assert_eq!((&both["totals"]["confirmed"], &alone["totals"]["confirmed"]), (&json!(1), &json!(0)));

    let of = |report: &Value, id: &str| report["requests"].as_array().unwrap().iter().find(|one| one["audit_id"] == id).cloned();
    let slow = of(&both, "id-slow").unwrap();
    assert_eq!((&slow["user"], &slow["server_us"]), (&json!({"kind": "subject", "subject": "admin"}), &json!(1_900_000)));
    assert_eq!((&slow["bytes"], &slow["items"], &slow["total_us"]), (&json!(7_100), &json!(1), &json!(2_000_000)));
    let verdict = &slow["verdict"];
    assert_eq!(
        ["served_from", "certainty", "proof"].map(|name| verdict[name].clone()),
        ["Etcd", "Confirmed", "etcd-time-logged"],
        "the watch cache was not ready: {verdict}"
    );
    let open = of(&both, "id-open").unwrap();
    assert_eq!((&open["user"]["name"], &open["server_us"]), (&json!("controller"), &Value::Null), "{open}");

    let text = String::from_utf8(read(&[&capture, "--audit-log", &log]).stdout).unwrap();
    for line in [
        "\naudit log: it has 4 of 4 requests\n",
        "\naudit log: 1 other request of this time did not pass watchtap: not among the requests below\n",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn requests_without_an_id_or_without_an_event_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture(folder.path(), SCRIPT, &[("a1", "id-list"), ("b1", "id-unknown"), ("a5", "id-open")]);
    let log = written(folder.path(), "audit.log", lines(&events()));
    let both = report(&[&capture, "--audit-log", &log]);
    // The tap saw those of the watch and of the slow list, and cannot know that they are the same.
    assert_eq!(numbers(&both), [2, 1, 1, 0, 3]);
    let text = String::from_utf8(read(&[&capture, "--audit-log", &log]).stdout).unwrap();
    let head = "\naudit log: it has 2 of 4 requests; 1 has no event in it, 1 has no audit ID\n";
    assert!(text.contains(head), "{text}");
}

#[test]
fn ids_of_several_requests_and_torn_logs_join_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let twice = &[("a1", "id-list"), ("a3", "id-list"), ("b1", "id-watch"), ("a5", "id-open")];
    let capture = capture(folder.path(), SCRIPT, twice);
    let mut log = events();
    // Events of other requests with an ID that was used.
    log.insert(5, event("id-list", "ResponseComplete", (6_000, 6_010), "list", "/api/v1/secrets", "attacker"));
    log.insert(8, event("id-open", "ResponseStarted", (21_000, 21_001), "watch", "/api/v1/secrets?watch=true", "attacker"));
    let torn = lines(&log) + r#"{"kind":"Event","auditID":"id-torn","stage":"Resp"#;
    let log = written(folder.path(), "audit.log", torn);
    let output = read(&[&capture, "--audit-log", &log, "--format", "json"]);
    let both: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(numbers(&both)[..4], [2, 0, 0, 2], "{}", both["totals"]);
    let users: Vec<&Value> = both["requests"].as_array().unwrap().iter().map(|one| &one["user"]["subject"]).collect();
    assert!(!users.contains(&&json!("attacker")), "{users:?}");
}

#[test]
fn log_that_is_torn_within_the_time_of_the_capture_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture(folder.path(), SCRIPT, IDS);
    let torn = lines(&events()[..3]) + r#"{"kind":"Event","auditID":"id-torn","stage":"Resp"#;
    let log = written(folder.path(), "audit.log", torn);
    let output = read(&[&capture, "--audit-log", &log]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("note: 1 line is not understood\n"), "{text}");
}

#[test]
fn audit_log_beside_a_log_and_a_capture_as_audit_log_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let capture = capture(folder.path(), SCRIPT, IDS);
    let log = written(folder.path(), "audit.log", lines(&events()));
    for (arguments, code, refusal) in [
        (&[&*log, "--audit-log", &log][..], 1, "audit.log: --audit-log is for captures"),
        (&[&*capture, "--audit-log", &capture], 1, "run.cap: this is a capture"),
        (&[&*capture, "--audit-log", "/nowhere/audit.log"], 1, "cannot read /nowhere/audit.log"),
        (&[&*capture, "--audit-log", &log, "--report", &log], 1, "would overwrite"),
        (&[&*capture, "--audit-log", &log, "--against", &capture], 2, "cannot be used with"),
    ] {
        let output = read(arguments);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(refusal), "{output:?}");
    }
    let with_zone = read(&[&capture, "--audit-log", &log, "--year", "2026", "--utc-offset", "+02:00"]);
    assert!(with_zone.status.success(), "{with_zone:?}");
}
