//! A silent API server: the client's own PING detects it, as without watchtap.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use observer_tests::{HeldExec, ScriptedUpstream, ServerStream, kubectl, output_within};

/// Time limit that is far longer than kubectl's timeouts in these tests, and far shorter than any of watchtap's.
const LIMIT: Duration = Duration::from_secs(30);
const WATCH: &str = "/api/v1/namespaces/a/configmaps?watch=1";

// From RFC 9113 §3.4, §6 and RFC 7541 appendix A.
const PREFACE: usize = 24;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
const STATUS_200: u8 = 0x88;

/// A watch with a response head and then silence.
#[test]
fn client_ping_reaches_a_silent_upstream_and_times_out_the_watch() {
    let (upstream, heard) = upstream_that_falls_silent();
    let exec = HeldExec::before(upstream.address(), upstream.ca_pem(), "token", &["--server-version", "v1.34.4"]).unwrap();
    let through_watchtap = exec.kubeconfig_by_way_of(exec.address().unwrap(), &exec.ca_pem().unwrap()).unwrap();
    let watched = watch(&through_watchtap);
    let through_watchtap = (watched, heard.recv_timeout(LIMIT).expect("the connection to the silent upstream is ended, too"));
    let directly = exec.kubeconfig_by_way_of(upstream.address(), upstream.ca_pem()).unwrap();
    let watched = watch(&directly);
    let directly = (watched, heard.recv_timeout(LIMIT).unwrap());
    assert_eq!(through_watchtap, directly);
    let ((status, said), heard) = directly;
    assert_eq!(status, Some(1));
    assert!(said.contains("client connection lost"), "{said}");
    assert_eq!(heard, Heard { pings: 1, ended: true });
    let report = exec.finish().unwrap();
    assert_eq!(report["totals"]["watches"], 1, "{:#}", report["totals"]);
}

/// The frames that a silent upstream received after its last answer.
#[derive(Debug, PartialEq, Eq)]
struct Heard {
    pings: usize,
    /// Whether the client ended the connection.
    ended: bool,
}

/// kubectl with short timeouts: it sends a PING after one second of silence, and waits three seconds for the answer.
fn watch(kubeconfig: &Path) -> (Option<i32>, String) {
    let mut command = Command::new(kubectl().expect("these tests need kubectl on the PATH"));
    command.args(["get", "--raw", WATCH]).env("KUBECONFIG", kubeconfig).env("HOME", kubeconfig.parent().unwrap());
    command.env("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1").env("HTTP2_PING_TIMEOUT_SECONDS", "3");
    let Output { status, stderr, .. } = output_within(&mut command, LIMIT).unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

/// Answers the first request with a head, and nothing after the client has read it. For each connection it sends the frames
/// received since.
fn upstream_that_falls_silent() -> (ScriptedUpstream, Receiver<Heard>) {
    let (sender, heard) = channel();
    let upstream = ScriptedUpstream::start(&[b"h2"], move |stream| {
        stream.read_exact(&mut [0; PREFACE])?;
        stream.write_all(&frame(SETTINGS, 0, 0, &[]))?;
        answer_pings_until(stream, |frame| frame.kind == HEADERS)?;
        stream.write_all(&frame(SETTINGS, ACK, 0, &[]))?;
        stream.write_all(&frame(HEADERS, END_HEADERS, 1, &[STATUS_200]))?;
        stream.write_all(&frame(PING, 0, 0, &[0; 8]))?;
        answer_pings_until(stream, |frame| frame.kind == PING && frame.flags == ACK)?;
        let mut pings = 0;
        let end = loop {
            match next_frame(stream) {
                Ok(frame) => pings += usize::from(frame.kind == PING),
                Err(error) => break error,
            }
        };
        let ended = end.kind() == io::ErrorKind::UnexpectedEof;
        sender.send(Heard { pings, ended }).map_err(io::Error::other)
    });
    (upstream.unwrap(), heard)
}

/// If the machine stalls for a second, the client sends PINGs before the silence starts.
fn answer_pings_until(stream: &mut ServerStream, awaited: impl Fn(&Frame) -> bool) -> io::Result<()> {
    loop {
        let next = next_frame(stream)?;
        if awaited(&next) {
            return Ok(());
        }
        if next.kind == PING {
            stream.write_all(&frame(PING, ACK, 0, &next.payload))?;
        }
    }
}

struct Frame {
    kind: u8,
    flags: u8,
    payload: Vec<u8>,
}

fn next_frame(stream: &mut ServerStream) -> io::Result<Frame> {
    let mut head = [0; 9];
    stream.read_exact(&mut head)?;
    let [high, middle, low, kind, flags, ..] = head;
    let length = u32::from_be_bytes([0, high, middle, low]);
    let mut payload = vec![0; usize::try_from(length).unwrap()];
    stream.read_exact(&mut payload)?;
    Ok(Frame { kind, flags, payload })
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}
