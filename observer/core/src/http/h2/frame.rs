//! Frame headers (RFC 9113 §4.1), and the rules of each frame type (§6).

use super::super::Direction;
use super::gather::Gather;

/// The client's connection preface (RFC 9113 §3.4).
pub(super) const PREFACE: [u8; 24] = *b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Length of a frame header in bytes.
pub(super) const HEADER_LENGTH: usize = 9;

/// The part of a frame header that has been read so far.
pub(super) type PartialHeader = Gather<HEADER_LENGTH>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameType {
    Data,
    Headers,
    Priority,
    RstStream,
    Settings,
    PushPromise,
    Ping,
    GoAway,
    WindowUpdate,
    Continuation,
    /// A type that RFC 9113 does not define (ALTSVC, ORIGIN, `PRIORITY_UPDATE`, GREASE, …): skipped.
    Extension,
}

/// A flag of a frame; RFC 9113 §6 defines which frame types have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    /// Of SETTINGS and PING.
    Ack,
    /// Of DATA and HEADERS.
    EndStream,
    /// Of HEADERS, `PUSH_PROMISE` and CONTINUATION.
    EndHeaders,
    /// Of DATA, HEADERS and `PUSH_PROMISE`.
    Padded,
    /// Of HEADERS.
    Priority,
}

/// A decoded frame header (RFC 9113 §4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    /// Length of the payload in bytes.
    pub(super) length: u32,
    pub(super) frame_type: FrameType,
    flags: u8,
    /// The stream identifier, without the reserved bit.
    pub(super) stream: u32,
    reserved: bool,
}

impl FrameHeader {
    /// Takes a header from the front of `bytes`, once it is complete.
    pub(super) fn take(partial: &mut PartialHeader, bytes: &mut &[u8]) -> Option<Self> {
        partial.take(bytes).map(Self::read)
    }

    fn read(bytes: [u8; HEADER_LENGTH]) -> Self {
        let [length_high, length_middle, length_low, frame_type, flags, stream @ ..] = bytes;
        let stream = u32::from_be_bytes(stream);
        Self {
            length: u32::from_be_bytes([0, length_high, length_middle, length_low]),
            frame_type: FrameType::read(frame_type),
            flags,
            stream: stream & 0x7fff_ffff,
            reserved: stream >> 31 != 0,
        }
    }

    /// Whether `flag` is set, and defined for this type of frame.
    pub(super) fn has(&self, flag: Flag) -> bool {
        self.flags & self.frame_type.defined_flags() & flag.mask() != 0
    }

    /// The violation for which an endpoint would end the connection (RFC 9113 §6).
    pub(super) fn violation(&self, direction: Direction) -> Option<&'static str> {
        match self.frame_type {
            FrameType::Data | FrameType::Headers | FrameType::Continuation | FrameType::Priority if self.stream == 0 => {
                Some("stream frame on stream 0")
            }
            FrameType::Headers if direction == Direction::Request && self.stream.is_multiple_of(2) => {
                Some("request on an even stream")
            }
            FrameType::RstStream if self.stream == 0 => Some("RST_STREAM on stream 0"),
            FrameType::RstStream if self.length != 4 => Some("RST_STREAM that is not 4 bytes long"),
            FrameType::PushPromise if direction == Direction::Request => Some("PUSH_PROMISE from a client"),
            FrameType::PushPromise if self.stream == 0 => Some("PUSH_PROMISE on stream 0"),
            FrameType::Settings | FrameType::Ping | FrameType::GoAway if self.stream != 0 => Some("connection frame on a stream"),
            FrameType::Settings if self.has(Flag::Ack) && self.length != 0 => Some("SETTINGS acknowledgement with a payload"),
            FrameType::Settings if !self.length.is_multiple_of(6) => Some("SETTINGS whose length is not a multiple of 6 bytes"),
            FrameType::Ping if self.length != 8 => Some("PING that is not 8 bytes long"),
            FrameType::GoAway if self.length < 8 => Some("GOAWAY shorter than 8 bytes"),
            FrameType::WindowUpdate if self.length != 4 => Some("WINDOW_UPDATE that is not 4 bytes long"),
            FrameType::Data
            | FrameType::Headers
            | FrameType::Priority
            | FrameType::RstStream
            | FrameType::Settings
            | FrameType::PushPromise
            | FrameType::Ping
            | FrameType::GoAway
            | FrameType::WindowUpdate
            | FrameType::Continuation
            | FrameType::Extension => None,
        }
    }

    /// Whether nine bytes at an unproved place look like a header: stricter than the standard, see [`super::search`].
    pub(super) fn is_plausible(&self, direction: Direction) -> bool {
        let undefined_flags = self.flags & !self.frame_type.defined_flags();
        !self.reserved && undefined_flags == 0 && self.violation(direction).is_none() && self.has_usual_shape()
    }

    fn has_usual_shape(&self) -> bool {
        let client_stream = !self.stream.is_multiple_of(2);
        match self.frame_type {
            FrameType::Data => client_stream && self.length <= 1 << 20,
            FrameType::Headers => client_stream && self.length <= 1 << 14 && self.has(Flag::EndHeaders),
            FrameType::Priority => client_stream && self.length == 5,
            FrameType::RstStream => client_stream,
            FrameType::Settings => self.length <= 6 * 16,
            FrameType::GoAway => self.length <= 1 << 14,
            FrameType::Ping => true,
            FrameType::WindowUpdate => client_stream || self.stream == 0,
            FrameType::PushPromise | FrameType::Continuation | FrameType::Extension => false,
        }
    }
}

impl FrameType {
    fn read(byte: u8) -> Self {
        match byte {
            0 => Self::Data,
            1 => Self::Headers,
            2 => Self::Priority,
            3 => Self::RstStream,
            4 => Self::Settings,
            5 => Self::PushPromise,
            6 => Self::Ping,
            7 => Self::GoAway,
            8 => Self::WindowUpdate,
            9 => Self::Continuation,
            10.. => Self::Extension,
        }
    }

    fn defined_flags(self) -> u8 {
        let flags: &[Flag] = match self {
            Self::Data => &[Flag::EndStream, Flag::Padded],
            Self::Headers => &[Flag::EndStream, Flag::EndHeaders, Flag::Padded, Flag::Priority],
            Self::Settings | Self::Ping => &[Flag::Ack],
            Self::PushPromise => &[Flag::EndHeaders, Flag::Padded],
            Self::Continuation => &[Flag::EndHeaders],
            Self::Priority | Self::RstStream | Self::GoAway | Self::WindowUpdate | Self::Extension => &[],
        };
        flags.iter().fold(0, |mask, flag| mask | flag.mask())
    }
}

impl Flag {
    const fn mask(self) -> u8 {
        match self {
            Self::Ack | Self::EndStream => 0x1,
            Self::EndHeaders => 0x4,
            Self::Padded => 0x8,
            Self::Priority => 0x20,
        }
    }
}
