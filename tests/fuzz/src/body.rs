//! What must hold for the body reader on any bytes: no panic, and the same facts whatever the chunking.
//!
//! The first byte of the input chooses how the rest is read: bit 0 a watch (else a document), bit 1 gzip, bit 2 protobuf, bit 3 CBOR (else
//! JSON), bit 4 frames of a WebSocket whose messages are a watch (whatever the other bits but 2 and 3 say).

use observer_core::http::{Part, WebSocket};
use observer_core::wire::{BodyKind, BodyReader, Fact};

/// Reads the input at once, byte by byte, and in pieces of 7.
pub(crate) fn check(input: &[u8]) {
    let Some((flags, body)) = input.split_first() else { return };
    let kind = if flags & 1 == 1 { BodyKind::Watch } else { BodyKind::Document };
    let coding = if flags & 2 == 2 { "gzip" } else { "" };
    let media_type = match flags >> 2 & 3 {
        1 => "application/vnd.kubernetes.protobuf",
        2 => "application/cbor",
        _ => "application/json",
    };
    let read = |chunk| {
        if flags & 16 == 16 {
            return format!("{:?}", read_messages(media_type, body, chunk));
        }
        format!("{:?}", read(kind, media_type, coding, body, chunk))
    };
    let whole = read(body.len().max(1));
    for chunk in [1, 7] {
        assert_eq!(whole, read(chunk), "chunking changed the facts");
    }
}

fn read(kind: BodyKind, media_type: &str, coding: &str, body: &[u8], chunk: usize) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut reader = BodyReader::new(kind, media_type, coding).expect("these types and gzip are read");
    for piece in body.chunks(chunk) {
        reader.push(piece, &mut |fact| facts.push(fact));
    }
    reader.finish(&mut |fact| facts.push(fact));
    facts
}

/// The facts of the messages, and at last what is wrong with the frames, if anything is.
fn read_messages(media_type: &str, body: &[u8], chunk: usize) -> (Vec<Fact>, String) {
    let (mut facts, mut wrong) = (Vec::new(), String::new());
    let mut socket = WebSocket::default();
    let mut reader = BodyReader::new(BodyKind::Messages, media_type, "").expect("these types are read");
    for piece in body.chunks(chunk) {
        socket.push(piece, &mut |part| match part {
            Part::Message(bytes) => reader.push(&bytes, &mut |fact| facts.push(fact)),
            Part::MessageGap(length) => reader.gap(length),
            Part::MessageEnd => reader.end_message(&mut |fact| facts.push(fact)),
            Part::Close(_) | Part::Malformed { .. } => wrong = format!("{part:?}"),
        });
    }
    reader.finish(&mut |fact| facts.push(fact));
    (facts, wrong)
}
