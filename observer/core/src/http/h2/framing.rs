//! Splits the bytes of one direction into frames.

use super::super::{Direction, Gap, Start};
use super::frame::{FrameHeader, FrameType, HEADER_LENGTH, PREFACE, PartialHeader};
use super::payload::{Payload, Piece};
use super::search::Search;
use crate::redacted::Redacted;

/// A part of a frame, in the order of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// A frame begins.
    Begin(FrameHeader),
    /// A part of its content: the payload without padding, priority and promised stream.
    Piece(Piece<'a>),
    /// The frame is over.
    End,
    /// The framing is broken, for this reason.
    Malformed(&'static str),
}

/// A gap that is not within the payload of one frame that may lose bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FramingLost;

/// Follows the frames of one direction.
#[derive(Debug)]
pub(super) struct Framing {
    direction: Direction,
    state: State,
    /// Bytes so far, including missing ones.
    offset: u64,
    frame_start: u64,
    /// The frame of the next byte, if that byte is payload.
    current: Option<FrameHeader>,
    /// Whether a header block within the bytes of the current call passed before a boundary was proved.
    has_passed_block: bool,
}

#[derive(Debug)]
enum State {
    /// The next byte is one of the client's preface; this many bytes of it have been read.
    Preface(usize),
    /// No frame boundary is proved yet.
    Searching(Search),
    /// The next byte is one of the first frame's header; that frame must be SETTINGS (RFC 9113 §3.4).
    FirstHeader(PartialHeader),
    /// The next byte is one of a frame header.
    Header(PartialHeader),
    /// The next byte is one of payload.
    Payload(Payload),
}

impl Framing {
    pub(super) fn new(direction: Direction, start: Start) -> Self {
        let state = match (start, direction) {
            (Start::Middle, _) => State::Searching(Search::new(direction)),
            (Start::Beginning, Direction::Request) => State::Preface(0),
            (Start::Beginning, Direction::Response) => State::FirstHeader(PartialHeader::new()),
        };
        Self { direction, state, offset: 0, frame_start: 0, current: None, has_passed_block: false }
    }

    /// Whether frame boundaries are known.
    pub(super) fn in_sync(&self) -> bool {
        match self.state {
            State::Searching(_) => false,
            State::Preface(_) | State::FirstHeader(_) | State::Header(_) | State::Payload(_) => true,
        }
    }

    /// While boundaries are unknown, sets the streams for which a header block is expected in the next bytes.
    pub(super) fn expect(&mut self, streams: Vec<u32>) {
        if let State::Searching(search) = &mut self.state {
            search.expect(streams);
        }
    }

    /// Returns, once, whether a header block within the bytes of the current call passed before a boundary was proved.
    pub(super) const fn take_passed_block(&mut self) -> bool {
        std::mem::replace(&mut self.has_passed_block, false)
    }

    /// Offset of the frame that is, or was last, decoded.
    pub(super) fn frame_start(&self) -> u64 {
        self.frame_start
    }

    /// Takes the next part from the front of `bytes`; `None` when more bytes are needed.
    pub(super) fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<Part<'a>> {
        let before = bytes.len();
        let part = self.part(bytes);
        let taken = before.saturating_sub(bytes.len());
        self.offset = self.offset.saturating_add(u64::try_from(taken).unwrap_or(u64::MAX));
        if let Some(Part::Begin(header)) = part {
            self.frame_start = self.offset.saturating_sub(HEADER_LENGTH as u64);
            return Some(self.begin(header));
        }
        part
    }

    /// Skips a gap; returns the missing part of a frame's content.
    ///
    /// A gap that names a stream must lie in a DATA frame of that stream. Any other gap may lie in the payload of DATA, PING,
    /// PRIORITY and extensions, whose loss affects nothing else. It may also lie in a header block, whose loss the caller passes to
    /// [`super::hpack::Decoder::lose`].
    pub(super) fn skip(&mut self, gap: Gap) -> Result<Option<Piece<'static>>, FramingLost> {
        self.offset = self.offset.saturating_add(gap.length);
        if let State::Searching(search) = &mut self.state {
            search.restart();
            return Ok(None);
        }
        let State::Payload(payload) = &mut self.state else { return Err(FramingLost) };
        let dispensable = self.current.is_some_and(|frame| may_miss(&frame, gap.stream));
        match u32::try_from(gap.length) {
            Ok(length) if dispensable && payload.covers(gap.length) => {
                Ok(Some(payload.skip(length)).filter(|content| *content > 0).map(Piece::Missing))
            }
            Ok(_) | Err(_) => Err(FramingLost),
        }
    }

    fn part<'a>(&mut self, bytes: &mut &'a [u8]) -> Option<Part<'a>> {
        if let State::Preface(matched) = &mut self.state {
            while let Some(expected) = PREFACE.get(*matched) {
                let (first, rest) = bytes.split_first()?;
                *bytes = rest;
                *matched = matched.saturating_add(1);
                if first != expected {
                    return Some(Part::Malformed("no HTTP/2 connection preface"));
                }
            }
            self.state = State::FirstHeader(PartialHeader::new());
        }
        match &mut self.state {
            State::Preface(_) => None,
            State::Searching(search) => search.push(bytes).map(|proved| {
                self.has_passed_block = proved.has_passed_block;
                Part::Begin(proved.header)
            }),
            State::FirstHeader(partial) => FrameHeader::take(partial, bytes).map(|header| match header.frame_type {
                FrameType::Settings => Part::Begin(header),
                FrameType::Data
                | FrameType::Headers
                | FrameType::Priority
                | FrameType::RstStream
                | FrameType::PushPromise
                | FrameType::Ping
                | FrameType::GoAway
                | FrameType::WindowUpdate
                | FrameType::Continuation
                | FrameType::Extension => Part::Malformed("first frame is not SETTINGS"),
            }),
            State::Header(partial) => FrameHeader::take(partial, bytes).map(Part::Begin),
            State::Payload(payload) => match payload.next(bytes) {
                Err(what) => Some(Part::Malformed(what)),
                Ok(Some(content)) => Some(Part::Piece(Piece::Content(Redacted(content)))),
                Ok(None) if payload.is_over() => {
                    self.state = State::Header(PartialHeader::new());
                    self.current = None;
                    Some(Part::End)
                }
                Ok(None) => None,
            },
        }
    }

    fn begin(&mut self, header: FrameHeader) -> Part<'static> {
        if let Some(what) = header.violation(self.direction) {
            return Part::Malformed(what);
        }
        match Payload::new(&header) {
            Err(what) => Part::Malformed(what),
            Ok(payload) => {
                self.state = State::Payload(payload);
                self.current = Some(header);
                Part::Begin(header)
            }
        }
    }
}

fn may_miss(frame: &FrameHeader, stream: Option<u32>) -> bool {
    match frame.frame_type {
        FrameType::Data => stream.is_none_or(|stream| stream == frame.stream),
        FrameType::Headers
        | FrameType::PushPromise
        | FrameType::Continuation
        | FrameType::Priority
        | FrameType::Ping
        | FrameType::Extension => stream.is_none(),
        FrameType::RstStream | FrameType::Settings | FrameType::GoAway | FrameType::WindowUpdate => false,
    }
}
