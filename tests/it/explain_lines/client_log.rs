//! Lines of clients with client-go.

use serde_json::json;

use super::reading::{check, explain, klog};

#[test]
fn lines_of_reflectors_are_explained() {
    let structured = |message: &str, more: &str| format!(r#""{message}" reflector="a.go:1" type="*v1.Pod"{more}"#);
    for (message, expected) in [
        ("Listing and watching *v1.Pod from a.go:1".to_owned(), &["0.32 or earlier", "begins a cycle"][..]),
        (structured("Listing and watching", ""), &["0.33 or later", "begins a cycle", "type          *v1.Pod", "reflector     a.go:1"]),
        (
            "a.go:1: watch of *v1.Pod ended with: too old resource version: 123 (456)".to_owned(),
            &["relists (cause `expired`)", "error         410: resource version 123 is too old; the oldest is 456"],
        ),
        (structured("Watch closed", r#" err="too old resource version: 123 (456)""#), &["0.33 or later", "cause `expired`"]),
        (
            "a.go:1: watch of *v1.Pod ended with: very short watch: a.go:1: Unexpected watch close - watch lasted less than a second".to_owned(),
            &["less than a second and delivered nothing"],
        ),
        ("a.go:1: watch of *v1.Pod ended with: an error".to_owned(), &["ended with an error", "error         other"]),
        ("a.go:1: watch of *v1.Pod returned 429 - backing off".to_owned(), &["waits and resumes"]),
        ("a.go:1: Watch close - *v1.Pod total 12 items received".to_owned(), &["ended without an error", "delivered     12 events"]),
        (
            "a.go:1: Failed to watch *v1.Pod: failed to list *v1.Pod: Too large resource version: 12, current: 3".to_owned(),
            &["the list failed", "error         resource version 12 is too large; the server is at 3"],
        ),
        (
            r#""Unhandled Error" err="a.go:1: Failed to watch *v1.Pod: failed to list *v1.Pod: dial tcp: connect: connection refused" logger="UnhandledError""#.to_owned(),
            &["0.31 or 0.32", "the list failed", "error         connection refused"],
        ),
        ("Caches populated for *v1.Pod from a.go:1".to_owned(), &["the informer has synced"]),
        (
            "The watchlist request ended with an error, falling back to the standard LIST/WATCH semantics, err = x".to_owned(),
            &["so the reflector lists instead"],
        ),
        (
            "a.go:1: hasn't received required bookmark event marking the end of initial events stream, received last event 10s ago".to_owned(),
            &["finding `never-synced`"],
        ),
    ] {
        let expected = [&["line 1   reflector line   a client with client-go"], expected, &["proves        nothing about the layer"]].concat();
        check(&klog("reflector.go", &message), &[], &expected);
    }
}

#[test]
fn requests_in_logs_of_clients_are_explained() {
    let line = klog("round_trippers.go", "GET https://10.0.0.1:6443/api/v1/pods?limit=500 200 OK in 8 milliseconds");
    check(
        &line,
        &["--server-version", "1.30.4"],
        &[
            "client request   a client with client-go 0.32 or earlier, -v=6",
            "took          8.0 ms",
            "GET /api/v1/pods?limit=500",
            "rule list-unset-etcd",
        ],
    );
    let line =
        klog("round_trippers.go", r#""Response" verb="GET" url="https://10.0.0.1/api/v1/pods" status="200 OK" milliseconds=8"#);
    check(&line, &[], &["client-go 0.33 or later, -v=6", "status        200", "GET /api/v1/pods\n"]);
    check(&klog("round_trippers.go", "GET https://10.0.0.1/api/v1/pods"), &[], &["a later line has the response"]);
    check(&klog("round_trippers.go", "Response Status: 200 OK in 8 milliseconds"), &[], &["the line before it has the request"]);
}

#[test]
fn versions_of_lines_in_json_are_those_of_their_fields() {
    let line = |caller: &str, message: &str| json!({"ts": 1_718_886_797_389.016, "caller": caller, "msg": message, "v": 6});
    let (requests, reflectors) = ("transport/round_trippers.go:553", "cache/reflector.go:158");
    let plain = line(requests, "GET https://10.0.0.1:6443/api/v1/pods?limit=500 200 OK in 8 milliseconds");
    let mut structured = line(requests, "Response");
    structured["verb"] = json!("GET");
    structured["url"] = json!("https://10.0.0.1/api/v1/pods");
    structured["status"] = json!("200 OK");
    let cycle = line(reflectors, "Listing and watching *v1.Pod from a.go:1");
    let mut structured_cycle = line(reflectors, "Listing and watching");
    structured_cycle["type"] = json!("*v1.Pod");
    structured_cycle["reflector"] = json!("a.go:1");
    for (line, written_by) in [
        (plain, "client request   a client with client-go 0.32 or earlier, -v=6\n"),
        (structured, "client request   a client with client-go 0.33 or later, -v=6\n"),
        (cycle, "reflector line   a client with client-go 0.32 or earlier\n"),
        (structured_cycle, "reflector line   a client with client-go 0.33 or later\n"),
    ] {
        // The time is complete.
        check(&line.to_string(), &[], &[written_by, "time          2024-06-20T12:33:17.389016000Z\n"]);
    }
    let text = klog("reflector.go", "Listing and watching *v1.Pod from a.go:1");
    check(&text, &[], &["time          ", "   year and zone assumed\n"]);
    let json = explain(text.as_bytes(), &["--format", "json"]).stdout;
    assert!(String::from_utf8_lossy(&json).contains("at_is_incomplete"));
}
