//! Tests of the smallest body and of a large one, in both directions.

use std::io::{self, Read, Write};
use std::sync::mpsc::channel;

use observer_tests::{Digest, Hasher, HeldExec, ScriptedUpstream, connect, read_head};
use serde_json::json;

use crate::dialogue::{client, forwarded_unchanged, server};

const GIGABYTE: u64 = 1_000_000_000;
/// A prime, so that TLS records begin at every offset in it. It is less than the socket buffers hold, because both sides send at
/// once.
const PATTERN: usize = 65_521;

#[test]
fn one_byte_bodies_are_forwarded_unchanged() {
    let request = "PUT /api/v1/namespaces/a/configmaps/b HTTP/1.1\r\nHost: kubernetes\r\nContent-Length: 1\r\n\r\nx";
    let report = forwarded_unchanged("http/1.1", vec![client(request), server("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ny")]);
    let requests = report["requests"].as_array().unwrap();
    assert_eq!(requests.iter().map(|request| &request["bytes"]).collect::<Vec<_>>(), [&json!(1)]);
}

/// Both directions at once. The bounded queue drops and counts bytes that the observer does not take in time, so memory does not
/// depend on the size.
#[test]
fn gigabyte_bodies_add_little_memory() {
    const MOST_GROWTH: u64 = 16 << 20;
    let (sender, of_server) = channel();
    let upstream = ScriptedUpstream::start(&[b"http/1.1"], move |stream| {
        read_head(stream)?;
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {GIGABYTE}\r\n\r\n")?;
        sender.send(talk(stream)?).map_err(io::Error::other)
    });
    let upstream = upstream.unwrap();
    let exec = HeldExec::before(upstream.address(), upstream.ca_pem(), "token", &["--server-version", "v1.34.4"]).unwrap();
    let mut stream = connect(exec.address().unwrap(), &exec.ca_pem().unwrap(), &[b"http/1.1"]).unwrap();
    let before = exec.peak_memory().unwrap();

    let head = format!("PUT /api/v1/namespaces/a/configmaps/b HTTP/1.1\r\nHost: kubernetes\r\nContent-Length: {GIGABYTE}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    read_head(&mut stream).unwrap();
    let of_client = talk(&mut stream).unwrap();
    let of_server = of_server.recv().unwrap();
    assert_eq!((&of_server.heard, &of_client.heard), (&of_client.said, &of_server.said));
    assert_eq!([of_server.heard.length, of_client.heard.length], [GIGABYTE; 2]);
    drop(stream);

    let growth = exec.peak_memory().unwrap() - before;
    println!("a gigabyte in each direction adds {growth} bytes to the peak of {before}");
    assert!(growth < MOST_GROWTH, "{growth} bytes more than {before}");
    let report = exec.finish().unwrap();
    assert_eq!(report["requests"][0]["bytes"], GIGABYTE, "what fell out is counted: {:#}", report["requests"]);
}

struct Talk {
    said: Digest,
    heard: Digest,
}

/// Sends and receives a gigabyte, one pattern per turn.
fn talk(stream: &mut (impl Read + Write)) -> io::Result<Talk> {
    let (mut said, mut heard) = (Hasher::new(), Hasher::new());
    let pattern = pattern();
    let mut buffer = vec![0; pattern.len()];
    let mut left = usize::try_from(GIGABYTE).unwrap();
    while left > 0 {
        let length = left.min(pattern.len());
        stream.write_all(&pattern[..length])?;
        said.update(&pattern[..length]);
        stream.read_exact(&mut buffer[..length])?;
        heard.update(&buffer[..length]);
        left -= length;
    }
    stream.flush()?;
    Ok(Talk { said: said.finish(), heard: heard.finish() })
}

fn pattern() -> Vec<u8> {
    // Marsaglia's xorshift64.
    let next = |state: &u64| {
        let state = state ^ state << 13;
        let state = state ^ state >> 7;
        Some(state ^ state << 17)
    };
    std::iter::successors(Some(1), next).flat_map(u64::to_le_bytes).take(PATTERN).collect()
}
