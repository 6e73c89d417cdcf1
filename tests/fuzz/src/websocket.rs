//! Invariants of WebSocket frames and of the watch in their messages. Parts and facts do not depend on the chunking. With a gap,
//! some facts may be missing, but none may be added or changed.
//!
//! The first byte of the input selects the encoding of the messages (bits 2 and 3: 1 protobuf, 2 CBOR, otherwise JSON). Frames
//! follow.

use observer_core::http::{Part, WebSocket};
use observer_core::wire::{BodyKind, BodyReader, Fact};

use super::allocation;
use super::facts::{is_lines_of_json, is_subsequence};
use super::{cbor, json, protobuf};

/// Maximum memory of both readers in bytes; they keep only the facts of a message.
const MOST_HELD: u64 = 128 << 10;

/// Reads the frames in one piece, byte by byte, in pieces of 7, and with a gap.
pub fn check(input: &[u8]) {
    let Some((flags, frames)) = input.split_first() else { return };
    let media_type = match flags >> 2 & 3 {
        1 => protobuf::MEDIA_TYPE,
        2 => cbor::MEDIA_TYPE,
        _ => json::MEDIA_TYPE,
    };
    let whole = Reading::of(media_type, &[frames]);
    for chunk in [1, 7] {
        assert_eq!(whole, Reading::of(media_type, &frames.chunks(chunk).collect::<Vec<_>>()), "chunking changed what is read");
    }
    assert!(whole.payload.len() <= frames.len(), "more payload than bytes");
    let held = allocation::peak_during(|| {
        let (mut socket, mut reader) = readers(media_type);
        socket.push(frames, &mut |part| {
            if let Part::Message(bytes) = part {
                reader.push(&bytes, &mut |_| {});
            }
        });
    });
    assert!(held <= MOST_HELD, "{held} bytes are held");
    let is_sound = whole.end.is_none() && !whole.facts.iter().any(|fact| matches!(fact, Fact::Malformed { .. }));
    if is_sound && (media_type != json::MEDIA_TYPE || is_lines_of_json(&whole.payload)) {
        let (before, rest) = frames.split_at(frames.len() / 3);
        let (lost, behind) = rest.split_at(rest.len() / 4);
        let thinned = Reading::with_gap(media_type, before, lost.len() as u64, behind);
        assert!(is_subsequence(&thinned, &whole.facts), "{thinned:?} of {:?}", whole.facts);
    }
}

/// The result of reading frames.
#[derive(Debug, Default, PartialEq, Eq)]
struct Reading {
    facts: Vec<Fact>,
    /// Bytes of messages.
    payload: Vec<u8>,
    /// The Close frame or the error.
    end: Option<String>,
}

impl Reading {
    fn of(media_type: &str, pieces: &[&[u8]]) -> Self {
        let mut reading = Self::default();
        let (mut socket, mut reader) = readers(media_type);
        for piece in pieces {
            socket.push(piece, &mut |part| reading.part(part, &mut reader));
        }
        reader.finish(&mut |fact| reading.facts.push(fact));
        reading
    }

    /// The facts with a gap in the middle, without `Malformed`.
    fn with_gap(media_type: &str, before: &[u8], gap: u64, behind: &[u8]) -> Vec<Fact> {
        let mut reading = Self::default();
        let (mut socket, mut reader) = readers(media_type);
        socket.push(before, &mut |part| reading.part(part, &mut reader));
        socket.gap(gap, &mut |part| reading.part(part, &mut reader));
        socket.push(behind, &mut |part| reading.part(part, &mut reader));
        reading.facts.retain(|fact| !matches!(fact, Fact::Malformed { .. }));
        reading.facts
    }

    fn part(&mut self, part: Part<'_>, reader: &mut BodyReader) {
        match part {
            Part::Message(bytes) => {
                self.payload.extend_from_slice(&bytes);
                reader.push(&bytes, &mut |fact| self.facts.push(fact));
            }
            Part::MessageGap(length) => reader.gap(length),
            Part::MessageEnd => reader.end_message(&mut |fact| self.facts.push(fact)),
            Part::Close(_) | Part::Malformed { .. } => {
                assert_eq!(self.end, None, "something is said after the end: {part:?}");
                self.end = Some(format!("{part:?}"));
            }
        }
    }
}

fn readers(media_type: &str) -> (WebSocket, BodyReader) {
    let reader = BodyReader::new(BodyKind::Messages, media_type, "").expect("these types are read");
    (WebSocket::default(), reader)
}
