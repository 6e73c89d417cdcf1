//! The server's end of a connection, as evidence that its snapshots are gone: bytes of connections in, verdicts out.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

use std::time::Duration;

use observer_core::http::{Direction, Protocol};
use observer_core::observation::{
    ConnectionDecoder, ConnectionId, ConnectionObservation, EndManner, Observation, Plaintext, RequestLine, Subject, UpstreamName,
    UpstreamObservation,
};
use observer_core::observer::{Limits, Observer};
use observer_core::routing::{Basis, ServedFrom, ServerProfile};
use observer_core::time::Timestamp;

const LIST: &str = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"100"},"items":[]}"#;
const GOAWAY: &[u8] = &[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn close_requested_by_the_client_keeps_the_snapshots() {
    for (version, fields, answer) in [
        ("1.1", "Connection: close\r\n", "Connection: close\r\n"),
        ("1.1", "Connection: TE, Close\r\n", ""),
        ("1.0", "", "Connection: close\r\n"),
        ("1.0", "", ""),
    ] {
        let mut run = Run::new();
        let mut wire = run.connect(Protocol::Http1);
        run.asks(&mut wire, version, fields);
        run.answers(&mut wire, answer, LIST);
        run.ends(&mut wire, Direction::Response);
        assert!(run.keeps_snapshots(), "HTTP/{version} {fields:?}");
    }
}

#[test]
fn end_that_no_client_asked_for_may_be_a_restart() {
    for (version, fields, answer) in
        [("1.1", "", ""), ("1.1", "Connection: keep-alive\r\n", "Connection: close\r\n"), ("1.0", "Connection: keep-alive\r\n", "")]
    {
        let mut run = Run::new();
        let mut wire = run.connect(Protocol::Http1);
        run.asks(&mut wire, version, fields);
        run.answers(&mut wire, answer, LIST);
        run.ends(&mut wire, Direction::Response);
        assert!(!run.keeps_snapshots(), "HTTP/{version} {fields:?} {answer:?}");
    }
}

#[test]
fn one_closed_connection_suffices_while_others_stay_open() {
    let mut run = Run::new();
    let mut other = run.connect(Protocol::Http1);
    let mut wire = run.connect(Protocol::Http1);
    run.asks(&mut wire, "1.1", "");
    run.answers(&mut wire, "", LIST);
    run.ends(&mut wire, Direction::Response);
    run.asks(&mut other, "1.1", "");
    assert!(!run.keeps_snapshots(), "behind a load balancer the other one may lead elsewhere");
}

#[test]
fn truncated_response_may_be_a_restart_despite_connection_close() {
    let mut run = Run::new();
    let mut wire = run.connect(Protocol::Http1);
    run.asks(&mut wire, "1.1", "Connection: close\r\n");
    run.pass(&mut wire, Direction::Response, b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{");
    run.ends(&mut wire, Direction::Response);
    assert!(!run.keeps_snapshots());
}

#[test]
fn server_close_after_the_client_close_keeps_the_snapshots() {
    let mut run = Run::new();
    let mut wire = run.connect(Protocol::Http1);
    run.asks(&mut wire, "1.1", "");
    run.answers(&mut wire, "", LIST);
    run.ends(&mut wire, Direction::Request);
    run.ends(&mut wire, Direction::Response);
    assert!(run.keeps_snapshots());
}

#[test]
fn client_goaway_keeps_the_snapshots_but_server_goaway_does_not() {
    for (by, keeps) in [(Direction::Request, true), (Direction::Response, false)] {
        let mut run = Run::new();
        let mut wire = run.connect(Protocol::Http2);
        run.pass(&mut wire, Direction::Request, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
        run.pass(&mut wire, Direction::Response, b"\0\0\0\x04\0\0\0\0\0");
        run.pass(&mut wire, by, GOAWAY);
        run.ends(&mut wire, Direction::Response);
        assert_eq!(run.keeps_snapshots(), keeps, "{by:?}");
    }
}

#[test]
fn close_of_an_upgraded_connection_keeps_the_snapshots() {
    let mut run = Run::new();
    let mut wire = run.connect(Protocol::Http1);
    let exec = b"POST /api/v1/namespaces/a/pods/b/exec?command=sh HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n\r\n";
    run.pass(&mut wire, Direction::Request, exec);
    let switched = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nx";
    run.pass(&mut wire, Direction::Response, switched);
    run.ends(&mut wire, Direction::Response);
    assert!(run.keeps_snapshots());
}

#[test]
fn server_close_after_90_s_idle_is_not_a_restart() {
    for (idle, keeps) in [(89, false), (90, true)] {
        let mut run = Run::new();
        let mut wire = run.connect(Protocol::Http1);
        run.asks(&mut wire, "1.1", "");
        run.answers(&mut wire, "", LIST);
        run.wait(idle - 2);
        run.list();
        run.ends(&mut wire, Direction::Response);
        assert_eq!(run.keeps_snapshots(), keeps, "{idle} s");
    }
}

#[test]
fn older_captures_have_no_connection_close_flag() {
    let line: RequestLine = serde_json::from_str(r#"{"method":"GET"}"#).unwrap();
    assert!(!line.closes && !serde_json::to_string(&line).unwrap().contains("closes"));
    let line: RequestLine = serde_json::from_str(r#"{"method":"GET","closes":true}"#).unwrap();
    assert!(line.closes && serde_json::to_string(&line).unwrap().contains(r#""closes":true"#));
}

/// A run with an API server of 1.34 that has shown revision 100 of pods. Each end of a connection takes 1 s.
struct Run {
    observer: Observer,
    at: Timestamp,
    connections: u64,
}

/// A connection, with the decoder of its tap.
struct Wire(ConnectionDecoder);

impl Run {
    fn new() -> Self {
        let mut run = Self { observer: Observer::new(Limits::default()), at: Timestamp::from_nanos(0), connections: 0 };
        let profile = Box::new(ServerProfile::of_version("v1.34.4".parse().unwrap(), Basis::VersionEndpoint));
        run.observe(Subject::Upstream(UpstreamName::default(), UpstreamObservation::Profile { profile }));
        run.list();
        run
    }

    /// Makes a list, on a connection that the client ends.
    fn list(&mut self) {
        let mut wire = self.connect(Protocol::Http1);
        self.asks(&mut wire, "1.1", "");
        self.answers(&mut wire, "", LIST);
        self.ends(&mut wire, Direction::Request);
    }

    fn connect(&mut self, protocol: Protocol) -> Wire {
        self.connections += 1;
        let (connection, upstream) = (ConnectionId(self.connections), UpstreamName::default());
        let opened = Subject::Connection(
            connection,
            ConnectionObservation::Opened {
                upstream,
                protocol: Some(protocol),
                process: None,
                container_name: None,
                attached_late: false,
                logged: None,
            },
        );
        self.observe(opened);
        Wire(ConnectionDecoder::new(connection, Some(protocol), ""))
    }

    fn asks(&mut self, wire: &mut Wire, version: &str, fields: &str) {
        let head = format!("GET /api/v1/pods HTTP/{version}\r\nHost: a\r\n{fields}\r\n");
        self.pass(wire, Direction::Request, head.as_bytes());
    }

    fn answers(&mut self, wire: &mut Wire, fields: &str, body: &str) {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{fields}\r\n", body.len());
        self.pass(wire, Direction::Response, (head + body).as_bytes());
    }

    fn pass(&mut self, wire: &mut Wire, direction: Direction, bytes: &[u8]) {
        let mut emitted = Vec::new();
        wire.0.bytes(self.at, direction, bytes, &mut |one| emitted.push(one));
        for one in emitted {
            self.observer.observe(one, &mut |_event| {});
        }
    }

    fn ends(&mut self, wire: &mut Wire, direction: Direction) {
        self.wait(1);
        let mut emitted = Vec::new();
        wire.0.end(self.at, direction, EndManner::CloseNotify, &mut |one| emitted.push(one));
        for one in emitted {
            self.observer.observe(one, &mut |_event| {});
        }
    }

    fn wait(&mut self, seconds: u64) {
        self.at = self.at.plus(Duration::from_secs(seconds));
    }

    fn observe(&mut self, subject: Subject) {
        self.observer.observe(Observation { at: self.at, subject }, &mut |_event| {});
    }

    /// Whether the verdict on an exact list at revision 100 is `Snapshot`.
    fn keeps_snapshots(mut self) -> bool {
        let mut wire = self.connect(Protocol::Http1);
        let exact = b"GET /api/v1/pods?resourceVersion=100&resourceVersionMatch=Exact HTTP/1.1\r\nHost: a\r\n\r\n";
        self.pass(&mut wire, Direction::Request, exact);
        self.answers(&mut wire, "", LIST);
        self.pass(&mut wire, Direction::Request, b"");
        let mut closed = Vec::new();
        wire.0.close(self.at, Plaintext::default(), &mut |one| closed.push(one));
        for one in closed {
            self.observer.observe(one, &mut |_event| {});
        }
        let snapshot = self.observer.snapshot();
        let exact = snapshot.requests.iter().find(|record| record.shape.options.contains("Exact")).unwrap();
        exact.verdict.as_ref().unwrap().served_from == ServedFrom::Snapshot
    }
}
