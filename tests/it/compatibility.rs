//! Files of older versions, read by the present program. `docs/release.md` has the promises.
//!
//! `tests/compatibility` has a folder for each version. Its report and events are those that this version read from its own captures:
//! `run.cap` of a demo, and `kinds.cap` with the events that the demo does not have (`observer/core/tests/capture/kinds.rs`).
//! The present program reads the same captures. Its values may differ, for example since a rule was corrected, but no field may be gone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use observer_tests::{output_within, watchtap};
use serde_json::Value;

use super::exec_cli::{LIMIT, TestHome, stderr};

/// Fields whose members are names of rules, causes or layers: these may differ.
const NAMED: [&str; 3] = ["causes", "otherwise", "served_from"];

/// The types of each field, by path. Elements of an array count together.
type Shape = BTreeMap<String, BTreeSet<&'static str>>;

/// The output of `watchtap read` for a capture.
struct Replay {
    report: Value,
    events: Vec<Value>,
}

#[test]
fn captures_of_each_version_are_read_without_a_loss() {
    for version in versions() {
        let Replay { report, events } = replay(&version);
        assert!(report["totals"]["requests"].as_u64() > Some(100), "{}", version.display());
        assert!(
            report["missed"].as_object().is_some_and(|missed| !missed.contains_key("unrecorded_spans")),
            "{}",
            report["missed"]
        );
        assert!(events.len() > 100, "{}", version.display());
    }
}

#[test]
fn reports_have_every_field_that_they_had() {
    for version in versions() {
        let report = replay(&version).report;
        let Some(older) = older(&version, "report.json", std::slice::from_ref(&report)) else { continue };
        let mut before = Shape::new();
        for report in &older {
            note("", report, &mut before);
        }
        let mut now = Shape::new();
        note("", &report, &mut now);
        assert_kept(&version, &before, &now);
    }
}

#[test]
fn events_have_every_field_that_they_had() {
    for version in versions() {
        let of_run = replay(&version).events;
        let of_kinds = replay_of(&version.join("kinds.cap")).events;
        for (name, events) in [("events.jsonl", of_run), ("kinds.jsonl", of_kinds)] {
            let Some(older) = older(&version, name, &events) else { continue };
            assert_kept(&version, &of_events(&older), &of_events(&events));
        }
    }
}

/// A budget names every quantity and every finding of its version.
#[test]
fn budgets_of_each_version_are_accepted() {
    for version in versions() {
        let place = TestHome::with_upstream();
        let budget = version.join("budget.json");
        let output = output_within(place.command(&["exec", "--budget"]).arg(&budget).args(["--", "true"]), LIMIT).unwrap();
        assert_eq!(output.status.code(), Some(0), "{}: {}", budget.display(), stderr(&output));
        assert!(stderr(&output).contains("budget kept"), "{}", stderr(&output));
    }
}

#[test]
fn missing_and_changed_fields_are_found() {
    let before: Value = serde_json::from_str(r#"{"a": [{"b": 1}, {"c": "x"}], "d": null, "causes": {"old": 1}}"#).unwrap();
    let same: Value = serde_json::from_str(r#"{"a": [{"c": "y", "b": 2, "e": 3}], "d": {}, "causes": {"new": 1}}"#).unwrap();
    let changed: Value = serde_json::from_str(r#"{"a": [{"b": "1"}], "causes": {}}"#).unwrap();
    let shape = |value: &Value| {
        let mut shape = Shape::new();
        note("", value, &mut shape);
        shape
    };
    assert_eq!(lost(&shape(&before), &shape(&same)), Vec::<String>::new());
    assert_eq!(lost(&shape(&before), &shape(&changed)), [".a[].b was number", ".a[].c was string", ".d was null"]);
}

/// The folders of all versions.
fn versions() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("compatibility");
    let mut versions: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    versions.sort();
    assert!(!versions.is_empty());
    versions
}

#[track_caller]
fn replay(version: &Path) -> Replay {
    replay_of(&version.join("run.cap"))
}

#[track_caller]
fn replay_of(capture: &Path) -> Replay {
    let folder = tempfile::tempdir().unwrap();
    let events = folder.path().join("events.jsonl");
    let mut read = watchtap().unwrap();
    read.arg("read").arg(capture).args(["--format", "json", "--events"]).arg(&events);
    let output = output_within(&mut read, LIMIT).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}: {}", capture.display(), stderr(&output));
    Replay { report: serde_json::from_slice(&output.stdout).unwrap(), events: lines(&fs::read_to_string(events).unwrap()) }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The documents of a version, which are kept in gzip. With `UPDATE_EXPECT`, the ones of the version in the making are written instead.
#[expect(clippy::disallowed_methods, reason = "the files are those of this repository")]
fn older(version: &Path, name: &str, now: &[Value]) -> Option<Vec<Value>> {
    let file = version.join(format!("{name}.gz"));
    if version.ends_with(env!("CARGO_PKG_VERSION")) && std::env::var_os("UPDATE_EXPECT").is_some() {
        let mut written = GzEncoder::new(Vec::new(), Compression::best());
        for document in now {
            writeln!(written, "{document}").unwrap();
        }
        fs::write(file, written.finish().unwrap()).unwrap();
        return None;
    }
    let mut text = String::new();
    GzDecoder::new(fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
    Some(lines(&text))
}

/// Each kind of event has a shape of its own.
fn of_events(events: &[Value]) -> Shape {
    let mut shape = Shape::new();
    for event in events {
        note(event["event"].as_str().unwrap_or("schema"), event, &mut shape);
    }
    shape
}

fn note(path: &str, value: &Value, shape: &mut Shape) {
    let kind = match value {
        // It may get a value later, but the field stays.
        Value::Null => {
            shape.entry(path.to_owned()).or_default();
            return;
        }
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(elements) => {
            for element in elements {
                note(&format!("{path}[]"), element, shape);
            }
            "array"
        }
        Value::Object(members) => {
            for (name, member) in members.iter().filter(|(name, _)| !NAMED.contains(&name.as_str())) {
                note(&format!("{path}.{name}"), member, shape);
            }
            "object"
        }
    };
    shape.entry(path.to_owned()).or_default().insert(kind);
}

/// The fields of `before` that are not in `now`, or not with this type.
fn lost(before: &Shape, now: &Shape) -> Vec<String> {
    let mut lost = Vec::new();
    for (path, kinds) in before {
        let Some(present) = now.get(path) else {
            let kinds: Vec<&str> = kinds.iter().copied().collect();
            lost.push(format!("{path} was {}", if kinds.is_empty() { "null".to_owned() } else { kinds.join(" or ") }));
            continue;
        };
        lost.extend(kinds.difference(present).map(|kind| format!("{path} was {kind}")));
    }
    lost
}

#[track_caller]
fn assert_kept(version: &Path, before: &Shape, now: &Shape) {
    let lost = lost(before, now);
    assert!(
        lost.is_empty(),
        "programs that read {} do not find these fields any more; keep them, or give the schema another number:\n{}",
        version.display(),
        lost.join("\n")
    );
}
