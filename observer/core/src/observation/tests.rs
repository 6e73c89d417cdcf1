//! Tests of the decoder: bytes of complete exchanges in, observations out.

use expect_test::{Expect, expect};

use super::*;
use crate::http::{Direction, Gap, Protocol};
use crate::time::Timestamp;

const LIST: &str = concat!(
    r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"17","continue":"abc"},"#,
    r#""items":[{"metadata":{"name":"a","namespace":"b","uid":"c","resourceVersion":"3"},"data":{"secret":"canary"}}]}"#
);

/// The same list in protobuf.
const PROTOBUF_LIST: &str = concat!(
    "k8s\0\n\x13\n\x02v1\x12\rConfigMapList\x12\x23\n\x09\x12\x0217\x1a\x03abc",
    "\x12\x16\n\x0c\n\x01a\x1a\x01b*\x01c2\x013\x12\x06canary\x1a\0\"\0"
);

#[test]
fn error_text_of_a_refused_write_is_dropped() {
    let body = r#"{"kind":"Status","message":"data: Invalid value: canary","reason":"Invalid","details":{"causes":[{"reason":"FieldValueInvalid","message":"canary","field":"data[canary]"}]},"code":422}"#;
    let answer = format!("HTTP/1.1 422 x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let request = format!("{method} /api/v1/namespaces/b/secrets/a HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
        let emitted = emitted(&[(Direction::Request, request), (Direction::Response, answer.clone())]);
        assert!(emitted.contains("understood Status(422)"), "{method}: {emitted}");
    }
}

