//! What must hold for the HTTP decoder on any bytes: no panic, and the same events whatever the chunking.
//!
//! The input is a tape. Its first byte chooses the protocol that ALPN told (0 none, 1 HTTP/1.1, 2 HTTP/2; modulo 3). Then records
//! follow: a kind (0 request bytes, 1 response bytes, 2 request gap, 3 response gap; modulo 4), a length as two little-endian bytes, and for
//! bytes the payload (what is there of it). After the last record both directions end.

use observer_core::http::{Connection, Direction, Event, Gap, Protocol, Start};

/// Decodes the tape as it is, and again byte by byte.
pub(crate) fn check(tape: &[u8]) {
    let Some((protocol, records)) = tape.split_first() else { return };
    let protocol = match protocol % 3 {
        0 => None,
        1 => Some(Protocol::Http1),
        _ => Some(Protocol::Http2),
    };
    for start in [Start::Beginning, Start::Middle] {
        let whole = play(start, protocol, records, usize::MAX);
        if start == Start::Beginning {
            assert_eq!(whole, play(start, protocol, records, 1), "chunking changed the events");
        }
    }
}

/// One line an event; bodies joined, so that only their lengths and places count.
fn play(start: Start, protocol: Option<Protocol>, mut records: &[u8], chunk: usize) -> Vec<String> {
    let mut connection = Connection::new(start, protocol);
    let mut events = Vec::new();
    while let Some((record, rest)) = Record::read(records) {
        records = rest;
        match record {
            Record::Bytes(direction, bytes) => {
                for piece in bytes.chunks(chunk.min(bytes.len().max(1))) {
                    connection.bytes(direction, piece, &mut |event| note(&mut events, &event));
                }
            }
            Record::Gap(direction, length) => {
                connection.gap(direction, Gap { stream: None, length }, &mut |event| note(&mut events, &event));
            }
        }
    }
    for direction in [Direction::Request, Direction::Response] {
        connection.end(direction, &mut |event| note(&mut events, &event));
    }
    events.into_iter().map(Noted::text).collect()
}

enum Record<'t> {
    Bytes(Direction, &'t [u8]),
    Gap(Direction, u64),
}

impl<'t> Record<'t> {
    fn read(records: &'t [u8]) -> Option<(Self, &'t [u8])> {
        let (&[kind, low, high], rest) = records.split_first_chunk::<3>()?;
        let length = usize::from(u16::from_le_bytes([low, high]));
        let direction = if kind % 2 == 0 { Direction::Request } else { Direction::Response };
        if kind % 4 >= 2 {
            return Some((Self::Gap(direction, length as u64), rest));
        }
        let (payload, rest) = rest.split_at(length.min(rest.len()));
        Some((Self::Bytes(direction, payload), rest))
    }
}

enum Noted {
    Body(String, u64),
    Other(String),
}

impl Noted {
    fn text(self) -> String {
        match self {
            Self::Body(which, length) => format!("{which}: {length} bytes"),
            Self::Other(text) => text,
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all events but bodies are noted as they are")]
fn note(events: &mut Vec<Noted>, event: &Event<'_>) {
    let (which, length) = match event {
        Event::Body { stream, direction, bytes } => (format!("body {stream:?} {direction:?}"), bytes.len() as u64),
        Event::Opaque { stream, direction, bytes } => (format!("opaque {stream:?} {direction:?}"), bytes.len() as u64),
        other => return events.push(Noted::Other(format!("{other:?}"))),
    };
    match events.last_mut() {
        Some(Noted::Body(last, sum)) if *last == which => *sum += length,
        _ => events.push(Noted::Body(which, length)),
    }
}
