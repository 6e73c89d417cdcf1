//! Log records of a run, compared with its `--events`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use observer_tests::{OtlpReceiver, OtlpReply, OtlpRequest, output_within, wait_within, watchtap};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::trace::v1::Span;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value as Json, json};
use tempfile::TempDir;

use super::event_fields::flat;
use super::translation::{total, translated};

const LIMIT: Duration = Duration::from_mins(1);

#[test]
fn each_event_is_one_record_with_the_same_fields() {
    let receiver = OtlpReceiver::start(0, []).unwrap();
    let folder = TempDir::new().unwrap();
    let events = folder.path().join("events.jsonl");
    let report = folder.path().join("report");
    let mut demo = demo(folder.path(), &receiver.url(), &["--events", text(&events), "--report", text(&report)]);
    receiver.wait_until(|requests| ["relist", "storm-began"].iter().all(|event| has(requests, event))).unwrap();
    interrupt(&mut demo);

    let events: Vec<Map<String, Json>> =
        fs::read_to_string(&events).unwrap().lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    let records = receiver.records();
    assert!(records.len() > 100, "{}", records.len());
    for (mut event, record) in events.iter().cloned().zip(&records) {
        let name = event.remove("event").unwrap();
        assert_eq!(record.event_name, format!("watchtap.{}", name.as_str().unwrap()));
        assert_eq!(shown(&record.attributes), flat(&event));
    }
    assert_eq!(events.len(), records.len());
    check_lines(&records);
    let report = fs::read_to_string(report).unwrap();
    assert!(!report.contains("not exported"), "{report}");
}

#[test]
fn relists_and_failed_requests_are_spans() {
    let receiver = OtlpReceiver::start(0, []).unwrap();
    let folder = TempDir::new().unwrap();
    let mut demo = demo(folder.path(), &receiver.url(), &["--otlp-spans"]);
    receiver.wait_until(|requests| ["relist", "storm-began"].iter().all(|event| has(requests, event))).unwrap();
    interrupt(&mut demo);
    let (records, spans) = (receiver.records(), receiver.spans());
    let relists = spans.iter().filter(|span| span.name == "relist");
    assert_eq!(relists.clone().count(), records.iter().filter(|record| record.event_name == "watchtap.relist").count());
    let roles = |span: &Span| span.links.iter().map(|link| shown(&link.attributes)["watchtap.link"].clone()).collect::<Vec<_>>();
    assert!(relists.map(roles).all(|roles| roles.contains(&json!("first-request")) && roles.contains(&json!("list-before"))));
    let failed = spans.iter().filter(|span| shown(&span.attributes).contains_key("error.type")).count();
    let refused = |record: &&LogRecord| {
        let fields = shown(&record.attributes);
        let is_end = ["watchtap.request", "watchtap.watch-ended"].contains(&record.event_name.as_str());
        let has_scope = fields.keys().any(|name| name.starts_with("watchtap.scope"));
        is_end && has_scope && fields.get("watchtap.status").and_then(Json::as_u64).is_some_and(|status| status >= 400)
    };
    let refused = records.iter().filter(refused).count();
    // Requests that a restart of the API server cut have no status.
    assert!(failed > 0 && failed >= refused, "{failed} spans of {refused} refusals");
    // On a busy machine, many requests take longer, and have a span for that.
    let is_short =
        |span: &&Span| Duration::from_nanos(span.end_time_unix_nano - span.start_time_unix_nano) < Duration::from_secs(1);
    let short = spans.iter().filter(is_short).count();
    assert!(short * 2 < records.len(), "{short} short spans beside {} events", records.len());
    let request = spans.iter().find(|span| span.name == "GET /api/v1/pods").unwrap();
    let attributes = shown(&request.attributes);
    assert_eq!(attributes.get("server.address"), Some(&json!("127.0.0.1")), "{attributes:?}");
}

#[test]
fn report_states_records_that_did_not_arrive() {
    let receiver = OtlpReceiver::start(0, [OtlpReply::Status(400, None)]).unwrap();
    let folder = TempDir::new().unwrap();
    let report = folder.path().join("report.json");
    let mut demo = demo(folder.path(), &receiver.url(), &["--format", "json", "--report", text(&report)]);
    receiver.wait_until(|requests| requests.len() > 1).unwrap();
    interrupt(&mut demo);
    let report: Json = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    let refused = receiver.requests()[0].records.len();
    assert_eq!(report["missed"]["not_exported"], json!(refused));
    // Its last numbers are those of the report. Losses of the end itself are not in them.
    let samples = translated(&receiver.last_metrics());
    for (name, labels, of_report) in [
        ("watchtap_requests_total", "", "requests"),
        ("watchtap_requests_total", "verb=\"LIST\"", "lists"),
        ("watchtap_relists_total", "", "relists"),
    ] {
        let expected = report["totals"][of_report].as_u64().filter(|total| *total > 0);
        assert_eq!(Some(total(&samples, name, labels)), expected, "{name} with {labels}, {of_report} of the report");
    }
    let note = format!("{refused} OTLP records did not reach {}: {refused} refused (400 Bad Request)", receiver.url());
    assert!(report["notes"].as_array().unwrap().contains(&note.into()), "{:#}", report["notes"]);
}

