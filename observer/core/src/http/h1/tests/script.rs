//! Runs a script of calls and records the decoder's events.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use expect_test::Expect;
use proptest::prelude::*;

use crate::http::h1::Decoder;
use crate::http::{Direction, Event, Field, Gap, HeaderName, Headers, RequestHead, Start, StreamId};

/// One call of the decoder.
#[derive(Clone, Debug)]
pub(super) enum Call {
    /// Bytes of a direction.
    Bytes(Direction, Vec<u8>),
    /// A gap of this many bytes.
    Gap(Direction, u64),
    /// The end of a direction.
    End(Direction),
}

/// Bytes from the client.
pub(super) fn client(bytes: impl Into<Vec<u8>>) -> Call {
    Call::Bytes(Direction::Request, bytes.into())
}

/// Bytes from the server.
pub(super) fn server(bytes: impl Into<Vec<u8>>) -> Call {
    Call::Bytes(Direction::Response, bytes.into())
}

/// A gap in the client's bytes.
pub(super) fn client_gap(length: u64) -> Call {
    Call::Gap(Direction::Request, length)
}

/// A gap in the server's bytes.
pub(super) fn server_gap(length: u64) -> Call {
    Call::Gap(Direction::Response, length)
}

/// The end of the client's direction.
pub(super) fn client_end() -> Call {
    Call::End(Direction::Request)
}

/// The end of the server's direction.
pub(super) fn server_end() -> Call {
    Call::End(Direction::Response)
}

/// Checks that the script, from the first byte of a connection, gives `expected`, and that any chunking of its bytes does too.
#[track_caller]
pub(super) fn check(calls: &[Call], expected: &Expect) {
    check_from(Start::Beginning, calls, expected);
}

/// Checks that the script, from `start`, gives `expected`, and that any chunking of its bytes does too.
#[track_caller]
pub(super) fn check_from(start: Start, calls: &[Call], expected: &Expect) {
    let whole = run(start, calls);
    expected.assert_eq(&whole.text());
    assert_eq!(run(start, &split(calls, &[1])).text(), whole.text(), "byte by byte");
    proptest!(ProptestConfig::with_cases(48), |(sizes in split_sizes())| {
        prop_assert_eq!(run(start, &split(calls, &sizes)).text(), whole.text());
    });
}

/// Lengths of the pieces to cut bytes into.
pub(super) fn split_sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![1..4_usize, 1..80_usize], 1..24)
}

/// The same calls, with the bytes cut into pieces of `sizes`, repeatedly.
pub(super) fn split(calls: &[Call], sizes: &[usize]) -> Vec<Call> {
    let mut sizes = sizes.iter().copied().cycle();
    let mut pieces = Vec::new();
    for call in calls {
        let Call::Bytes(direction, bytes) = call else {
            pieces.push(call.clone());
            continue;
        };
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(sizes.next().unwrap_or(1).min(rest.len()));
            pieces.push(Call::Bytes(*direction, piece.to_vec()));
            rest = after;
        }
    }
    pieces
}

/// All events of a run.
#[derive(Debug)]
pub(super) struct Log {
    /// The events in order, with adjacent slices joined.
    pub(super) said: Vec<Emitted>,
    /// Maximum number of bytes held at once.
    pub(super) most_held: usize,
    /// Maximum number of requests that waited at once.
    pub(super) most_unanswered: usize,
    /// `Debug` of the events and of the decoder after each call.
    pub(super) debug: String,
}

/// An event without a lifetime; bodies keep their bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Emitted {
    /// A slice of a body.
    Body(StreamId, Direction, Vec<u8>),
    /// A slice of an upgraded exchange.
    Opaque(StreamId, Direction, Vec<u8>),
    /// Any other event, as a line.
    Line(String),
}

impl Log {
    /// One line per event.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for said in &self.said {
            let line = match said {
                Emitted::Body(stream, direction, bytes) => {
                    format!("#{} {} body {:?}", stream.0, arrow(*direction), String::from_utf8_lossy(bytes))
                }
                Emitted::Opaque(stream, direction, bytes) => format!("#{} {} opaque {}", stream.0, arrow(*direction), bytes.len()),
                Emitted::Line(line) => line.clone(),
            };
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    fn note(&mut self, event: &Event<'_>) {
        match event {
            Event::Body { stream, direction, bytes } => {
                assert!(!bytes.is_empty(), "an empty body slice");
                if let Some(Emitted::Body(last_stream, last_direction, joined)) = self.said.last_mut()
                    && (*last_stream, *last_direction) == (*stream, *direction)
                {
                    joined.extend_from_slice(bytes);
                } else {
                    self.said.push(Emitted::Body(*stream, *direction, bytes.to_vec()));
                }
            }
            Event::Opaque { stream, direction, bytes } => {
                assert!(!bytes.is_empty(), "an empty opaque slice");
                if let Some(Emitted::Opaque(last_stream, last_direction, joined)) = self.said.last_mut()
                    && (*last_stream, *last_direction) == (*stream, *direction)
                {
                    joined.extend_from_slice(bytes);
                } else {
                    self.said.push(Emitted::Opaque(*stream, *direction, bytes.to_vec()));
                }
            }
            Event::Request { .. }
            | Event::Informational { .. }
            | Event::Response { .. }
            | Event::BodyGap { .. }
            | Event::OpaqueGap { .. }
            | Event::MessageEnd { .. }
            | Event::MessageCut { .. }
            | Event::Reset { .. }
            | Event::Window { .. }
            | Event::Upgraded { .. }
            | Event::GoAway { .. }
            | Event::Malformed { .. }
            | Event::DecodingStopped { .. } => self.said.push(Emitted::Line(line(event))),
        }
    }
}