#[test]
fn list_is_reported_from_its_request_to_its_end() {
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
fn version_that_a_client_asks_for_is_reported() {
    let ask = (Direction::Request, "GET /version HTTP/1.1\r\n\r\n");
    let answer =
        |body: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let known = answer(r#"{"major":"1","minor":"34","gitVersion":"v1.34.4","platform":"linux/amd64"}"#);
    check(
        &[ask, (Direction::Response, &known)],
        &expect![[r"
            requested get /version limit=0 by -
            responded 200
            understood Version(v1.34.4)
            bytes Response 74
            ended Complete
            closed
        "]],
    );
    for none in [answer(r#"{"gitVersion":"tomorrow"}"#), answer("{}"), answer(&" ".repeat(5000))] {
        assert!(!emitted(&[ask, (Direction::Response, &none)]).contains("Version("), "{none}");
    }
}

#[test]
fn protobuf_list_is_reported_from_request_to_end() {
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
fn watch_is_reported_event_by_event() {
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
fn gap_in_a_body_is_reported_with_its_exchange() {
    let mut emitted = Vec::new();
    let mut decoder = ConnectionDecoder::new(ConnectionId(1), Some(Protocol::Http1), "");
    let mut emit = |observation: Observation| emitted.push(describe(&observation.subject));
    let at = Timestamp::default();
    decoder.bytes(at, Direction::Request, b"GET /api/v1/configmaps HTTP/1.1\r\n\r\n", &mut emit);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", LIST.len());
    decoder.bytes(at, Direction::Response, head.as_bytes(), &mut emit);
    decoder.gap(at, Direction::Response, Gap { stream: None, length: LIST.len() as u64 }, &mut emit);
    decoder.close(at, Plaintext::default(), &mut emit);
    assert_eq!(
        emitted[2..],
        ["missed Response 206", "body missed Response 206", "bytes Response 206", "ended Complete", "closed"],
        "{emitted:#?}"
    );
}

const WATCH_REQUEST: &str = "GET /api/v1/configmaps?watch=1 HTTP/1.1\r\nUpgrade: websocket\r\n\r\n";
const SWITCHED: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
const ADDED: &str =
    r#"{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"b","resourceVersion":"8"},"data":{"x":"canary"}}}"#;

#[test]
fn websocket_watch_is_reported_until_the_server_closes() {
    let (begin, rest) = ADDED.split_at(40);
    let server = [frame(0x01, begin), frame(0x89, "ping"), frame(0x80, rest), frame(0x81, ADDED), frame(0x88, b"\x03\xe8")];
    check(
        &[
            (Direction::Request, WATCH_REQUEST.as_bytes().to_vec()),
            (Direction::Response, [SWITCHED.as_bytes(), &server.concat()].concat()),
            (Direction::Request, frame(0x88, "")),
        ],
        &expect![[r"
            requested watch configmaps limit=0 by -
            responded 101
            upgraded websocket
            understood MediaType(application/json)
            bytes Response 238
            understood Events(Added b/a@8 Added b/a@8)
            ended Complete
            closed
        "]],
    );
}

#[test]
fn websocket_watch_is_over_before_its_connection() {
    let mut emitted = Vec::new();
    let mut decoder = ConnectionDecoder::new(ConnectionId(1), Some(Protocol::Http1), "");
    let mut emit = |observation: Observation| emitted.push(describe(&observation.subject));
    let at = Timestamp::default();
    decoder.bytes(at, Direction::Request, WATCH_REQUEST.as_bytes(), &mut emit);
    decoder.bytes(at, Direction::Response, &[SWITCHED.as_bytes(), &frame(0x88, b"\x03\xe8")].concat(), &mut emit);
    assert_eq!(emitted.last().map(String::as_str), Some("ended Complete"), "{emitted:#?}");
}

#[test]
fn watch_over_websocket_that_the_client_closes_is_cancelled() {
    check(
        &[
            (Direction::Request, WATCH_REQUEST.as_bytes().to_vec()),
            (Direction::Response, [SWITCHED.as_bytes(), &frame(0x81, ADDED)].concat()),
            (Direction::Request, frame(0x88, b"\x03\xe8")),
            (Direction::Response, frame(0x88, b"\x03\xe8")),
        ],
        &expect![[r"
            requested watch configmaps limit=0 by -
            responded 101
            upgraded websocket
            understood MediaType(application/json)
            bytes Response 113
            understood Events(Added b/a@8)
            bytes Request 4
            bytes Response 4
            ended Reset { by: Request, code: 1000 }
            closed
        "]],
    );
}

#[test]
fn websocket_frames_that_cannot_be_read_are_counted_and_named() {
    check(
        &[
            (Direction::Request, WATCH_REQUEST.as_bytes().to_vec()),
            (Direction::Response, [SWITCHED.as_bytes(), &frame(0x81, ADDED), &frame(0xc1, ADDED), &frame(0x81, ADDED)].concat()),
            (Direction::Request, b"whatever".to_vec()),
        ],
        &expect![[r#"
            requested watch configmaps limit=0 by -
            responded 101
            upgraded websocket
            understood MediaType(application/json)
            not read Malformed { at: 113, what: "WebSocket frame of an extension" }
            bytes Response 339
            understood Events(Added b/a@8)
            bytes Request 8
            ended Cut(None)
            closed
        "#]],
    );
}

#[test]
fn unknown_websocket_messages_are_reported_by_type() {
    check(
        &[
            (Direction::Request, WATCH_REQUEST.as_bytes().to_vec()),
            (Direction::Response, [SWITCHED.as_bytes(), &frame(0x81, "hello"), &frame(0x81, ADDED)].concat()),
        ],
        &expect![[r#"
            requested watch configmaps limit=0 by -
            responded 101
            upgraded websocket
            not read MediaType("WebSocket messages of an unknown type")
            bytes Response 120
            ended Cut(None)
            closed
        "#]],
    );
}

#[test]
fn exec_over_websocket_is_only_counted() {
    check(
        &[
            (Direction::Request, b"GET /api/v1/namespaces/a/pods/b/exec HTTP/1.1\r\nUpgrade: websocket\r\n\r\n".to_vec()),
            (Direction::Response, [SWITCHED.as_bytes(), &frame(0x81, ADDED), b"\xff\xff"].concat()),
            (Direction::Request, frame(0x81, "canary")),
        ],
        &expect![[r"
            requested get pods limit=0 by -
            responded 101
            upgraded websocket
            bytes Response 115
            bytes Request 8
            ended Cut(None)
            closed
        "]],
    );
}

#[test]
fn closed_connection_reports_forwarded_and_observed_bytes() {
    let mut emitted = Vec::new();
    let mut decoder = ConnectionDecoder::new(ConnectionId(1), Some(Protocol::Http1), "");
    let mut emit = |observation: Observation| emitted.push(observation.subject);
    let at = Timestamp::default();
    decoder.bytes(at, Direction::Request, b"GET / HTTP/1.1\r\n\r\n", &mut emit);
    decoder.bytes(at, Direction::Response, b"HTTP/1.1 200 OK\r\n", &mut emit);
    decoder.gap(at, Direction::Response, Gap { stream: None, length: 9 }, &mut emit);
    decoder.bytes(at, Direction::Response, b"not HTTP", &mut emit);
    let forwarded = Plaintext { request: 18, response: 34 };
    decoder.close(at, forwarded, &mut emit);
    let observed = Plaintext { request: 18, response: 25 };
    assert_eq!(emitted.last(), Some(&Subject::Connection(ConnectionId(1), ConnectionObservation::Closed { forwarded, observed })));
}

#[test]
fn open_exchanges_end_as_out_of_sight_when_observation_stops() {
    let mut emitted = Vec::new();
    let mut decoder = ConnectionDecoder::new(ConnectionId(1), Some(Protocol::Http1), "");
    let mut emit = |observation: Observation| emitted.push(describe(&observation.subject));
    decoder.bytes(Timestamp::default(), Direction::Request, WATCH_REQUEST.as_bytes(), &mut emit);
    decoder.lose_sight(Timestamp::default(), &mut emit);
    decoder.close(Timestamp::default(), Plaintext::default(), &mut emit);
    assert_eq!(emitted[1..], ["ended NotObserved", "closed"]);
}

#[test]
fn gap_in_a_websocket_is_reported_with_its_exchange() {
    let mut emitted = Vec::new();
    let mut decoder = ConnectionDecoder::new(ConnectionId(1), Some(Protocol::Http1), "");
    let mut emit = |observation: Observation| emitted.push(describe(&observation.subject));
    let at = Timestamp::default();
    decoder.bytes(at, Direction::Request, WATCH_REQUEST.as_bytes(), &mut emit);
    decoder.bytes(at, Direction::Response, &[SWITCHED.as_bytes(), &frame(0x81, ADDED)[..2]].concat(), &mut emit);
    decoder.gap(at, Direction::Response, Gap { stream: None, length: ADDED.len() as u64 }, &mut emit);
    decoder.bytes(at, Direction::Response, &frame(0x81, ADDED), &mut emit);
    decoder.close(at, Plaintext::default(), &mut emit);
    let (missed, rest) = (format!("missed Response {}", ADDED.len()), &emitted[3..]);
    assert!(rest.contains(&missed) && rest.contains(&format!("body {missed}")), "{emitted:#?}");
}

/// A WebSocket frame with a payload of less than 126 bytes.
fn frame(first: u8, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    [&[first, u8::try_from(payload.len()).unwrap()], payload].concat()
}

#[track_caller]
fn check<B: AsRef<[u8]>>(pieces: &[(Direction, B)], expected: &Expect) {
    expected.assert_eq(&emitted(pieces));
}

fn emitted<B: AsRef<[u8]>>(pieces: &[(Direction, B)]) -> String {
    let mut emitted = String::new();
    let mut decoder = ConnectionDecoder::new(ConnectionId(1), Some(Protocol::Http1), "");
    let mut emit = |observation: Observation| {
        let text = serde_json::to_string(&observation).unwrap();
        assert!(!text.contains("canary"), "an object's content left the decoder: {text}");
        emitted.push_str(&(describe(&observation.subject) + "\n"));
    };
    for (direction, bytes) in pieces {
        decoder.bytes(Timestamp::default(), *direction, bytes.as_ref(), &mut emit);
    }
    decoder.close(Timestamp::default(), Plaintext::default(), &mut emit);
    emitted
}

#[expect(clippy::wildcard_enum_match_arm, reason = "what has no words of its own is shown as it is")]
fn describe(subject: &Subject) -> String {
    match subject {
        Subject::Exchange(_, ExchangeObservation::Requested { request, .. }) => {
            let info = request.info.as_ref().unwrap();
            let resource = info.resource.as_ref().map_or(info.non_resource_path.clone(), ToString::to_string);
            let agent = request.user_agent.as_deref().unwrap_or("-");
            format!("requested {} {resource} limit={} by {agent}", info.verb.as_str(), request.options.limit)
        }
        Subject::Exchange(_, ExchangeObservation::Responded { response, .. }) => format!("responded {}", response.status.unwrap()),
        Subject::Exchange(_, ExchangeObservation::BodyBytes { direction, bytes, .. }) => format!("bytes {direction:?} {bytes}"),
        Subject::Exchange(_, ExchangeObservation::BodyRead { body, .. }) => match body {
            Body::MediaType(media_type) => format!("understood MediaType({media_type})"),
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
            Body::Version(version) => format!("understood Version({version})"),
        },
        Subject::Exchange(_, ExchangeObservation::Upgraded { protocol, .. }) => format!("upgraded {protocol}"),
        Subject::Exchange(_, ExchangeObservation::BodyNotRead { reason, .. }) => format!("not read {reason:?}"),
        Subject::Exchange(_, ExchangeObservation::Ended { end, .. }) => format!("ended {end:?}"),
        Subject::Connection(_, ConnectionObservation::Gap { direction, bytes, .. }) => format!("missed {direction:?} {bytes}"),
        Subject::Exchange(_, ExchangeObservation::BodyGap { direction, bytes, .. }) => format!("body missed {direction:?} {bytes}"),
        Subject::Connection(_, ConnectionObservation::Closed { .. }) => "closed".to_owned(),
        other => format!("{other:?}"),
    }
}

fn object(object: &crate::wire::ObjectRef) -> String {
    format!("{}/{}@{}", object.namespace, object.name, object.resource_version)
}
