//! Traffic that violates the standards: watchtap forwards it byte for byte, and counts the parts that it cannot parse.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::dialogue::{client, forwarded_unchanged, server};
use crate::h2_frames::{
    COMPRESSION_ERROR, CONTINUATION, END_HEADERS, END_STREAM, GOAWAY, HEADERS, frame, list_pods_on_stream_1, preface, settings,
};

const LIST_PODS: &str = "GET /api/v1/pods HTTP/1.1\r\nHost: kubernetes\r\nAccept: application/json\r\n\r\n";
const THREE_PODS: &str = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"17"},"items":[{"metadata":{"name":"a","uid":"u1","resourceVersion":"5"}},{"metadata":{"name":"b","uid":"u2","resourceVersion":"6"}},{"metadata":{"name":"c","uid":"u3","resourceVersion":"7"}}]}"#;
const GARBAGE: &[u8] = b"\0\x01\x02 this is not HTTP \xff\xfe\r\n\r\nneither is this";

#[test]
fn connection_without_http_is_forwarded_and_malformed() {
    let report = forwarded_unchanged("http/1.1", vec![client(GARBAGE), server(GARBAGE)]);
    assert_malformed(&report);
    assert_eq!(report["totals"]["requests"], 0);
}

#[test]
fn malformed_request_line_is_forwarded_and_counted() {
    let answer = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let report = forwarded_unchanged("http/1.1", vec![client("GET\t/api/v1/pods HTTP/1.1 and more\r\n\r\n"), server(answer)]);
    assert_malformed(&report);
}

#[test]
fn malformed_status_line_is_forwarded_and_counted() {
    let report =
        forwarded_unchanged("http/1.1", vec![client(LIST_PODS), server("HTTP/1.1 two hundred\r\nContent-Length: 0\r\n\r\n")]);
    assert_malformed(&report);
}

#[test]
fn conflicting_content_lengths_are_forwarded_and_counted() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\n{}   {}";
    let report = forwarded_unchanged("http/1.1", vec![client(LIST_PODS), server(answer)]);
    assert_malformed(&report);
}

#[test]
fn malformed_chunk_is_forwarded_and_counted() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nsoon\r\n";
    let report = forwarded_unchanged("http/1.1", vec![client(LIST_PODS), server(answer)]);
    assert_malformed(&report);
    assert_ne!(only_list(&report)["end"], "complete");
}

#[test]
fn client_garbage_after_a_valid_exchange_is_malformed() {
    let report =
        forwarded_unchanged("http/1.1", vec![client(LIST_PODS), server(answer_with(THREE_PODS.as_bytes(), &[])), client(GARBAGE)]);
    assert_malformed(&report);
    assert_three_items(&report);
}

#[test]
fn server_garbage_after_a_valid_exchange_is_malformed() {
    let report =
        forwarded_unchanged("http/1.1", vec![client(LIST_PODS), server(answer_with(THREE_PODS.as_bytes(), &[])), server(GARBAGE)]);
    assert_malformed(&report);
    assert_three_items(&report);
}

#[test]
fn invalid_hpack_from_the_client_is_malformed() {
    // An index beyond both the static and the dynamic table (RFC 7541 §2.3.3).
    let headers = frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0xff, 0x00]);
    let go_away = frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, COMPRESSION_ERROR]);
    let report = forwarded_unchanged("h2", vec![client(preface()), server(settings()), client(headers), server(go_away)]);
    assert_malformed(&report);
}

#[test]
fn invalid_hpack_from_the_server_is_malformed() {
    let answer = frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0xff, 0x00]);
    let report =
        forwarded_unchanged("h2", vec![client(preface()), server(settings()), client(list_pods_on_stream_1()), server(answer)]);
    assert_malformed(&report);
    assert_eq!(report["totals"]["requests"], 1);
}

#[test]
fn text_instead_of_http2_frames_is_malformed() {
    // Read as a frame header, it has a length of 4,740,180 bytes; 16,384 are allowed (RFC 9113 §4.2).
    let answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    let report = forwarded_unchanged("h2", vec![client(preface()), server(answer)]);
    assert_malformed(&report);
}

