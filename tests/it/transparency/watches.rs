//! Long watches in every encoding.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::watch_events::Encoding;
use crate::dialogue::{Dialogue, client, forwarded_unchanged, server};
use crate::h2_frames::{ACK, DATA, END_HEADERS, END_STREAM, HEADERS, PING, WINDOW_UPDATE, field, frame, get, preface, settings};

const EVENTS: usize = 10_000;
const PATH: &str = "/api/v1/namespaces/a/configmaps?watch=1&resourceVersion=1";

#[test]
fn watch_of_10000_events_in_json() {
    check(Encoding::Json, Compressed::No);
}

#[test]
fn watch_of_10000_events_in_protobuf() {
    check(Encoding::Protobuf, Compressed::No);
}

#[test]
fn watch_of_10000_events_in_cbor() {
    check(Encoding::Cbor, Compressed::No);
}

#[test]
fn watch_of_10000_events_in_gzip() {
    check(Encoding::Json, Compressed::Gzip);
}

/// Each side sends only after it has received all earlier messages. So the client has the head before the first event.
#[test]
fn watch_head_is_forwarded_before_the_first_event() {
    let head = [vec![0x88], field("content-type", "application/json")].concat();
    let over_http2 = vec![
        client(preface()),
        server(settings()),
        client(frame(HEADERS, END_HEADERS | END_STREAM, 1, &get(PATH))),
        server(frame(HEADERS, END_HEADERS, 1, &head)),
        client(frame(PING, 0, 0, b"heard it")),
        server(frame(PING, ACK, 0, b"heard it")),
        server(frame(DATA, END_STREAM, 1, &Encoding::Json.event(1))),
    ];
    assert_eq!(forwarded_unchanged("h2", over_http2)["requests"][0]["watch"]["modified"], 1);
    // Over HTTP/1.1 the client confirms the receipt with its next request.
    let next = format!("GET {PATH} HTTP/1.1\r\nHost: kubernetes\r\n\r\n");
    let mut over_http1 = over_http1(Encoding::Json, Compressed::No, &[Encoding::Json.event(1)]);
    over_http1.insert(2, client(next));
    over_http1.push(server("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"));
    assert_eq!(forwarded_unchanged("http/1.1", over_http1)["requests"][0]["watch"]["modified"], 1);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compressed {
    No,
    /// Each event is a separate member (kube-apiserver 1.37 closes one at each flush).
    Gzip,
}

#[track_caller]
fn check(encoding: Encoding, compressed: Compressed) {
    let events: Vec<Vec<u8>> = (0..EVENTS)
        .map(|number| match compressed {
            Compressed::No => encoding.event(number),
            Compressed::Gzip => gzip(&encoding.event(number)),
        })
        .collect();
    for (protocol, dialogue) in
        [("http/1.1", over_http1(encoding, compressed, &events)), ("h2", over_http2(encoding, compressed, &events))]
    {
        let report = forwarded_unchanged(protocol, dialogue);
        let requests = report["requests"].as_array().unwrap();
        let [watch] = &requests[..] else { panic!("{requests:#?}") };
        assert_eq!(report["missed"]["bytes"], 0, "{:#}", report["missed"]);
        assert_eq!((&watch["verb"], &watch["end"]), (&json!("watch"), &json!("complete")), "{protocol}: {watch:#}");
        assert_eq!(watch["bytes"], events.iter().map(Vec::len).sum::<usize>(), "{protocol}: {watch:#}");
        assert_eq!(watch["watch"]["modified"], EVENTS, "{protocol}: {watch:#}");
        assert_eq!(watch["watch"]["last_resource_version"], format!("1{:05}", EVENTS - 1), "{protocol}: {watch:#}");
    }
}

/// Each event is a chunk.
fn over_http1(encoding: Encoding, compressed: Compressed, events: &[Vec<u8>]) -> Dialogue {
    let mut head = format!("HTTP/1.1 200 OK\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\n", encoding.content_type());
    if compressed == Compressed::Gzip {
        head += "Content-Encoding: gzip\r\n";
    }
    let mut dialogue = vec![client(format!("GET {PATH} HTTP/1.1\r\nHost: kubernetes\r\n\r\n")), server(head + "\r\n")];
    dialogue.extend(
        events.iter().map(|event| server([format!("{:x}\r\n", event.len()).as_bytes(), event.as_slice(), b"\r\n"].concat())),
    );
    dialogue.push(server("0\r\n\r\n"));
    dialogue
}

/// Each event is a DATA frame; after every hundred frames the client extends the window.
fn over_http2(encoding: Encoding, compressed: Compressed, events: &[Vec<u8>]) -> Dialogue {
    let mut head = [vec![0x88], field("content-type", encoding.content_type())].concat();
    if compressed == Compressed::Gzip {
        head.extend(field("content-encoding", "gzip"));
    }
    let mut dialogue = vec![
        client(preface()),
        server(settings()),
        client(frame(HEADERS, END_HEADERS | END_STREAM, 1, &get(PATH))),
        server(frame(HEADERS, END_HEADERS, 1, &head)),
    ];
    for hundred in events.chunks(100) {
        dialogue.extend(hundred.iter().map(|event| server(frame(DATA, 0, 1, event))));
        let seen = u32::try_from(hundred.iter().map(Vec::len).sum::<usize>()).unwrap().to_be_bytes();
        dialogue.push(client([frame(WINDOW_UPDATE, 0, 0, &seen), frame(WINDOW_UPDATE, 0, 1, &seen)].concat()));
    }
    dialogue.push(server(frame(DATA, END_STREAM, 1, &[])));
    dialogue
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
