//! Runs `watchtap explain -` with lines, and makes such lines.

use std::io::Write as _;
use std::process::{Output, Stdio};

use observer_tests::watchtap;
use serde_json::{Value, json};

pub(super) fn explain(input: &[u8], arguments: &[&str]) -> Output {
    let mut command = watchtap().unwrap();
    command.args(["explain", "-"]).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    // It stops reading after enough lines.
    std::thread::spawn(move || stdin.write_all(&input));
    child.wait_with_output().unwrap()
}

/// Checks that the text of the explanation has these parts, in this order.
#[track_caller]
pub(super) fn check(input: &str, arguments: &[&str], expected: &[&str]) {
    let output = explain(input.as_bytes(), arguments);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{input}: {text}{}", String::from_utf8_lossy(&output.stderr));
    let mut rest = &*text;
    for part in expected {
        let place = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing after its predecessor in:\n{text}"));
        rest = &rest[place + part.len()..];
    }
}

pub(super) fn klog(file: &str, message: &str) -> String {
    format!("I0620 12:33:17.389016       1 {file}:1] {message}")
}

pub(super) fn audit_event(verb: &str, uri: &str, more: &Value) -> String {
    let mut event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "a-1", "stage": "ResponseComplete",
        "requestURI": uri, "verb": verb, "user": {"username": "system:serviceaccount:argocd:app"}, "sourceIPs": ["10.0.3.7"],
        "userAgent": "argocd/v1", "objectRef": {"resource": "pods", "apiVersion": "v1"}, "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": "2024-03-01T10:00:00.000000Z", "stageTimestamp": "2024-03-01T10:00:35.683763Z",
    });
    for (name, value) in more.as_object().unwrap() {
        event[name] = value.clone();
    }
    event.to_string()
}