#[test]
fn truncated_json_body_is_forwarded_and_not_read() {
    let (body, _) = THREE_PODS.split_once(r#""u3""#).unwrap();
    let report = forwarded_unchanged("http/1.1", vec![client(LIST_PODS), server(answer_with(body.as_bytes(), &[]))]);
    assert_body_not_read(&report);
    assert_eq!(report["missed"]["malformed"], 0, "as HTTP it is fine");
    assert_eq!(only_list(&report)["bytes"], body.len());
}

#[test]
fn invalid_json_body_is_forwarded_and_not_read() {
    let report = forwarded_unchanged("http/1.1", vec![client(LIST_PODS), server(answer_with(GARBAGE, &[]))]);
    assert_body_not_read(&report);
}

#[test]
fn gzip_bomb_is_decoded_to_its_end() {
    const INFLATED: usize = 16 << 20;
    const MEMBER: usize = 1 << 20;
    // Separate members inflate to the same bytes as one (RFC 1952 §2.2).
    let zeros = gzip(&"0".repeat(MEMBER)).repeat(INFLATED / MEMBER);
    let (before, after) = THREE_PODS.split_once(r#""name":"a""#).unwrap();
    let before = gzip(&format!(r#"{before}"annotations":{{"zeros":""#));
    let after = gzip(&format!(r#""}},"name":"a"{after}"#));
    let body = [before, zeros, after].concat();
    assert!(body.len() < INFLATED / 500, "{} bytes are no bomb", body.len());
    let report = forwarded_unchanged("http/1.1", vec![client(LIST_PODS), server(answer_with(&body, &["Content-Encoding: gzip"]))]);
    assert_three_items(&report);
    assert_eq!(only_list(&report)["bytes"], body.len());
}

#[test]
fn damaged_gzip_body_is_forwarded_and_not_read() {
    let mut body = gzip(THREE_PODS);
    let middle = body.len() / 2;
    body[middle..].fill(0xff);
    let report = forwarded_unchanged("http/1.1", vec![client(LIST_PODS), server(answer_with(&body, &["Content-Encoding: gzip"]))]);
    assert_body_not_read(&report);
}

#[test]
fn unbounded_request_headers_stop_decoding() {
    let report = forwarded_unchanged("http/1.1", vec![client(line_without_end("GET /api/v1/pods HTTP/1.1\r\nX-Long: "))]);
    assert_direction_stopped(&report);
}

#[test]
fn unbounded_response_headers_stop_decoding() {
    let report = forwarded_unchanged("http/1.1", vec![client(LIST_PODS), server(line_without_end("HTTP/1.1 200 OK\r\nX-Long: "))]);
    assert_direction_stopped(&report);
}

#[test]
fn unbounded_http2_header_block_stops_decoding() {
    const BLOCK: usize = 16 << 10;
    const BLOCKS: usize = 128;
    let mut frames = frame(HEADERS, END_STREAM, 1, &[]);
    // A literal field without indexing, named "x", whose value is longer than the rest of the stream (RFC 7541 §5.1, §6.2.2).
    frames.extend(frame(CONTINUATION, 0, 1, &[0x00, 0x01, b'x', 0x7f, 0xff, 0xff, 0xff, 0x7f]));
    frames.extend(frame(CONTINUATION, 0, 1, &[b'a'; BLOCK]).repeat(BLOCKS));
    let report = forwarded_unchanged("h2", vec![client(preface()), server(settings()), client(frames)]);
    assert_direction_stopped(&report);
}

#[track_caller]
fn assert_malformed(report: &Value) {
    assert!(count(report, "malformed") > 0, "{:#}", report["missed"]);
}

#[track_caller]
fn assert_direction_stopped(report: &Value) {
    assert!(count(report, "stopped_directions") > 0, "{:#}", report["missed"]);
}

#[track_caller]
fn assert_body_not_read(report: &Value) {
    let bodies = report["missed"]["bodies"].as_object().unwrap();
    let reasons: Vec<(&String, &Value)> = bodies.iter().collect();
    assert!(
        matches!(reasons[..], [(reason, count)] if reason.starts_with("malformed: ") && *count == json!(1)),
        "{:#}",
        report["missed"]
    );
}

#[track_caller]
fn assert_three_items(report: &Value) {
    let list = only_list(report);
    assert_eq!(json!([list["items"], list["resource_version"], list["end"]]), json!([3, "17", "complete"]));
}

#[track_caller]
fn only_list(report: &Value) -> &Value {
    let requests = report["requests"].as_array().unwrap();
    let [list] = &requests[..] else { panic!("{requests:#?}") };
    assert_eq!((&list["verb"], &list["resource"]), (&json!("list"), &json!("pods")));
    list
}

fn count(report: &Value, what: &str) -> u64 {
    report["missed"][what].as_u64().unwrap()
}

fn answer_with(body: &[u8], more_fields: &[&str]) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    for field in more_fields {
        answer += field;
        answer += "\r\n";
    }
    answer += "\r\n";
    [answer.as_bytes(), body].concat()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn line_without_end(beginning: &str) -> Vec<u8> {
    const LENGTH: usize = 2 << 20;
    [beginning.as_bytes(), "a".repeat(LENGTH).as_bytes()].concat()
}
