//! Bytes of whole exchanges in, observations out.

use expect_test::{Expect, expect};

use super::*;
use crate::http::{Direction, Gap, Protocol};
use crate::time::Timestamp;

const LIST: &str = concat!(
    r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"17","continue":"abc"},"#,
    r#""items":[{"metadata":{"name":"a","namespace":"b","uid":"c","resourceVersion":"3"},"data":{"secret":"canary"}}]}"#
);

/// The same in protobuf.
const PROTOBUF_LIST: &str = concat!(
    "k8s\0\n\x13\n\x02v1\x12\rConfigMapList\x12\x23\n\x09\x12\x0217\x1a\x03abc",
    "\x12\x16\n\x0c\n\x01a\x1a\x01b*\x01c2\x013\x12\x06canary\x1a\0\"\0"
);

#[test]
fn list_is_told_from_its_request_to_its_end() {
    let response = format!(
        "HTTP/1.1 200 OK\r\nAudit-Id: x-1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{LIST}",
        LIST.len()
    );
    check(
        &[
            (Direction::Request, "GET /api/v1/configmaps?limit=500 HTTP/1.1\r\nUser-Agent: kubectl/v1.33.1\r\n\r\n"),
            (Direction::Response, &response),
        ],
        &expect![[r#"
            requested list configmaps limit=500 by kubectl/v1.33.1
            responded 200
            understood Kind("ConfigMapList")
            understood List(17)
            bytes Response 206
            understood Items(b/a@3)
            ended Complete
            closed
        "#]],
    );
}

#[test]
fn list_in_protobuf_is_told_likewise() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.kubernetes.protobuf\r\n";
    let response = format!("{head}Content-Length: {}\r\n\r\n{PROTOBUF_LIST}", PROTOBUF_LIST.len());
    check(
        &[(Direction::Request, "GET /api/v1/configmaps?limit=500 HTTP/1.1\r\n\r\n"), (Direction::Response, &response)],
        &expect![[r#"
            requested list configmaps limit=500 by -
            responded 200
            understood Kind("ConfigMapList")
            understood List(17)
            bytes Response 66
            understood Items(b/a@3)
            ended Complete
            closed
        "#]],
    );
}

#[test]
fn watch_is_told_event_by_event() {
    check(
        &[
            (Direction::Request, "GET /api/v1/configmaps?watch=1&resourceVersion=7 HTTP/1.1\r\n\r\n"),
            (Direction::Response, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"),
            (
                Direction::Response,
                concat!(
                    "5b\r\n",
                    r#"{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"b","resourceVersion":"8"}}}"#,
                    "\n\n\r\n"
                ),
            ),
        ],
        &expect![[r"
            requested watch configmaps limit=0 by -
            responded 200
            bytes Response 91
            understood Events(Added b/a@8)
            ended Cut(None)
            closed
        "]],
    );
}

#[test]
fn answer_of_an_unknown_type_is_counted_and_named() {
    check(
        &[
            (Direction::Request, "GET /api/v1/configmaps HTTP/1.1\r\n\r\n"),
            (Direction::Response, "HTTP/1.1 200 OK\r\nContent-Type: application/yaml;x=y\r\nContent-Length: 3\r\n\r\n{}."),
        ],
        &expect![[r#"
            requested list configmaps limit=0 by -
            responded 200
            not read MediaType("application/yaml")
            bytes Response 3
            ended Complete
            closed
        "#]],
    );
}

#[test]
fn logs_and_discovery_are_only_counted() {
    check(
        &[
            (Direction::Request, "GET /api/v1/namespaces/a/pods/b/log HTTP/1.1\r\n\r\nGET /apis HTTP/1.1\r\n\r\n"),
            (Direction::Response, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\ncanary"),
            (Direction::Response, "HTTP/1.1 200 OK\r\nContent-Type: application/x-y\r\nContent-Length: 1\r\n\r\n."),
        ],
        &expect![[r"
            requested get pods limit=0 by -
            requested get /apis limit=0 by -
            responded 200
            bytes Response 6
            ended Complete
            responded 200
            bytes Response 1
            ended Complete
            closed
        "]],
    );
}

#[test]
fn hole_in_a_body_is_told_with_its_exchange() {
    let mut told = Vec::new();
    let mut decoder = ConnectionDecoder::new(ConnectionId(1), Some(Protocol::Http1), "");
    let mut tell = |observation: Observation| told.push(describe(&observation.what));
    let at = Timestamp::default();
    decoder.bytes(at, Direction::Request, b"GET /api/v1/configmaps HTTP/1.1\r\n\r\n", &mut tell);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", LIST.len());
    decoder.bytes(at, Direction::Response, head.as_bytes(), &mut tell);
    decoder.gap(at, Direction::Response, Gap { stream: None, length: LIST.len() as u64 }, &mut tell);
    decoder.close(at, &mut tell);
    assert_eq!(
        told[2..],
        ["missed Response 206", "body missed Response 206", "bytes Response 206", "ended Complete", "closed"],
        "{told:#?}"
    );
}

#[track_caller]
fn check(pieces: &[(Direction, &str)], expected: &Expect) {
    let mut told = String::new();
    let mut decoder = ConnectionDecoder::new(ConnectionId(1), Some(Protocol::Http1), "");
    let mut tell = |observation: Observation| {
        let text = serde_json::to_string(&observation).unwrap();
        assert!(!text.contains("canary"), "an object's content left the decoder: {text}");
        told.push_str(&(describe(&observation.what) + "\n"));
    };
    for (direction, bytes) in pieces {
        decoder.bytes(Timestamp::default(), *direction, bytes.as_bytes(), &mut tell);
    }
    decoder.close(Timestamp::default(), &mut tell);
    expected.assert_eq(&told);
}

#[expect(clippy::wildcard_enum_match_arm, reason = "what has no words of its own is shown as it is")]
fn describe(what: &What) -> String {
    match what {
        What::Requested { request, .. } => {
            let info = request.info.as_ref().unwrap();
            let resource = info.resource.as_ref().map_or(info.non_resource_path.clone(), ToString::to_string);
            let agent = request.user_agent.as_deref().unwrap_or("-");
            format!("requested {} {resource} limit={} by {agent}", info.verb.as_str(), request.options.limit)
        }
        What::Responded { response, .. } => format!("responded {}", response.status.unwrap()),
        What::Bytes { direction, bytes, .. } => format!("bytes {direction:?} {bytes}"),
        What::Understood { body, .. } => match body {
            Body::Kind(kind) => format!("understood Kind({kind:?})"),
            Body::List(meta) => format!("understood List({})", meta.resource_version),
            Body::Items(items) => format!("understood Items({})", items.iter().map(object).collect::<Vec<_>>().join(" ")),
            Body::Object(one) => format!("understood Object({})", object(one)),
            Body::Events(events) => {
                let events: Vec<_> =
                    events.iter().map(|event| format!("{:?} {}", event.event_type, object(&event.object))).collect();
                format!("understood Events({})", events.join(" "))
            }
            Body::Status(status) => format!("understood Status({})", status.code),
        },
        What::NotRead { reason, .. } => format!("not read {reason:?}"),
        What::Ended { end, .. } => format!("ended {end:?}"),
        What::Missed { direction, bytes, .. } => format!("missed {direction:?} {bytes}"),
        What::BodyMissed { direction, bytes, .. } => format!("body missed {direction:?} {bytes}"),
        What::ConnectionClosed { .. } => "closed".to_owned(),
        other => format!("{other:?}"),
    }
}

fn object(object: &crate::wire::ObjectRef) -> String {
    format!("{}/{}@{}", object.namespace, object.name, object.resource_version)
}
