//! Joins the frames of one direction into messages.

use super::header::{Header, HeaderReader, Opcode};
use super::payload::Payload;
use crate::redacted::Redacted;

/// Reads one direction of a WebSocket, in any chunking and in bounded memory: it holds only a frame's header.
#[derive(Debug, Default)]
pub struct WebSocket {
    state: State,
    /// Whether a message has begun and not ended.
    in_message: bool,
    /// Bytes read or missed.
    position: u64,
}

/// One part of the content of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The next bytes of a message, unmasked; never empty.
    Message(Redacted<&'a [u8]>),
    /// This many bytes of a message were not seen.
    MessageGap(u64),
    /// The message is complete.
    MessageEnd,
    /// A Close frame, with its status code (RFC 6455 §7.4) if it has one. Nothing more is reported about this direction.
    Close(Option<u16>),
    /// The bytes are not readable WebSocket frames. Nothing more is reported about this direction.
    Malformed {
        /// Offset in the direction, from the first byte after the handshake.
        at: u64,
        /// The violation, in words.
        what: &'static str,
    },
}

/// State of the reader.
///
/// ```text
/// Header ──► Data ──► Header
///   │ ├────► Beat ──► Header
///   │ └────► Close ─► Over
///   └ malformed, or a gap that is not all payload ──► Over
/// ```
#[derive(Debug)]
enum State {
    /// In a frame's header, or before it.
    Header(HeaderReader),
    /// In a message's bytes; `is_final` if the end of this frame ends the message.
    Data { payload: Payload, is_final: bool },
    /// In the payload of a ping or a pong.
    Beat(Payload),
    /// In the payload of a Close frame: its code, as far as it was read, and a reason.
    Close { payload: Payload, code: Code },
    /// Nothing more is read.
    Over,
}

/// The first two bytes of a Close frame's payload, as far as they were read.
#[derive(Clone, Copy, Debug, Default)]
struct Code {
    first: Option<u8>,
    second: Option<u8>,
}

impl Default for State {
    fn default() -> Self {
        Self::Header(HeaderReader::default())
    }
}

impl WebSocket {
    /// Reads the next bytes.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Part<'_>)) {
        let mut rest = bytes;
        while !rest.is_empty() && !self.is_over() {
            let before = rest.len();
            rest = self.step(rest, sink);
            self.position = self.position.saturating_add(before.saturating_sub(rest.len()) as u64);
            self.settle(sink);
        }
    }

    /// Notes `length` missing bytes. If they reach beyond a payload, nothing more is reported, as no frame boundary can be found
    /// after them.
    pub fn gap(&mut self, length: u64, sink: &mut dyn FnMut(Part<'_>)) {
        if length == 0 {
            return;
        }
        self.position = self.position.saturating_add(length);
        match &mut self.state {
            State::Data { payload, .. } if payload.covers(length) => {
                payload.skip(length);
                sink(Part::MessageGap(length));
            }
            State::Beat(payload) if payload.covers(length) => payload.skip(length),
            State::Close { .. } => {
                sink(Part::Close(None));
                self.state = State::Over;
            }
            State::Header(_) | State::Data { .. } | State::Beat(_) | State::Over => self.state = State::Over,
        }
        self.settle(sink);
    }

    /// Whether nothing more will be reported.
    pub const fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    fn step<'a>(&mut self, bytes: &'a [u8], sink: &mut dyn FnMut(Part<'_>)) -> &'a [u8] {
        match &mut self.state {
            State::Header(reader) => {
                let Some((byte, rest)) = bytes.split_first() else { return bytes };
                match reader.take(*byte) {
                    Ok(None) => {}
                    Ok(Some(header)) => self.begin(header, sink),
                    Err(what) => self.malformed(what, sink),
                }
                rest
            }
            State::Data { payload, .. } => payload.take(bytes, &mut |piece| sink(Part::Message(Redacted(piece)))),
            State::Beat(payload) => payload.take(bytes, &mut |_| {}),
            State::Close { payload, code } => payload.take(bytes, &mut |piece| piece.iter().for_each(|byte| code.take(*byte))),
            State::Over => &[],
        }
    }

    /// Begins the payload of a frame.
    fn begin(&mut self, header: Header, sink: &mut dyn FnMut(Part<'_>)) {
        let payload = Payload::new(header.length, header.mask);
        match (header.opcode, self.in_message) {
            (Opcode::Continuation, false) => self.malformed("WebSocket message without a beginning", sink),
            (Opcode::Data, true) => self.malformed("WebSocket message within another", sink),
            (Opcode::Continuation | Opcode::Data, _) => {
                self.in_message = true;
                self.state = State::Data { payload, is_final: header.is_final };
            }
            (Opcode::Beat, _) => self.state = State::Beat(payload),
            (Opcode::Close, _) => self.state = State::Close { payload, code: Code::default() },
        }
    }

    /// Continues after a frame that is complete.
    fn settle(&mut self, sink: &mut dyn FnMut(Part<'_>)) {
        match &self.state {
            State::Data { payload, is_final } if payload.is_over() => {
                if *is_final {
                    self.in_message = false;
                    sink(Part::MessageEnd);
                }
                self.state = State::default();
            }
            State::Beat(payload) if payload.is_over() => self.state = State::default(),
            State::Close { payload, code } if payload.is_over() => {
                sink(Part::Close(code.number()));
                self.state = State::Over;
            }
            State::Header(_) | State::Data { .. } | State::Beat(_) | State::Close { .. } | State::Over => {}
        }
    }

    fn malformed(&mut self, what: &'static str, sink: &mut dyn FnMut(Part<'_>)) {
        self.state = State::Over;
        sink(Part::Malformed { at: self.position, what });
    }
}

impl Code {
    const fn take(&mut self, byte: u8) {
        if self.first.is_none() {
            self.first = Some(byte);
        } else if self.second.is_none() {
            self.second = Some(byte);
        }
    }

    fn number(self) -> Option<u16> {
        Some(u16::from_be_bytes([self.first?, self.second?]))
    }
}
