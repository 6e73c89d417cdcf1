//! Decodes one connection, whether it speaks HTTP/1.1 or HTTP/2.

use std::mem;

use super::detection::{Detection, Finding, HeldPiece};
use super::{Direction, Event, Gap, HeaderFields, Protocol, StreamId, h1, h2};
use crate::redacted::Redacted;

/// The point of a connection at which observing begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the first byte of the connection.
    Beginning,
    /// Somewhere later: no event is emitted until a boundary in the framing is proved.
    Middle,
}

/// Decodes both directions of one connection.
#[derive(Debug)]
pub struct Connection {
    state: State,
}

/// The decoder that is in use.
#[derive(Debug)]
enum State {
    /// None yet: at the beginning of a connection, the client's first bytes decide.
    Detecting(Detection),
    /// Both: in the middle of a connection, the first decoder that proves a boundary wins.
    Racing(Decoder, Decoder),
    Decoding(Decoder),
    Stopped,
}

#[derive(Debug)]
enum Decoder {
    Http1(Box<h1::Decoder>),
    Http2(Box<h2::Decoder>),
}

/// One input from a tap, for one direction.
#[derive(Clone, Copy, Debug)]
enum Piece<'a> {
    Bytes(Redacted<&'a [u8]>),
    Gap(Gap),
    End,
}

impl Connection {
    /// Creates a decoder. `protocol` is the one that ALPN negotiated; with `None`, it is detected from the bytes of the connection.
    ///
    /// At the beginning of a connection, up to 64 KiB are held until the protocol is known. Beyond that, or if a gap comes first,
    /// decoding stops in both directions.
    pub fn new(start: Start, protocol: Option<Protocol>) -> Self {
        let state = match (protocol, start) {
            (Some(protocol), _) => State::Decoding(Decoder::new(protocol, start)),
            (None, Start::Beginning) => State::Detecting(Detection::new()),
            (None, Start::Middle) => State::Racing(Decoder::new(Protocol::Http1, start), Decoder::new(Protocol::Http2, start)),
        };
        Self { state }
    }

    /// The protocol, once it is known.
    pub fn protocol(&self) -> Option<Protocol> {
        match &self.state {
            State::Decoding(Decoder::Http1(_)) => Some(Protocol::Http1),
            State::Decoding(Decoder::Http2(_)) => Some(Protocol::Http2),
            State::Detecting(_) | State::Racing(..) | State::Stopped => None,
        }
    }

    /// How many body bytes `direction` may still send before flow control stops it, on `stream` or, for `None`, on the connection.
    /// Negative after the other side has reduced the window. `None` if it is unknown: on HTTP/1.1, after a start in the middle or a
    /// loss, or for a closed stream.
    pub fn send_window(&self, direction: Direction, stream: Option<StreamId>) -> Option<i64> {
        let stream = stream.map(|stream| u32::try_from(stream.0)).transpose().ok()?;
        match &self.state {
            State::Decoding(Decoder::Http2(decoder)) => decoder.send_window(direction, stream),
            State::Decoding(Decoder::Http1(_)) | State::Detecting(_) | State::Racing(..) | State::Stopped => None,
        }
    }

