//! Tests that watchtap's memory does not grow with the size of a list.

use std::io::{self, BufWriter, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use observer_tests::{Digest, Hasher, HeldExec, ScriptedUpstream, ServerStream, connect, read_head};
use serde_json::{Value, json};

use crate::pods::{HEAD, Pods, TAIL};

const MEGA: usize = 1_000_000;
const SHORT: &str = "/api/v1/namespaces/short/pods";
const LONG: &str = "/api/v1/namespaces/long/pods";
/// Plaintext bytes in flight: the server sends the next step after the client has read, and watchtap has observed, the previous
/// one.
const STEP: usize = 64 << 10;

/// The baseline is the peak after the same number of bytes in short lists, in the same process. So neither the start of the process
/// nor memory that the allocator keeps is in the difference.
#[test]
fn peak_memory_does_not_grow_with_the_list() {
    const SHORT_LISTS: usize = 40;
    const MOST_GROWTH: u64 = 2 << 20;
    /// Bytes kept per object, so that a later delivery can be recognised (`ReflectorLimits::objects`).
    const EACH_OBJECT: u64 = 39;
    let (upstream, sent, permits) = upstream_with_lists();
    let exec = HeldExec::before(upstream.address(), upstream.ca_pem(), "token", &[]).unwrap();
    let (mut expected, mut objects) = (Vec::new(), 0);
    let mut peak_after = |path: &str| {
        let received = read_list(&exec, path, &permits);
        let (plaintext, pods, body) = sent.recv().unwrap();
        assert_eq!(received, plaintext, "{path}");
        objects = pods as u64;
        expected.push(json!(["CacheConsistent", pods, body, "complete", "987654321"]));
        exec.peak_memory().unwrap()
    };
    let before = (0..SHORT_LISTS).map(|_| peak_after(SHORT)).last().unwrap();
    let growth = peak_after(LONG) - before;
    println!("peak resident memory after lists of 5 MB: {before} bytes; a list of 200 MB adds {growth}");

    let report = exec.finish().unwrap();
    assert_eq!(report["missed"]["bytes"], 0, "{:#}", report["missed"]);
    assert_eq!(lists(&report), expected);
    let allowed = MOST_GROWTH + EACH_OBJECT * objects;
    assert!(
        growth < allowed,
        "a list of 200 MB adds {growth} bytes to the peak that lists of 5 MB left, {before} bytes; {objects} objects"
    );
}

/// The report's fields for each list, in order of their end.
fn lists(report: &Value) -> Vec<Value> {
    let lists = report["requests"].as_array().unwrap().iter().filter(|request| request["verb"] == "list");
    let fields =
        |list: &Value| json!([list["verdict"]["served_from"], list["items"], list["bytes"], list["end"], list["resource_version"]]);
    lists.map(fields).collect()
}

/// Hashes and discards the response to one list. Sending and reading wait for watchtap's observer, even on a busy machine.
///
/// The backlog of an Observer that gets no processor time has a separate bound, which does not depend on the length of the list.
fn read_list(exec: &HeldExec, path: &str, permits: &Sender<()>) -> Digest {
    let mut stream = connect(exec.address().unwrap(), &exec.ca_pem().unwrap(), &[b"http/1.1"]).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: kubernetes\r\nConnection: close\r\n\r\n").unwrap();
    let mut hasher = Hasher::new();
    let mut buffer = Vec::with_capacity(STEP);
    while Read::take(&mut stream, STEP as u64).read_to_end(&mut buffer).unwrap() > 0 {
        hasher.update(&buffer);
        exec.wait_until_idle().unwrap();
        if buffer.len() == STEP {
            permits.send(()).unwrap();
        }
        buffer.clear();
    }
    hasher.finish()
}

/// The server's record of each list: digest of the sent bytes, number of pods, length of the body.
type Sent = Receiver<(Digest, usize, u64)>;

/// A server that sends lists in steps; each step except the first needs a permit.
fn upstream_with_lists() -> (ScriptedUpstream, Sent, Sender<()>) {
    let (sender, receiver) = channel();
    let (permits, permitted) = channel();
    let permitted = Mutex::new(permitted);
    let upstream = ScriptedUpstream::start(&[b"http/1.1"], move |stream| {
        let Some(head) = read_head(stream)? else { return Ok(()) };
        let bytes = match head.split(' ').nth(1) {
            Some(SHORT) => 5 * MEGA,
            Some(LONG) => 200 * MEGA,
            _ => return send_version(stream),
        };
        let pods = Pods::new();
        let count = pods.count_of(bytes);
        let permitted = permitted.lock().unwrap_or_else(PoisonError::into_inner);
        let (plaintext, body) = send_list(Stepwise::new(stream, &permitted), &pods, count)?;
        sender.send((plaintext, count, body)).map_err(io::Error::other)
    });
    (upstream.unwrap(), receiver, permits)
}

fn send_version(stream: &mut ServerStream) -> io::Result<()> {
    let body = r#"{"major":"1","minor":"34","gitVersion":"v1.34.4"}"#;
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// Generates the pods one by one, each as its own chunk.
fn send_list(to: Stepwise<'_>, pods: &Pods, count: usize) -> io::Result<(Digest, u64)> {
    const WRITE: usize = 16 << 10;
    let mut out = Hashing { hasher: Hasher::new(), to: BufWriter::with_capacity(WRITE, to) };
    out.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")?;
    let mut body_length = 0;
    let mut chunk = |text: &str| {
        body_length += text.len() as u64;
        write!(out, "{:x}\r\n{text}\r\n", text.len())
    };
    chunk(HEAD)?;
    for number in 0..count {
        let comma = if number == 0 { "" } else { "," };
        chunk(&format!("{comma}{}", pods.pod(number)))?;
    }
    chunk(TAIL)?;
    out.write_all(b"0\r\n\r\n")?;
    out.flush()?;
    Ok((out.hasher.finish(), body_length))
}

/// Writes at most [`STEP`] bytes before the next permit.
struct Stepwise<'s> {
    stream: &'s mut ServerStream,
    permitted: &'s Receiver<()>,
    left: usize,
}

impl<'s> Stepwise<'s> {
    fn new(stream: &'s mut ServerStream, permitted: &'s Receiver<()>) -> Self {
        // The previous list may have ended together with a step.
        while permitted.try_recv().is_ok() {}
        Self { stream, permitted, left: STEP }
    }
}

impl Write for Stepwise<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            self.stream.flush()?;
            self.permitted.recv().map_err(io::Error::other)?;
            self.left = STEP;
        }
        let some = bytes.get(..self.left).unwrap_or(bytes);
        let written = self.stream.write(some)?;
        self.left -= written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Hashes all written bytes.
struct Hashing<W> {
    hasher: Hasher,
    to: W,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = self.to.write(bytes)?;
        self.hasher.update(&bytes[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