#[test]
fn unusable_address_fails_before_anything_runs() {
    let folder = TempDir::new().unwrap();
    let message = failure(folder.path(), Some("localhost:4318"), &[]);
    assert!(
        message.contains("--otlp: expected the URL of a collector with its scheme, such as http://localhost:4318"),
        "{message}"
    );
    let message = failure(folder.path(), None, &[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]);
    assert!(message.contains("OTEL_EXPORTER_OTLP_PROTOCOL: watchtap exports by http/protobuf only"), "{message}");
}

#[test]
fn variables_name_the_collector_if_the_flag_does_not() {
    let receiver = OtlpReceiver::start(0, []).unwrap();
    let folder = TempDir::new().unwrap();
    let mut command = command(folder.path());
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url()).env("OTEL_SERVICE_NAME", "mine");
    let mut demo = command.args(["demo", "--quiet", "--otlp"]).spawn().unwrap();
    receiver.wait_until(|requests| !requests.is_empty()).unwrap();
    interrupt(&mut demo);
    let resource = &receiver.requests()[0].resource;
    assert_eq!(shown(&resource.attributes)["service.name"], "mine");
}

/// Starts a fast demo that exports.
fn demo(folder: &Path, url: &str, flags: &[&str]) -> Child {
    let mut command = command(folder);
    command.args(["demo", "--speed", "25", "--quiet", "--grace", "0s", "--otlp", url]).args(flags).spawn().unwrap()
}

fn command(folder: &Path) -> Command {
    let mut command = watchtap().unwrap();
    command.env("HOME", folder).env("TMPDIR", folder).env_remove("XDG_RUNTIME_DIR").env_remove("KUBECONFIG");
    // A request that is sent again would change the counts.
    command.env("OTEL_EXPORTER_OTLP_TIMEOUT", "120000");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The message of an `exec` that does not start its command.
#[track_caller]
fn failure(folder: &Path, url: Option<&str>, variables: &[(&str, &str)]) -> String {
    let mut command = command(folder);
    command.args(["exec", "--demo", "--otlp"]).args(url).args(["--", "touch", text(&folder.join("ran"))]);
    let output = output_within(command.envs(variables.iter().copied()), LIMIT).unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(!folder.join("ran").exists());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn interrupt(watchtap: &mut Child) {
    kill_process(Pid::from_child(watchtap), Signal::INT).unwrap();
    assert!(wait_within(watchtap, LIMIT).unwrap().success());
}

fn has(requests: &[OtlpRequest], event: &str) -> bool {
    requests.iter().flat_map(|request| &request.records).any(|record| record.event_name == format!("watchtap.{event}"))
}

/// Bodies are lines, and severities are those of `docs/otlp.md`.
#[track_caller]
fn check_lines(records: &[LogRecord]) {
    let first = |event: &str| records.iter().find(|record| record.event_name == format!("watchtap.{event}")).unwrap();
    for (event, severity, begin) in
        [("relist", "INFO", "relist "), ("storm-began", "WARN", "storm "), ("watch-opened", "INFO", "watch ")]
    {
        let record = first(event);
        let body = json_of(record.body.as_ref().unwrap());
        assert!(record.severity_text == severity && body.as_str().unwrap().starts_with(begin), "{event}: {record:?}");
    }
}

/// Attributes as JSON, by name.
fn shown(attributes: &[KeyValue]) -> BTreeMap<String, Json> {
    attributes.iter().map(|one| (one.key.clone(), json_of(one.value.as_ref().unwrap()))).collect()
}

fn json_of(value: &AnyValue) -> Json {
    match value.value.as_ref().unwrap() {
        Value::StringValue(text) => json!(text),
        Value::BoolValue(truth) => json!(truth),
        Value::IntValue(number) => json!(number),
        Value::DoubleValue(number) => json!(number),
        Value::ArrayValue(array) => array.values.iter().map(json_of).collect(),
        Value::KvlistValue(list) => list.values.iter().map(|one| (one.key.clone(), json_of(one.value.as_ref().unwrap()))).collect(),
        other @ (Value::BytesValue(_) | Value::StringValueStrindex(_)) => panic!("{other:?}"),
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