    /// Decodes the next bytes of one direction.
    pub fn bytes(&mut self, direction: Direction, bytes: &[u8], sink: &mut dyn FnMut(Event<'_>)) {
        if !bytes.is_empty() {
            self.feed(direction, Piece::Bytes(Redacted(bytes)), sink);
        }
    }

    /// Takes HTTP/2 header fields in plaintext; the next bytes of the same direction contain the header blocks that carry them. The
    /// fields matter only if decoding began in the middle; otherwise the blocks themselves are readable.
    pub fn fields(&mut self, direction: Direction, fields: &HeaderFields) {
        match &mut self.state {
            State::Racing(_, Decoder::Http2(decoder)) | State::Decoding(Decoder::Http2(decoder)) => {
                decoder.fields(direction, fields);
            }
            State::Racing(_, Decoder::Http1(_)) | State::Decoding(Decoder::Http1(_)) | State::Detecting(_) | State::Stopped => {}
        }
    }

    /// Notes a gap in one direction.
    pub fn gap(&mut self, direction: Direction, gap: Gap, sink: &mut dyn FnMut(Event<'_>)) {
        if gap.length > 0 {
            self.feed(direction, Piece::Gap(gap), sink);
        }
    }

    /// Notes that one direction has ended (FIN, RST or `close_notify` alike).
    pub fn end(&mut self, direction: Direction, sink: &mut dyn FnMut(Event<'_>)) {
        self.feed(direction, Piece::End, sink);
    }

    fn feed(&mut self, direction: Direction, piece: Piece<'_>, sink: &mut dyn FnMut(Event<'_>)) {
        match &mut self.state {
            State::Detecting(detection) => {
                let finding = match piece {
                    Piece::Bytes(Redacted(bytes)) => detection.bytes(direction, bytes),
                    Piece::Gap(_) => detection.gap(),
                    Piece::End => detection.end(direction),
                };
                self.follow(finding, sink);
            }
            State::Racing(http1, http2) => {
                // HTTP/1.1 is tried first: its proof is a complete head.
                if http1.proves(direction, piece, sink) {
                    take_winner(&mut self.state, |http1, _| http1);
                } else if http2.proves(direction, piece, sink) {
                    take_winner(&mut self.state, |_, http2| http2);
                }
            }
            State::Decoding(decoder) => decoder.feed(direction, piece, sink),
            State::Stopped => {}
        }
    }

    fn follow(&mut self, finding: Finding, sink: &mut dyn FnMut(Event<'_>)) {
        match finding {
            Finding::Undecided => {}
            Finding::Speaks(protocol) => self.replay(protocol, sink),
            Finding::Lost(loss) => {
                self.state = State::Stopped;
                for direction in [Direction::Request, Direction::Response] {
                    sink(Event::DecodingStopped { direction, loss });
                }
            }
        }
    }

    fn replay(&mut self, protocol: Protocol, sink: &mut dyn FnMut(Event<'_>)) {
        let decoding = State::Decoding(Decoder::new(protocol, Start::Beginning));
        let State::Detecting(detection) = mem::replace(&mut self.state, decoding) else { return };
        for (direction, piece) in detection.into_pieces() {
            match piece {
                HeldPiece::Bytes(held) => self.feed(direction, Piece::Bytes(Redacted(held.as_slice())), sink),
                HeldPiece::End => self.feed(direction, Piece::End, sink),
            }
        }
    }
}

impl Decoder {
    fn new(protocol: Protocol, start: Start) -> Self {
        match protocol {
            Protocol::Http1 => Self::Http1(Box::new(h1::Decoder::new(start))),
            Protocol::Http2 => Self::Http2(Box::new(h2::Decoder::new(start))),
        }
    }

    fn feed(&mut self, direction: Direction, piece: Piece<'_>, sink: &mut dyn FnMut(Event<'_>)) {
        match (self, piece) {
            (Self::Http1(decoder), Piece::Bytes(Redacted(bytes))) => decoder.bytes(direction, bytes, sink),
            (Self::Http1(decoder), Piece::Gap(gap)) => decoder.gap(direction, gap, sink),
            (Self::Http1(decoder), Piece::End) => decoder.end(direction, sink),
            (Self::Http2(decoder), Piece::Bytes(Redacted(bytes))) => decoder.bytes(direction, bytes, sink),
            (Self::Http2(decoder), Piece::Gap(gap)) => decoder.gap(direction, gap, sink),
            (Self::Http2(decoder), Piece::End) => decoder.end(direction, sink),
        }
    }

    /// Feeds the decoder, and returns whether its position is now proved. Errors prove nothing and are not passed on, because the
    /// bytes may belong to the other protocol.
    fn proves(&mut self, direction: Direction, piece: Piece<'_>, sink: &mut dyn FnMut(Event<'_>)) -> bool {
        let mut proved = false;
        self.feed(direction, piece, &mut |event| {
            proved |= !matches!(event, Event::Malformed { .. } | Event::DecodingStopped { .. });
            if proved {
                sink(event);
            }
        });
        proved
    }
}

fn take_winner(state: &mut State, choose: impl FnOnce(Decoder, Decoder) -> Decoder) {
    match mem::replace(state, State::Stopped) {
        State::Racing(http1, http2) => *state = State::Decoding(choose(http1, http2)),
        other @ (State::Detecting(_) | State::Decoding(_) | State::Stopped) => *state = other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Connection, Direction, Event, Gap, Protocol, Start};

    const REQUEST: &[u8] = b"GET /version HTTP/1.1\r\nHost: a\r\n\r\n";
    const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    const UP: Direction = Direction::Request;
    const DOWN: Direction = Direction::Response;

    #[test]
    fn protocol_hint_is_used() {
        for protocol in [Protocol::Http1, Protocol::Http2] {
            assert_eq!(Connection::new(Start::Beginning, Some(protocol)).protocol(), Some(protocol));
        }
    }

    #[test]
    fn preface_selects_http2() {
        let (protocol, _) = run(Start::Beginning, &[(DOWN, b"\0\0\0\x04\0\0\0\0\0"), (UP, PREFACE)]);
        assert_eq!(protocol, Some(Protocol::Http2));
    }

    #[test]
    fn exchange_after_a_start_in_the_middle_selects_http1() {
        let (protocol, events) = run(Start::Middle, &[(DOWN, b"rest\r\n"), (UP, REQUEST), (DOWN, RESPONSE)]);
        assert_eq!((protocol, events.len()), (Some(Protocol::Http1), 4));
    }

    #[test]
    fn flood_or_gap_during_detection_stops_decoding_both_directions() {
        let flood = vec![b'x'; 100_000];
        let (protocol, events) = run(Start::Beginning, &[(DOWN, &flood), (UP, REQUEST)]);
        assert_eq!(protocol, None);
        assert_eq!(
            events,
            ["DecodingStopped { direction: Request, loss: Bound }", "DecodingStopped { direction: Response, loss: Bound }"]
        );

        let mut connection = Connection::new(Start::Beginning, None);
        let mut events = Vec::new();
        connection.gap(UP, Gap { stream: None, length: 1 }, &mut |event| events.push(format!("{event:?}")));
        assert_eq!(
            events,
            ["DecodingStopped { direction: Request, loss: Gap }", "DecodingStopped { direction: Response, loss: Gap }"]
        );
    }

    #[test]
    fn debug_hides_held_bytes() {
        let mut connection = Connection::new(Start::Beginning, None);
        connection.bytes(DOWN, b"c4n4ry", &mut |_| ());
        let debug = format!("{connection:?}");
        assert!(debug.contains("HeldBytes(6)") && !debug.contains("c4n4ry"), "{debug}");
    }

    proptest! {
        #[test]
        fn detection_does_not_change_http1_events(at in 0..=REQUEST.len()) {
            let (first, second) = REQUEST.split_at(at);
            let calls = [(UP, first), (UP, second), (DOWN, RESPONSE), (UP, REQUEST), (DOWN, RESPONSE)];
            let mut hinted = Connection::new(Start::Beginning, Some(Protocol::Http1));
            let (protocol, events) = run(Start::Beginning, &calls);
            prop_assert_eq!(protocol, Some(Protocol::Http1));
            prop_assert_eq!(events, feed(&mut hinted, &calls));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(
            calls in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..40)), 0..20),
            middle in any::<bool>(),
        ) {
            let calls: Vec<_> = calls.iter().map(|(up, bytes)| (if *up { UP } else { DOWN }, bytes.as_slice())).collect();
            run(if middle { Start::Middle } else { Start::Beginning }, &calls);
        }
    }

    fn run(start: Start, calls: &[(Direction, &[u8])]) -> (Option<Protocol>, Vec<String>) {
        let mut connection = Connection::new(start, None);
        let events = feed(&mut connection, calls);
        (connection.protocol(), events)
    }

    fn feed(connection: &mut Connection, calls: &[(Direction, &[u8])]) -> Vec<String> {
        let mut events = Vec::new();
        let mut sink = |event: Event<'_>| events.push(format!("{event:?}"));
        for (direction, bytes) in calls {
            connection.bytes(*direction, bytes, &mut sink);
        }
        connection.end(UP, &mut sink);
        connection.end(DOWN, &mut sink);
        events
    }
}
