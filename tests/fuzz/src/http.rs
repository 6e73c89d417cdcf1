//! Invariants of a connection's decoder. The events do not depend on the chunking, and memory is bounded. For HTTP/2, without the
//! payload that a full queue may drop, there are still all events except those of bodies.
//!
//! The first byte of the input states whether ALPN named the protocol (0, modulo 3: it did not). A [`Tape`] follows. After its last
//! record both directions end.

use observer_core::http::{Connection, Direction, Event, FrameWalker, Gap, Protocol, Span, Start};

use super::allocation;
use super::event_log::EventLog;
use super::tape::{Record, Tape};

/// Maximum memory of a decoder in bytes for short inputs: a thousand HTTP/1.1 requests without a response, or some thousand open
/// HTTP/2 streams, with their heads.
const MOST_HELD: u64 = 8 << 20;

const DIRECTIONS: [Direction; 2] = [Direction::Request, Direction::Response];

/// Decodes the tape as HTTP/1.1.
pub fn check_http1(input: &[u8]) {
    check(Protocol::Http1, input);
}

/// Decodes the tape as HTTP/2, and walks its frames as the forwarding half does.
pub fn check_http2(input: &[u8]) {
    check(Protocol::Http2, input);
    if let Some((_, tape)) = input.split_first() {
        check_walker(tape);
    }
}

fn check(protocol: Protocol, input: &[u8]) {
    let Some((known, tape)) = input.split_first() else { return };
    let protocol = (known % 3 != 0).then_some(protocol);
    let mut whole = EventLog::default();
    let held = allocation::peak_during(|| play(Start::Beginning, protocol, tape, usize::MAX, &mut |_| {}));
    assert!(held <= MOST_HELD, "{held} bytes are held");
    play(Start::Beginning, protocol, tape, usize::MAX, &mut |event| whole.note(event));
    for chunk in [1, 7] {
        let mut chunked = EventLog::default();
        play(Start::Beginning, protocol, tape, chunk, &mut |event| chunked.note(event));
        assert_eq!(whole, chunked, "chunking changed the events");
    }
    // If decoding starts in the middle of a connection, the detected protocol may depend on the chunking.
    play(Start::Middle, protocol, tape, usize::MAX, &mut |_| {});
}

fn play(start: Start, protocol: Option<Protocol>, tape: &[u8], chunk: usize, told: &mut dyn FnMut(&Event<'_>)) {
    let mut connection = Connection::new(start, protocol);
    for record in Tape(tape) {
        match record {
            Record::Bytes(direction, bytes) => {
                for piece in bytes.chunks(chunk.min(bytes.len().max(1))) {
                    connection.bytes(direction, piece, &mut |event| told(&event));
                }
            }
            Record::Gap(direction, length) => {
                connection.gap(direction, Gap { stream: None, length }, &mut |event| told(&event));
            }
        }
    }
    end(connection, told);
}

fn end(mut connection: Connection, told: &mut dyn FnMut(&Event<'_>)) {
    for direction in DIRECTIONS {
        connection.end(direction, &mut |event| told(&event));
    }
}

/// The walker forwards every byte unchanged, splits it independently of the chunking, and marks only payload as droppable.
fn check_walker(tape: &[u8]) {
    let seen = Tape(tape).all(|record| matches!(record, Record::Bytes(..)));
    if !seen {
        return;
    }
    let (mut whole, mut thinned) = (EventLog::default(), EventLog::default());
    let mut decoders = [0; 2].map(|_| Connection::new(Start::Beginning, Some(Protocol::Http2)));
    let mut walkers = [FrameWalker::of_requests(), FrameWalker::of_responses()];
    let mut by_bytes = walkers.clone();
    for record in Tape(tape) {
        let Record::Bytes(direction, bytes) = record else { continue };
        let [complete, thin] = &mut decoders;
        complete.bytes(direction, bytes, &mut |event| whole.note(&event));
        let way = usize::from(direction == Direction::Response);
        let (mut passed, mut payload) = (Vec::new(), Vec::new());
        walkers[way].walk(bytes, |span| match span {
            Span::Control(control) => {
                passed.extend_from_slice(&control);
                payload.extend(control.iter().map(|_| None));
                thin.bytes(direction, &control, &mut |event| thinned.note(&event));
            }
            Span::Data { stream, bytes } => {
                passed.extend_from_slice(&bytes);
                payload.extend(bytes.iter().map(|_| Some(stream)));
                let gap = Gap { stream: Some(stream), length: bytes.len() as u64 };
                thin.gap(direction, gap, &mut |event| thinned.note(&event));
            }
        });
        assert_eq!(passed, bytes, "the walker changed what passes");
        assert_eq!(payload, one_by_one(&mut by_bytes[way], bytes), "chunking changed what the walker offers");
    }
    let [complete, thin] = decoders;
    end(complete, &mut |event| whole.note(event));
    end(thin, &mut |event| thinned.note(event));
    if whole.is_sound() {
        assert_eq!(whole.without_stretches(), thinned.without_stretches(), "payload said more than a body");
    }
}

/// For each byte, the stream if the byte is payload.
fn one_by_one(walker: &mut FrameWalker, bytes: &[u8]) -> Vec<Option<u32>> {
    let mut payload = Vec::new();
    for byte in bytes.chunks(1) {
        walker.walk(byte, |span| match span {
            Span::Control(_) => payload.push(None),
            Span::Data { stream, .. } => payload.push(Some(stream)),
        });
    }
    payload
}
