//! Tests of unusual messages: interim responses, trailers, and messages without a body.

use serde_json::{Value, json};

use crate::dialogue::{Dialogue, client, forwarded_unchanged, server};
use crate::h2_frames::{DATA, END_HEADERS, END_STREAM, HEADERS, field, frame, get, preface, settings};

const PODS: &str = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"17"},"items":[]}"#;
const LIST: &str = "GET /api/v1/pods HTTP/1.1\r\nHost: kubernetes\r\nTE: trailers\r\n\r\n";

#[test]
fn http1_trailers_are_forwarded_unchanged() {
    let length = PODS.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTrailer: X-Digest\r\nTransfer-Encoding: chunked\r\n\r\n{length:x};ext=1\r\n{PODS}\r\n0\r\nX-Digest: abc\r\n\r\n"
    );
    check("http/1.1", vec![client(LIST), server(answer), client(LIST), server(answer_with("200 OK", PODS))], &[200, 200]);
}

#[test]
fn http2_trailers_are_forwarded_unchanged() {
    let head = [vec![0x88], field("content-type", "application/json")].concat();
    let dialogue = vec![
        client(preface()),
        server(settings()),
        client(frame(HEADERS, END_HEADERS | END_STREAM, 1, &get("/api/v1/pods"))),
        server(frame(HEADERS, END_HEADERS, 1, &head)),
        server(frame(DATA, 0, 1, PODS.as_bytes())),
        server(frame(HEADERS, END_HEADERS | END_STREAM, 1, &field("x-digest", "abc"))),
    ];
    check("h2", dialogue, &[200]);
}

#[test]
fn http1_interim_responses_are_forwarded_unchanged() {
    let early = "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </openapi/v3>; rel=preload\r\n\r\n";
    check("http/1.1", vec![client(LIST), server(early), server(answer_with("200 OK", PODS))], &[200]);
}

#[test]
fn http2_interim_responses_are_forwarded_unchanged() {
    let head = [vec![0x88], field("content-type", "application/json")].concat();
    let dialogue = vec![
        client(preface()),
        server(settings()),
        client(frame(HEADERS, END_HEADERS | END_STREAM, 1, &get("/api/v1/pods"))),
        server(frame(HEADERS, END_HEADERS, 1, &field(":status", "103"))),
        server(frame(HEADERS, END_HEADERS, 1, &head)),
        server(frame(DATA, END_STREAM, 1, PODS.as_bytes())),
    ];
    check("h2", dialogue, &[200]);
}

/// The client waits for the interim response before it sends the body. The test hangs if watchtap holds that response back.
#[test]
fn upload_that_expects_100_continue_is_forwarded_unchanged() {
    let object = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}"#;
    let head = format!(
        "POST /api/v1/namespaces/a/configmaps HTTP/1.1\r\nHost: kubernetes\r\nContent-Type: application/json\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        object.len()
    );
    let accepted = vec![
        client(head.clone()),
        server("HTTP/1.1 100 Continue\r\n\r\n"),
        client(object),
        server(answer_with("201 Created", object)),
    ];
    check("http/1.1", accepted, &[201]);
    // Without the interim response, the client keeps the body and sends its next request on another connection.
    check("http/1.1", vec![client(head), server(answer_with("417 Expectation Failed", "{}"))], &[417]);
}

#[test]
fn bodiless_responses_with_a_content_length_are_forwarded() {
    let head = "HEAD /api/v1/pods HTTP/1.1\r\nHost: kubernetes\r\n\r\n";
    let dialogue = vec![
        client(head),
        server("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1234567\r\n\r\n"),
        client(LIST),
        server("HTTP/1.1 304 Not Modified\r\nContent-Length: 1234567\r\n\r\n"),
        client(LIST),
        server("HTTP/1.1 204 No Content\r\n\r\n"),
        client(LIST),
        server(answer_with("200 OK", PODS)),
    ];
    check("http/1.1", dialogue, &[200, 304, 204, 200]);
}

/// Checks that all exchanges are complete with these statuses, and that every byte was understood.
#[track_caller]
fn check(protocol: &'static str, dialogue: Dialogue, statuses: &[u16]) {
    let report = forwarded_unchanged(protocol, dialogue);
    assert_eq!((&report["missed"]["malformed"], &report["missed"]["stopped_directions"]), (&json!(0), &json!(0)));
    let requests = report["requests"].as_array().unwrap();
    let observed: Vec<&Value> = requests.iter().map(|request| &request["status"]).collect();
    assert_eq!(observed, statuses.iter().map(|status| json!(status)).collect::<Vec<_>>().iter().collect::<Vec<_>>());
    assert!(requests.iter().all(|request| request["end"] == "complete"), "{requests:#?}");
}

fn answer_with(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
