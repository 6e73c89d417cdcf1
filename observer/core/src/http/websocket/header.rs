//! The header of a frame (RFC 6455 §5.2).

use crate::redacted::Redacted;

/// Longest header, in bytes: two, the extended length, the masking key.
const MAX_HEADER: usize = 2 + 8 + 4;

/// Maximum length of a control frame's payload, in bytes (RFC 6455 §5.5).
const MAX_CONTROL: u64 = 125;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opcode {
    /// A further part of the message that was begun.
    Continuation,
    /// A message, or its beginning: text or binary.
    Data,
    /// The last frame of its direction.
    Close,
    /// Ping or pong.
    Beat,
}

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The kind of the frame.
    pub(super) opcode: Opcode,
    /// Whether the frame is the last of its message.
    pub(super) is_final: bool,
    /// Length of its payload in bytes.
    pub(super) length: u64,
    /// The key that masks the payload; `None` if it is not masked.
    pub(super) mask: Option<[u8; 4]>,
}

/// A header that is being read; by default, before its first byte.
#[derive(Debug, Default)]
pub(super) struct HeaderReader {
    bytes: Redacted<[u8; MAX_HEADER]>,
    read: usize,
}

impl HeaderReader {
    /// Takes the next byte. Returns the header once it is complete; the error describes an invalid one.
    pub(super) fn take(&mut self, byte: u8) -> Result<Option<Header>, &'static str> {
        if let Some(place) = self.bytes.0.get_mut(self.read) {
            *place = byte;
        }
        self.read = self.read.saturating_add(1);
        let [first, second, rest @ ..] = &self.bytes.0;
        if self.read < 2 {
            return opcode(*first).map(|_opcode| None);
        }
        let (extended, masked) = (extended(*second), second & 0x80 != 0);
        if self.read < 2 + extended + if masked { 4 } else { 0 } {
            return Ok(None);
        }
        let (length, key) = rest.split_at_checked(extended).unwrap_or_default();
        let length = if extended == 0 { u64::from(second & 0x7f) } else { big_endian(length) };
        let mask = key.first_chunk::<4>().copied().filter(|_| masked);
        let header = Header { opcode: opcode(*first)?, is_final: first & 0x80 != 0, length, mask };
        *self = Self::default();
        header.checked().map(Some)
    }
}

impl Header {
    fn checked(self) -> Result<Self, &'static str> {
        let is_control = matches!(self.opcode, Opcode::Close | Opcode::Beat);
        if is_control && !self.is_final {
            Err("fragmented WebSocket control frame")
        } else if is_control && self.length > MAX_CONTROL {
            Err("WebSocket control frame that is too long")
        } else if self.length > u64::MAX >> 1 {
            Err("WebSocket frame with an impossible length")
        } else {
            Ok(self)
        }
    }
}

fn opcode(first: u8) -> Result<Opcode, &'static str> {
    if first & 0x70 != 0 {
        return Err("WebSocket frame of an extension");
    }
    match first & 0x0f {
        0 => Ok(Opcode::Continuation),
        1 | 2 => Ok(Opcode::Data),
        8 => Ok(Opcode::Close),
        9 | 10 => Ok(Opcode::Beat),
        _ => Err("WebSocket frame of an unknown type"),
    }
}

/// How many bytes of length follow the second byte.
const fn extended(second: u8) -> usize {
    match second & 0x7f {
        126 => 2,
        127 => 8,
        _ => 0,
    }
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
