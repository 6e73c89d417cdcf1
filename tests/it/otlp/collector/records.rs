//! Log records are the events, with their lines, times and severities.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::demo::Event;
use super::story::{STORY, attributes};
use crate::otlp::event_fields::flat;

const DAY: u64 = 86_400_000_000_000;

#[test]
fn each_event_is_one_record_with_the_same_fields_in_the_same_order() {
    let records = STORY.records();
    assert!(records.len() > 50, "{}", records.len());
    for (event, record) in STORY.events.iter().zip(&records) {
        let mut fields = event.clone();
        let name = fields.remove("event").unwrap();
        assert_eq!(record["eventName"], format!("watchtap.{}", name.as_str().unwrap()));
        assert_eq!(attributes(record), flat(&fields));
    }
    assert_eq!(records.len(), STORY.events.len());
    assert_eq!(STORY.report["missed"]["not_exported"], Value::Null, "the field is absent if nothing was lost");
}

#[test]
fn bodies_are_live_lines_or_names() {
    let records = STORY.records();
    let has_line = |record: &&Value| record["eventName"] != format!("watchtap.{}", body(record));
    let bodies: Vec<String> = records.iter().filter(has_line).map(|record| body(record).to_owned()).collect();
    // Printed lines begin with a time, and their first word has a column of its own. Totals are no events.
    let lines = STORY.lines.iter().map(|line| {
        let (_time, line) = line.split_once(' ').unwrap();
        let (word, rest) = line.split_once(' ').unwrap();
        format!("{word} {}", rest.trim_start())
    });
    let lines: Vec<String> = lines.filter(|line| !line.starts_with("totals ")).collect();
    assert!(lines.len() > 40 && lines.len() < records.len(), "{lines:#?}");
    assert_eq!(bodies, lines);
}

#[test]
fn severities_are_those_of_the_document() {
    let document = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/otlp.md")).unwrap();
    let (_before, list) = document.split_once("\n`WARN`: ").unwrap();
    let (list, _after) = list.split_once("All other events").unwrap();
    let needs_attention = |event: &Event| {
        let is_listed = list.contains(&format!("`{}`", event["event"].as_str().unwrap()));
        is_listed && (event["event"] != "listener" || event["state"] == "refusing")
    };
    let records = STORY.records();
    for (event, record) in STORY.events.iter().zip(&records) {
        let expected = if needs_attention(event) { (json!("WARN"), json!(13)) } else { (json!("INFO"), json!(9)) };
        assert_eq!((&record["severityText"], &record["severityNumber"]), (&expected.0, &expected.1), "{event:?}");
    }
    assert!(records.iter().any(|record| record["severityText"] == "WARN"));
}

#[test]
fn times_are_the_ends_of_what_happened() {
    for (event, record) in STORY.events.iter().zip(STORY.records()) {
        let time: u64 = record["timeUnixNano"].as_str().unwrap().parse().unwrap();
        let number = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or_default();
        let end = match event["event"].as_str().unwrap() {
            "request" => since_midnight(&event["at"]) + number("total_us") * 1_000,
            "watch-opened" => since_midnight(&event["at"]) + number("first_byte_us") * 1_000,
            "storm-began" => since_midnight(&event["named"]),
            "storm-ended" => since_midnight(event.get("ended").unwrap_or(&event["last"])),
            _ => since_midnight(event.get("ended_at").unwrap_or(&event["at"])),
        };
        // Its fields have microseconds, and the record has nanoseconds.
        assert!((end % DAY).abs_diff(time % DAY) < 1_000, "{time}, not {end}: {event:?}");
        let observed: u64 = record["observedTimeUnixNano"].as_str().unwrap().parse().unwrap();
        assert!(observed >= time, "{record}");
    }
}

#[test]
fn resource_is_this_watchtap_and_its_place() {
    let of_logs: Vec<_> = STORY.collected.of_resources("resourceLogs").map(|one| attributes(&one["resource"])).collect();
    let first = &of_logs[0];
    for (name, value) in [
        ("service.name", "watchtap"),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("k8s.node.name", "n1"),
        ("k8s.cluster.name", "a b"),
    ] {
        assert_eq!(first[name], value, "{name}");
    }
    let instance = first["service.instance.id"].as_str().unwrap();
    assert_eq!(instance.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12], "{instance}");
    let of_others = ["resourceMetrics", "resourceSpans"].map(|signal| STORY.collected.of_resources(signal));
    let of_others = of_others.into_iter().flatten().map(|one| attributes(&one["resource"]));
    assert!(of_logs.iter().cloned().chain(of_others).all(|other| other == *first), "one process is one resource");
    for one in STORY.collected.of_resources("resourceLogs") {
        assert_eq!(one["scopeLogs"][0]["scope"], json!({ "name": "watchtap", "version": env!("CARGO_PKG_VERSION") }));
    }
}

fn body(record: &Value) -> &str {
    record["body"]["stringValue"].as_str().unwrap()
}

/// The nanoseconds of `2026-11-26T05:35:09.971668941Z` since midnight.
fn since_midnight(time: &Value) -> u64 {
    let (_date, time) = time.as_str().unwrap().trim_end_matches('Z').split_once('T').unwrap();
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
    let seconds = seconds.split(':').fold(0, |sum, part| sum * 60 + part.parse::<u64>().unwrap());
    seconds * 1_000_000_000 + format!("{fraction:0<9}").parse::<u64>().unwrap()
}
