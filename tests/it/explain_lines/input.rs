//! Envelopes, formats, bounds, and lines of no log.

use std::io::Write as _;
use std::process::Stdio;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use observer_tests::watchtap;
use serde_json::{Value, json};

use super::reading::{audit_event, check, explain, klog};

#[test]
fn envelopes_are_opened_and_named() {
    let line = audit_event("list", "/api/v1/pods", &json!({}));
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(json!({"logEvents": [{"message": line}]}).to_string().as_bytes()).unwrap();
    let packed = BASE64_STANDARD.encode(packed.finish().unwrap());
    for (wrapped, name) in [
        (json!({"log": format!("{line}\n"), "stream": "stderr"}).to_string(), "Docker"),
        (format!("2026-11-22T02:00:00.123456789Z stderr F {line}"), "container runtime"),
        (
            format!("2026-11-22T02:00:00.1Z stderr P {}\n2026-11-22T02:00:00.1Z stderr F {}", &line[..90], &line[90..]),
            "container runtime",
        ),
        (format!("Nov 22 02:00:00 node-1 kube-apiserver[812]: {line}"), "journal"),
        (json!({"records": [{"category": "kube-audit", "properties": {"log": line}}]}).to_string(), "Azure"),
        (json!({"events": [{"message": line, "ingestionTime": 1}]}).to_string(), "CloudWatch"),
        (packed, "CloudWatch"),
        (json!({"message": line}).to_string(), "message field"),
    ] {
        check(&wrapped, &[], &["   audit event   ", &format!("envelope      {name}\n"), "GET /api/v1/pods\n"]);
    }
    check(&line, &[], &["envelope      none\n"]);
}

#[test]
fn json_has_the_same_facts() {
    let lines =
        [audit_event("list", "/api/v1/pods?resourceVersion=0", &json!({})), "words".to_owned(), klog("a.go", "other")].join("\n");
    let output = explain(lines.as_bytes(), &["--format", "json", "--server-version", "1.34.2"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&document["schema"], &document["not_recognised"]), (&json!("watchtap.explain/v1"), &json!(2)));
    assert_eq!((&document["is_cut"], document["lines"].as_array().unwrap().len()), (&json!(false), 1));
    let line = &document["lines"][0];
    assert_eq!(
        (&line["line"], &line["form"], &line["at"]),
        (&json!(1), &json!("audit event"), &json!("2024-03-01T10:00:35.683763000Z"))
    );
    assert_eq!(line["request"]["verdict"]["rule"], "list-rv0");
    assert_eq!(line["request"]["request"], "GET /api/v1/pods?resourceVersion=0");
    assert!(line["facts"].as_array().unwrap().contains(&json!({"name": "status", "value": "200"})), "{line}");
    assert!(line["not_shown"].as_array().unwrap().len() > 1, "{line}");
}

#[test]
fn reader_that_stops_early_is_no_failure() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut explain = watchtap().unwrap();
    explain.args(["explain", "-"]).stdin(Stdio::piped()).stdout(writer).stderr(Stdio::piped());
    let mut explain = explain.spawn().unwrap();
    let line = audit_event("list", "/api/v1/pods", &json!({}));
    explain.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
    let output = explain.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn lines_that_are_not_recognised_are_named() {
    let lines = [
        "words of no log",
        &klog("round_trippers.go", "GET https://a/api/v1/pods 200 OK in 8 milliseconds"),
        &klog("a.go", "other"),
        "{",
        "  x",
    ];
    let output = explain(lines.join("\n").as_bytes(), &[]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let (text, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    for part in [
        "line 1   not recognised\n",
        "line 2   client request",
        "line 3   not recognised: a line of klog",
        "line 5   not recognised",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        error.contains("not recognised: 4 lines; the known forms are audit events") && error.contains("docs/logs.md"),
        "{error}"
    );

    let output = explain(b"words\nof no log\n", &[]);
    assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b"line 1   not recognised\n\nline 2   not recognised\n\n"[..]));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("no line is recognised; the known forms are audit events"),
        "{output:?}"
    );
    let output = explain(b"", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("stdin is empty"), "{output:?}");
    let output = explain(b"words", &["-A"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("-n, -A and --raw belong to a request"), "{output:?}");
}

#[test]
fn long_input_and_long_lines_are_cut() {
    let line = klog("reflector.go", "Listing and watching *v1.Pod from a.go:1");
    let output = explain(format!("{line}\n").repeat(5_000).as_bytes(), &[]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("only 500 lines are explained"), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).matches("begins a cycle").count(), 500);
    // One line may hold many.
    let events = vec![audit_event("list", "/api/v1/pods", &json!({})); 2_000];
    let output = explain(format!(r#"{{"items":[{}]}}"#, events.join(",")).as_bytes(), &["--format", "json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((document["lines"].as_array().unwrap().len(), &document["is_cut"]), (500, &json!(true)));
    let long = [&vec![b'a'; (16 << 20) + 1][..], b"\n", line.as_bytes()].concat();
    let output = explain(&long, &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stdout).contains("line 1   not recognised\n\nline 2   reflector line"), "{output:?}");
}

#[test]
fn hostile_text_is_escaped_and_secrets_are_not_repeated() {
    let evil = "\u{1b}[31m\u{202e}x";
    let event =
        audit_event("list", "/api/v1/pods?token=c4n4ry&labelSelector=\u{1b}]0;x", &json!({ "userAgent": evil, "auditID": evil }));
    let lines = [
        event,
        klog("reflector.go", &format!("a.go:1: watch of {evil} ended with: Get https://u:c4n4ry@h/?token=c4n4ry")),
        klog("round_trippers.go", "GET https://u:c4n4ry@h/api/v1/pods?token=c4n4ry 200 OK in 8 milliseconds"),
        klog("round_trippers.go", "    Authorization: Bearer c4n4ry"),
        "c4n4ry\u{1b}[2J".to_owned(),
    ];
    for arguments in [&[][..], &["--format", "json"]] {
        let output = explain(lines.join("\n").as_bytes(), arguments);
        for text in [output.stdout, output.stderr] {
            let text = String::from_utf8(text).unwrap();
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
            assert!(!text.contains("c4n4ry"), "{text}");
        }
    }
}