/// Runs the calls, and checks the rules of every connection on the way.
#[track_caller]
pub(super) fn run(start: Start, calls: &[Call]) -> Log {
    let mut decoder = Decoder::new(start);
    let mut log = Log { said: Vec::new(), most_held: 0, most_unanswered: 0, debug: String::new() };
    let mut rules = Rules::default();
    for call in calls {
        let mut sink = |event: Event<'_>| {
            rules.check(&event);
            write!(log.debug, "{event:?}").unwrap();
            log.note(&event);
        };
        match call {
            Call::Bytes(direction, bytes) => decoder.bytes(*direction, bytes, &mut sink),
            Call::Gap(direction, length) => decoder.gap(*direction, Gap { stream: None, length: *length }, &mut sink),
            Call::End(direction) => decoder.end(*direction, &mut sink),
        }
        log.most_held = log.most_held.max(decoder.held());
        log.most_unanswered = log.most_unanswered.max(decoder.unanswered());
        if calls.len() < 200 {
            write!(log.debug, "{decoder:?}").unwrap();
        }
    }
    log
}

/// Rules for every sequence of events.
#[derive(Default)]
struct Rules {
    streams: u64,
    answered: BTreeSet<StreamId>,
    over: BTreeSet<(Direction, StreamId)>,
    stopped: BTreeSet<Direction>,
    malformed_at: [u64; 2],
}

impl Rules {
    #[track_caller]
    fn check(&mut self, event: &Event<'_>) {
        match event {
            Event::Request { stream, .. } => {
                self.streams += 1;
                assert_eq!(stream.0, self.streams, "requests are numbered from 1");
                self.is_open(*stream, Direction::Request);
            }
            Event::Informational { stream, .. } | Event::Upgraded { stream, .. } => self.is_open(*stream, Direction::Response),
            Event::Response { stream, .. } => {
                self.is_open(*stream, Direction::Response);
                assert!(self.answered.insert(*stream), "{stream:?} has two responses");
            }
            Event::Body { stream, direction, .. } | Event::BodyGap { stream, direction, .. } => self.is_open(*stream, *direction),
            Event::MessageEnd { stream, direction } | Event::MessageCut { stream, direction } => {
                self.is_open(*stream, *direction);
                self.over.insert((*direction, *stream));
            }
            Event::Opaque { stream, direction, .. } | Event::OpaqueGap { stream, direction, .. } => {
                assert!(stream.0 <= self.streams && !self.stopped.contains(direction));
            }
            Event::Malformed { direction, at, .. } => {
                let last = &mut self.malformed_at[*direction as usize];
                assert!(*at >= *last, "offsets go backwards");
                *last = *at;
                assert!(!self.stopped.contains(direction));
            }
            Event::DecodingStopped { direction, .. } => assert!(self.stopped.insert(*direction), "{direction:?} stopped twice"),
            Event::Reset { .. } | Event::Window { .. } | Event::GoAway { .. } => panic!("{event:?} on HTTP/1.1"),
        }
    }

    #[track_caller]
    fn is_open(&self, stream: StreamId, direction: Direction) {
        assert!(stream.0 <= self.streams, "{stream:?} was never asked");
        assert!(!self.over.contains(&(direction, stream)), "{stream:?} is over");
        assert!(!self.stopped.contains(&direction), "{direction:?} is stopped");
    }
}

fn line(event: &Event<'_>) -> String {
    match event {
        Event::Request { stream, head } => format!("#{} > {}", stream.0, request(head)),
        Event::Informational { stream, status } => format!("#{} < {status}", stream.0),
        Event::Response { stream, head } => {
            format!("#{} < {}{}", stream.0, head.status.as_ref().known().unwrap(), fields(&head.headers))
        }
        Event::BodyGap { stream, direction, length } => format!("#{} {} gap {length}", stream.0, arrow(*direction)),
        Event::OpaqueGap { stream, direction, length } => format!("#{} {} opaque gap {length}", stream.0, arrow(*direction)),
        Event::MessageEnd { stream, direction } => format!("#{} {} end", stream.0, arrow(*direction)),
        Event::MessageCut { stream, direction } => format!("#{} {} cut", stream.0, arrow(*direction)),
        Event::Upgraded { stream, protocol } => format!("#{} upgraded {protocol:?}", stream.0),
        Event::Malformed { direction, at, what } => format!("{} malformed at {at}: {what}", arrow(*direction)),
        Event::DecodingStopped { direction, loss } => format!("{} stopped: {loss:?}", arrow(*direction)),
        Event::Body { .. } | Event::Opaque { .. } | Event::Reset { .. } | Event::Window { .. } | Event::GoAway { .. } => {
            format!("{event:?}")
        }
    }
}

fn request(head: &RequestHead) -> String {
    let target = head.target.as_ref().known().unwrap();
    let mut text = format!("{} {}", head.method.as_ref().known().unwrap(), target.path);
    if !target.query.is_empty() {
        write!(text, "?{}", target.query).unwrap();
    }
    if head.identity != Field::Absent {
        write!(text, " as {:?}", head.identity).unwrap();
    }
    text + &fields(&head.headers)
}

fn fields(headers: &Headers) -> String {
    [HeaderName::UserAgent, HeaderName::AuditId, HeaderName::ContentType, HeaderName::RetryAfter]
        .into_iter()
        .filter_map(|name| Some(format!(" {}={}", name.as_str(), headers.get(name).known()?)))
        .collect()
}

fn arrow(direction: Direction) -> char {
    match direction {
        Direction::Request => '>',
        Direction::Response => '<',
    }
}
