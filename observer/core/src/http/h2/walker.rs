//! A walk over the frame headers of one direction, cheap enough for the forwarding path.
//!
//! It reads the 9 bytes of RFC 9113 §4.1, and knows nothing of HPACK or streams. If the decoder lags behind the traffic, a tap
//! drops DATA payload first; the walker finds this payload. It also notices a GOAWAY at once.

use super::frame::{FrameHeader, FrameType, PREFACE, PartialHeader};
use crate::redacted::Redacted;

/// A run of bytes that are all of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span<'a> {
    /// Bytes that the decoder needs to keep the framing and its header table: the connection preface, all frame headers, and the
    /// payload of every frame but DATA.
    Control(Redacted<&'a [u8]>),
    /// Payload of a DATA frame, padding included.
    Data {
        /// Identifier of the frame's stream.
        stream: u32,
        /// The next bytes of the payload; never empty.
        bytes: Redacted<&'a [u8]>,
    },
}

/// Follows the frame boundaries of one direction of an HTTP/2 connection from its first byte.
///
/// If the bytes do not begin as HTTP/2 (wrong preface, or a first frame other than SETTINGS: RFC 9113 §3.4), all of them are
/// [`Span::Control`]: the walker offers no bytes for dropping that it does not understand.
#[derive(Clone, Debug)]
pub struct FrameWalker {
    state: State,
    goaway: bool,
}

/// The position of the next byte in the framing.
///
/// ```text
///  Preface ──► FirstHeader ──► Payload ◄──► Header
///     └──────────────┴────────────────────────┴──────► Lost
/// ```
#[derive(Clone, Debug)]
enum State {
    /// In the client's preface, of which `matched` bytes have come.
    Preface { matched: usize },
    /// In the header of the first frame.
    FirstHeader(PartialHeader),
    /// In the header of a later frame.
    Header(PartialHeader),
    /// In the payload of a frame other than DATA, with `remaining` bytes to come.
    Payload { remaining: usize },
    /// In the payload of a DATA frame, with `remaining` bytes to come.
    DataPayload { stream: u32, remaining: usize },
    /// Anywhere: the bytes are not HTTP/2.
    Lost,
}

impl FrameWalker {
    /// A walker for the client's bytes, which begin with the connection preface.
    pub fn of_requests() -> Self {
        Self { state: State::Preface { matched: 0 }, goaway: false }
    }

    /// A walker for the server's bytes.
    pub fn of_responses() -> Self {
        Self { state: State::FirstHeader(PartialHeader::new()), goaway: false }
    }

    /// Cuts `bytes` into spans, in order and never empty; their lengths add up to `bytes.len()`.
    pub fn walk<'a>(&mut self, bytes: &'a [u8], mut span: impl FnMut(Span<'a>)) {
        // The part of `bytes` that is in no span yet, and the part of it that is not yet examined.
        let (mut open, mut rest) = (bytes, bytes);
        while !rest.is_empty() {
            if let State::DataPayload { stream, remaining } = self.state {
                let control = open.len().saturating_sub(rest.len());
                let data = remaining.min(rest.len());
                let Some((head, tail)) = open.split_at_checked(control) else { return };
                let Some((payload, behind)) = tail.split_at_checked(data) else { return };
                if !head.is_empty() {
                    span(Span::Control(Redacted(head)));
                }
                span(Span::Data { stream, bytes: Redacted(payload) });
                self.state = after_payload(remaining, data, |remaining| State::DataPayload { stream, remaining });
                (open, rest) = (behind, behind);
            } else {
                self.control(&mut rest);
            }
        }
        if !open.is_empty() {
            span(Span::Control(Redacted(open)));
        }
    }

    /// Whether a GOAWAY frame header has passed.
    pub fn saw_goaway(&self) -> bool {
        self.goaway
    }

    /// Whether the bytes so far are HTTP/2, as far as the frame headers show.
    pub fn in_sync(&self) -> bool {
        match self.state {
            State::Preface { .. }
            | State::FirstHeader(_)
            | State::Header(_)
            | State::Payload { .. }
            | State::DataPayload { .. } => true,
            State::Lost => false,
        }
    }

    /// Consumes the bytes of the current state, which is not `DataPayload`.
    fn control(&mut self, rest: &mut &[u8]) {
        match &mut self.state {
            State::Preface { matched } => {
                let expected = PREFACE.get(*matched..).unwrap_or_default();
                let length = expected.len().min(rest.len());
                let come = skip(rest, length);
                *matched = matched.saturating_add(length);
                if !expected.starts_with(come) {
                    self.state = State::Lost;
                } else if length == expected.len() {
                    self.state = State::FirstHeader(PartialHeader::new());
                }
            }
            State::FirstHeader(partial) => {
                if let Some(header) = FrameHeader::take(partial, rest) {
                    let http2 = header.frame_type == FrameType::Settings && header.stream == 0;
                    self.state = if http2 { State::of_payload(header) } else { State::Lost };
                }
            }
            State::Header(partial) => {
                if let Some(header) = FrameHeader::take(partial, rest) {
                    self.goaway |= header.frame_type == FrameType::GoAway;
                    self.state = State::of_payload(header);
                }
            }
            State::Payload { remaining } => {
                let (before, length) = (*remaining, (*remaining).min(rest.len()));
                skip(rest, length);
                self.state = after_payload(before, length, |remaining| State::Payload { remaining });
            }
            State::DataPayload { .. } => {}
            State::Lost => *rest = &[],
        }
    }
}

impl State {
    fn of_payload(header: FrameHeader) -> Self {
        let remaining = usize::try_from(header.length).unwrap_or(usize::MAX);
        match header.frame_type {
            _ if remaining == 0 => Self::Header(PartialHeader::new()),
            FrameType::Data => Self::DataPayload { stream: header.stream, remaining },
            FrameType::Headers
            | FrameType::Priority
            | FrameType::RstStream
            | FrameType::Settings
            | FrameType::PushPromise
            | FrameType::Ping
            | FrameType::GoAway
            | FrameType::WindowUpdate
            | FrameType::Continuation
            | FrameType::Extension => Self::Payload { remaining },
        }
    }
}

fn after_payload(remaining: usize, taken: usize, more: impl FnOnce(usize) -> State) -> State {
    match remaining.saturating_sub(taken) {
        0 => State::Header(PartialHeader::new()),
        remaining => more(remaining),
    }
}

fn skip<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (skipped, rest) = bytes.split_at_checked(length).unwrap_or((bytes, &[]));
    *bytes = rest;
    skipped
}
