//! The state of the decoder for one direction.

use super::super::{Direction, HeaderFields, Start};
use super::frame::{Flag, FrameHeader, FrameType, HEADER_LENGTH};
use super::framing::Framing;
use super::gather::Gather;
use super::head::Fields;
use super::hpack;
use super::payload::Piece;
use super::recovery::Recovery;
use super::settings::{Change, Settings};
use crate::redacted::Redacted;

/// Maximum length of a header block, in bytes, frame headers included. It is the length of decoded fields that kube-apiserver
/// accepts (Go's net/http, `DefaultMaxHeaderBytes`). Frame headers count, so that CONTINUATION frames without content are bounded
/// too.
const MAX_BLOCK: u64 = 1 << 20;

/// One direction of a connection.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) framing: Framing,
    hpack: hpack::Decoder,
    pub(super) recovery: Recovery,
    block: Option<Block>,
    /// The frame whose payload contains the next byte.
    pub(super) frame: Frame,
    /// Settings that the other side sent for this direction.
    pub(super) settings: Settings,
    pub(super) decoding: SideState,
}

/// Whether a direction is still decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SideState {
    Decoded,
    /// It has ended, or decoding has stopped.
    Over,
}

/// A frame, with the content gathered so far.
#[derive(Debug)]
pub(super) enum Frame {
    /// No frame yet, or one whose content does not matter here.
    Skipped,
    Data {
        stream: u32,
        end_stream: bool,
    },
    /// HEADERS, `PUSH_PROMISE` or CONTINUATION: a fragment of the header block.
    Fragment {
        end_headers: bool,
    },
    Settings {
        record: Gather<6>,
        change: Change,
    },
    SettingsAck,
    RstStream {
        stream: u32,
        code: Gather<4>,
    },
    WindowUpdate {
        stream: u32,
        increment: Gather<4>,
    },
    GoAway(Gather<8>),
}

/// A header block whose end is still to come.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) stream: u32,
    pub(super) opens: Opens,
    pub(super) fields: Fields,
    length: u64,
    lost: bool,
}

/// The frame that opens a header block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opens {
    /// HEADERS: a head or trailers.
    Headers { end_stream: bool },
    /// `PUSH_PROMISE`: a request made by the server, which is not reported.
    Promise,
}

/// Why a direction cannot be decoded any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Malformed(&'static str),
    Bound,
    Gap,
}

impl Side {
    pub(super) fn new(direction: Direction, start: Start) -> Self {
        let hpack = match start {
            Start::Beginning => hpack::Decoder::from_beginning(),
            Start::Middle => hpack::Decoder::from_middle(),
        };
        Self {
            framing: Framing::new(direction, start),
            hpack,
            recovery: Recovery::default(),
            block: None,
            frame: Frame::Skipped,
            settings: Settings::new(),
            decoding: SideState::Decoded,
        }
    }

    /// Frees the decoding state of a direction that is no longer decoded.
    pub(super) fn close(&mut self) {
        self.decoding = SideState::Over;
        self.block = None;
        self.recovery = Recovery::default();
        self.hpack.lose();
    }

    /// Begins a frame.
    pub(super) fn begin(&mut self, header: &FrameHeader) -> Result<(), Stop> {
        let expects_continuation = self.block.as_ref().map(|block| block.stream);
        match (expects_continuation, header.frame_type) {
            (Some(stream), FrameType::Continuation) if stream == header.stream => {}
            (Some(_), _) => return Err(Stop::Malformed("frame within a header block")),
            (None, FrameType::Continuation) => return Err(Stop::Malformed("CONTINUATION without a header block")),
            (None, _) => {}
        }
        self.frame = Frame::of(header);
        match header.frame_type {
            FrameType::Headers => {
                self.block = Some(Block::new(header.stream, Opens::Headers { end_stream: header.has(Flag::EndStream) }));
            }
            FrameType::PushPromise => self.block = Some(Block::new(header.stream, Opens::Promise)),
            FrameType::Data
            | FrameType::Priority
            | FrameType::RstStream
            | FrameType::Settings
            | FrameType::Ping
            | FrameType::GoAway
            | FrameType::WindowUpdate
            | FrameType::Continuation
            | FrameType::Extension => {}
        }
        self.block.as_mut().map_or(Ok(()), |block| block.grow(header.length))
    }

    /// Takes a piece of a header block.
    pub(super) fn fragment(&mut self, piece: Piece<'_>) -> Result<(), Stop> {
        let Some(block) = &mut self.block else { return Ok(()) };
        match piece {
            Piece::Content(_) if block.lost => Ok(()),
            Piece::Content(Redacted(bytes)) => {
                let fields = &mut block.fields;
                self.hpack.fragment(bytes, &mut |line| fields.add(line)).map_err(|error| Stop::Malformed(error.0))
            }
            Piece::Missing(_) => {
                block.lost = true;
                block.fields.note_unknown_name();
                self.hpack.lose();
                Ok(())
            }
        }
    }

    /// Takes the complete header block, with announced fields if they match.
    pub(super) fn take_block(&mut self) -> Result<Option<Block>, Stop> {
        self.hpack.finish().map_err(|error| Stop::Malformed(error.0))?;
        let mut block = self.block.take();
        if let Some(block) = &mut block
            && let Some(fields) = self.recovery.recover(block.stream, block.lost, &mut self.hpack)
        {
            block.fields = Fields::of(&fields);
        }
        Ok(block)
    }

    /// Takes fields announced for later blocks.
    pub(super) fn announce(&mut self, fields: &HeaderFields) {
        self.recovery.announce(fields, &mut self.hpack);
    }

    /// Applies changed settings that bind this direction.
    pub(super) fn follow_settings(&mut self) {
        self.hpack.limit_size(self.settings.table_limit());
    }
}

impl Frame {
    fn of(header: &FrameHeader) -> Self {
        let stream = header.stream;
        match header.frame_type {
            FrameType::Data => Self::Data { stream, end_stream: header.has(Flag::EndStream) },
            FrameType::Headers | FrameType::PushPromise | FrameType::Continuation => {
                Self::Fragment { end_headers: header.has(Flag::EndHeaders) }
            }
            FrameType::Settings if header.has(Flag::Ack) => Self::SettingsAck,
            FrameType::Settings => Self::Settings { record: Gather::new(), change: Change::default() },
            FrameType::RstStream => Self::RstStream { stream, code: Gather::new() },
            FrameType::WindowUpdate => Self::WindowUpdate { stream, increment: Gather::new() },
            FrameType::GoAway => Self::GoAway(Gather::new()),
            FrameType::Priority | FrameType::Ping | FrameType::Extension => Self::Skipped,
        }
    }
}

impl Block {
    fn new(stream: u32, opens: Opens) -> Self {
        Self { stream, opens, fields: Fields::default(), length: 0, lost: false }
    }

    fn grow(&mut self, payload: u32) -> Result<(), Stop> {
        self.length = self.length.saturating_add(u64::from(payload)).saturating_add(HEADER_LENGTH as u64);
        if self.length > MAX_BLOCK { Err(Stop::Bound) } else { Ok(()) }
    }
}
