//! The memory of watchtap for small inputs that once needed much of it. Measured is the peak minus that of the same run without the
//! input.
//!
//! `docs/bounds.md` has the figures that these tests print.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use observer_tests::{HeldExec, ScriptedUpstream, connect, read_head};
use serde_json::Value;

/// Maximum memory for any input, in bytes.
const MOST: u64 = 32 << 20;

/// Some 60 KB that inflate to 60 MiB of items or events.
struct Bomb {
    name: &'static str,
    path: &'static str,
    media_type: &'static str,
    before: &'static [u8],
    repeated: &'static [u8],
    after: &'static [u8],
}

const LIST: &str = "/api/v1/pods";
const WATCH: &str = "/api/v1/pods?watch=1";
const JSON: &str = "application/json";
const CBOR: &str = "application/cbor";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// An envelope of `v1 PodList` whose stated length exceeds the rest of the body.
const PROTOBUF_LIST: &[u8] = b"k8s\0\n\x0d\n\x02v1\x12\x07PodList\x12\xff\xff\xff\x7f";

const BOMBS: [Bomb; 6] = [
    Bomb { name: "list in JSON", path: LIST, media_type: JSON, before: b"{\"items\":[{}", repeated: b",{} ", after: b"]}" },
    Bomb { name: "watch in JSON", path: WATCH, media_type: JSON, before: b"", repeated: b"{}", after: b"" },
    Bomb { name: "list in CBOR", path: LIST, media_type: CBOR, before: b"\xa1\x65items\x9f", repeated: b"\xa0", after: b"\xff" },
    Bomb { name: "watch in CBOR", path: WATCH, media_type: CBOR, before: b"", repeated: b"\xa0", after: b"" },
    Bomb { name: "list in protobuf", path: LIST, media_type: PROTOBUF, before: PROTOBUF_LIST, repeated: b"\x12\0", after: b"" },
    Bomb {
        name: "watch in protobuf",
        path: WATCH,
        media_type: "application/vnd.kubernetes.protobuf;stream=watch",
        before: b"",
        repeated: b"\0\0\0\x02\n\0",
        after: b"",
    },
];

#[test]
fn bodies_that_inflate_to_many_items_take_little_memory() {
    const MEBIBYTES: usize = 60;
    for bomb in &BOMBS {
        let (without, _) = peak_of(bomb, 0);
        let (with, report) = peak_of(bomb, MEBIBYTES);
        println!("{}: {} KiB more", bomb.name, with.saturating_sub(without) >> 10);
        assert!(with < without + MOST, "{}: {without} bytes become {with}", bomb.name);
        let unread = &report["missed"]["bodies"]["malformed: more items or events than compressed bytes"];
        assert_eq!(unread, 1, "{}: {:#}", bomb.name, report["missed"]);
    }
}

#[test]
fn unfinished_client_hellos_take_little_memory() {
    const CLIENTS: usize = 700;
    /// Maximum number of connections that are not reset; see `tap/proxy/hellos.rs`.
    const LEFT: usize = 100;
    let upstream = upstream_with(&BOMBS[0], 0);
    let exec = HeldExec::before(upstream.address(), upstream.ca_pem(), "token", &[]).unwrap();
    ask(&exec, LIST);
    let before = exec.peak_memory().unwrap();
    let mut clients: Vec<TcpStream> = (0..CLIENTS).map(|_| begins_hello(&exec)).collect();
    ask(&exec, LIST);
    let limit = Instant::now() + Duration::from_secs(30);
    while clients.len() > LEFT && Instant::now() < limit {
        clients.retain(|client| matches!(client.peek(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock));
    }
    let growth = exec.peak_memory().unwrap() - before;
    println!("{CLIENTS} unfinished ClientHellos: {} KiB more", growth >> 10);
    assert!(growth < MOST, "{before} bytes, and {growth} more");
    let report = exec.finish().unwrap();
    let notes = report["notes"].to_string();
    assert!(notes.contains("reset before the TLS ClientHello was complete"), "{notes}");
    assert_eq!(report["totals"]["lists"], 2);
}

/// Runs one list or watch that inflates to this many MiB more; returns the peak in bytes and the report.
fn peak_of(bomb: &Bomb, mebibytes: usize) -> (u64, Value) {
    let upstream = upstream_with(bomb, mebibytes);
    let folder = tempfile::tempdir().unwrap();
    let events = folder.path().join("events.jsonl");
    let flags = ["--events", events.to_str().unwrap()];
    let exec = HeldExec::before(upstream.address(), upstream.ca_pem(), "token", &flags).unwrap();
    ask(&exec, bomb.path);
    while !fs::read_to_string(&events).unwrap().contains("connection-closed") {
        exec.wait_until_idle().unwrap();
    }
    let peak = exec.peak_memory().unwrap();
    (peak, exec.finish().unwrap())
}

fn upstream_with(bomb: &Bomb, mebibytes: usize) -> ScriptedUpstream {
    const MEBI: usize = 1 << 20;
    // Separate members inflate to the same bytes as one (RFC 1952 §2.2).
    let member = gzip(&bomb.repeated.repeat(MEBI / bomb.repeated.len()));
    let body = [gzip(bomb.before), member.repeat(mebibytes), gzip(bomb.after)].concat();
    let (media_type, length) = (bomb.media_type, body.len());
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Encoding: gzip\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let upstream = ScriptedUpstream::start(&[b"http/1.1"], move |stream| {
        let Some(request) = read_head(stream)? else { return Ok(()) };
        if request.contains(LIST) {
            stream.write_all(head.as_bytes())?;
            return stream.write_all(&body);
        }
        let version = r#"{"major":"1","minor":"34","gitVersion":"v1.34.4"}"#;
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{version}", version.len())
    });
    upstream.unwrap()
}

fn ask(exec: &HeldExec, path: &str) {
    let mut stream = connect(exec.address().unwrap(), &exec.ca_pem().unwrap(), &[b"http/1.1"]).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: kubernetes\r\nConnection: close\r\n\r\n").unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
}

/// A client that sends all but the end of the longest accepted `ClientHello`, in four records.
fn begins_hello(exec: &HeldExec) -> TcpStream {
    const RECORD: [u8; 5] = [0x16, 3, 1, 0x3f, 0xf0];
    const LENGTH: usize = 0x3ff0;
    let mut client = TcpStream::connect(exec.address().unwrap()).unwrap();
    for number in 0..4 {
        let mut record = RECORD.to_vec();
        record.extend(if number == 0 { [1, 0, 0xff, 0xf0] } else { [0; 4] });
        record.resize(RECORD.len() + LENGTH, 0);
        let length = if number == 3 { LENGTH / 2 } else { record.len() };
        // watchtap may reset the connection meanwhile.
        if client.write_all(record.get(..length).unwrap_or_default()).is_err() {
            break;
        }
    }
    client.set_nonblocking(true).unwrap();
    client
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
