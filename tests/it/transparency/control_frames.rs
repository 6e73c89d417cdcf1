//! HTTP/2 frames that carry no message.

use serde_json::json;

use crate::dialogue::{client, forwarded_unchanged, server};
use crate::h2_frames::{
    ACK, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PADDED, PING, PRIORITY, RST_STREAM, SETTINGS, WINDOW_UPDATE,
    WITH_PRIORITY, field, frame, get, preface_with,
};

const PODS: &str = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"17"},"items":[]}"#;
/// A frame type of an extension (RFC 9218), and an undefined one: receivers ignore unknown types (RFC 9113 §4.1), but watchtap
/// forwards them.
const PRIORITY_UPDATE: u8 = 0x10;
const UNDEFINED: u8 = 0xfa;

/// Each peer receives exactly the frames that the other sent, until the connection ends. So watchtap neither answers a PING nor
/// acknowledges SETTINGS, and it extends no window.
#[test]
fn http2_control_frames_are_forwarded_unchanged() {
    // HEADER_TABLE_SIZE, ENABLE_PUSH, INITIAL_WINDOW_SIZE, MAX_HEADER_LIST_SIZE, and an undefined setting.
    let of_client = settings(&[(1, 4096), (2, 0), (4, 4 << 20), (6, 10 << 20), (0xfafa, 1)]);
    // MAX_CONCURRENT_STREAMS, MAX_FRAME_SIZE, INITIAL_WINDOW_SIZE, with kube-apiserver's values.
    let of_server = settings(&[(3, 100), (5, 1 << 20), (4, 256 << 10)]);
    let head = [vec![0x88], field("content-type", "application/json")].concat();
    let padded = [&[3], PODS.as_bytes(), &[0; 3]].concat();
    let report = forwarded_unchanged(
        "h2",
        vec![
            client(preface_with(&of_client)),
            server(of_server),
            client(frame(SETTINGS, ACK, 0, &[])),
            server(frame(SETTINGS, ACK, 0, &[])),
            client(frame(WINDOW_UPDATE, 0, 0, &(1_u32 << 30).to_be_bytes())),
            server(frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes())),
            client(frame(PRIORITY, 0, 3, &[0x80, 0, 0, 5, 200])),
            client(frame(
                HEADERS,
                END_HEADERS | END_STREAM | WITH_PRIORITY,
                1,
                &[&[0, 0, 0, 3, 15], &get("/api/v1/pods")[..]].concat(),
            )),
            client(frame(PRIORITY_UPDATE, 0, 0, b"\0\0\0\x01u=1,i")),
            client(frame(PING, 0, 0, b"watchtap")),
            server(frame(PING, ACK, 0, b"watchtap")),
            server(frame(PING, 0, 0, b"\0\0\0\0\0\0\0\x01")),
            client(frame(PING, ACK, 0, b"\0\0\0\0\0\0\0\x01")),
            server(frame(UNDEFINED, 0xff, 1, b"whatever")),
            server(frame(HEADERS, END_HEADERS, 1, &head)),
            server(frame(DATA, END_STREAM | PADDED, 1, &padded)),
            client(frame(WINDOW_UPDATE, 0, 1, &500_u32.to_be_bytes())),
            client(frame(HEADERS, END_HEADERS | END_STREAM, 3, &get("/api/v1/nodes"))),
            client(frame(RST_STREAM, 0, 3, &8_u32.to_be_bytes())),
            server(frame(GOAWAY, 0, 0, b"\x7f\xff\xff\xff\0\0\0\0graceful_stop")),
            client(frame(PING, 0, 0, b"still on")),
            server(frame(PING, ACK, 0, b"still on")),
            server(frame(GOAWAY, 0, 0, b"\0\0\0\x03\0\0\0\0")),
        ],
    );
    assert_eq!((&report["missed"]["malformed"], &report["missed"]["stopped_directions"]), (&json!(0), &json!(0)));
    let ends: Vec<_> =
        report["requests"].as_array().unwrap().iter().map(|request| (&request["resource"], &request["end"])).collect();
    let reset = json!({"reset": {"by": "request", "code": 8}});
    assert_eq!(ends, [(&json!("pods"), &json!("complete")), (&json!("nodes"), &reset)]);
}

fn settings(values: &[(u16, u32)]) -> Vec<u8> {
    let payload: Vec<u8> =
        values.iter().flat_map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat()).collect();
    frame(SETTINGS, 0, 0, &payload)
}
