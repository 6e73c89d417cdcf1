//! Requests in clients' own logs, by version.

use std::time::Duration;

use super::reading::{read, time};
use crate::logs::{ClientRequest, LogLine};
use crate::redacted::Redacted;

#[test]
fn each_form_is_read() {
    let of = |method: &str, uri: &str, status, milliseconds: Option<u64>| ClientRequest {
        at: time("2024-09-21T08:06:26.988081Z"),
        method: method.to_owned(),
        uri: Redacted(uri.to_owned()),
        status,
        latency: milliseconds.map(Duration::from_millis),
    };
    for (text, expected) in [
        (
            "GET https://10.0.0.1:6443/apis/apps/v1/deployments?limit=500 200 OK in 8 milliseconds",
            of("GET", "/apis/apps/v1/deployments?limit=500", Some(200), Some(8)),
        ),
        ("GET https://10.0.0.1:6443  in 0 milliseconds", of("GET", "/", None, Some(0))),
        ("POST http://a/b 422 Unprocessable Entity in 12 milliseconds", of("POST", "/b", Some(422), Some(12))),
        ("GET https://user:c4n4ry@a/b?c=https://d", of("GET", "/b?c=https://d", None, None)),
        ("Response Status: 404 Not Found in 3 milliseconds", of("", "", Some(404), Some(3))),
        (
            r#""Response" verb="GET" url="https://a/b?limit=500" status="200 OK" milliseconds=8"#,
            of("GET", "/b?limit=500", Some(200), Some(8)),
        ),
        (r#""Request" verb="GET" url="https://a/b?limit=500" headers=<"#, of("GET", "/b?limit=500", None, None)),
        (r#""Response" status="200 OK" headers=<"#, of("", "", Some(200), None)),
    ] {
        let line = format!("I0921 08:06:26.988081 2259949 round_trippers.go:553] {text}");
        assert_eq!(read(&line), LogLine::Client(Box::new(expected)), "{text}");
    }
}

#[test]
fn headers_and_bodies_are_not_read() {
    for (file, text) in [
        ("round_trippers.go", "Request Headers:"),
        ("round_trippers.go", "    Authorization: Bearer c4n4ry"),
        ("round_trippers.go", r#"curl -v -XGET -H "Authorization: Bearer c4n4ry" 'https://a/b'"#),
        ("round_trippers.go", "HTTP Trace: Dial to tcp:10.0.0.1:6443 succeed"),
        ("round_trippers.go", r#""HTTP Trace: Dial succeed" network="tcp" address="10.0.0.1:6443""#),
        ("request.go", r#"Response Body: {"kind":"Secret","data":"c4n4ry"}"#),
        ("request.go", r#""Response Body" body="c4n4ry""#),
        ("request.go", "Waited for 1s due to client-side throttling"),
    ] {
        let line = read(&format!("I0921 08:06:26.988081 2259949 {file}:553] {text}"));
        assert_eq!(line, LogLine::Other { at: time("2024-09-21T08:06:26.988081Z") }, "{text}");
    }
}
