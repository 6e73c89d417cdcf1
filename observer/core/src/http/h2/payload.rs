//! The payload of one frame: fields before its content, the content, the padding (RFC 9113 §6.1, §6.2, §6.6).

use super::frame::{Flag, FrameHeader, FrameType};
use crate::redacted::Redacted;

/// The rest of a frame's payload.
#[derive(Debug)]
pub(super) struct Payload {
    /// Bytes still to come, in total.
    remaining: u32,
    /// How many of them come before the content: pad length, priority, promised stream.
    prefix: u32,
    padding: Padding,
}

/// The length of the padding at the end, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    /// Its length is the next byte.
    Announced,
    /// This many bytes.
    Known(u32),
    /// Its length was lost. Any remaining byte may be padding, and has been reported as missing.
    Lost,
}

/// A part of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Bytes of the content.
    Content(Redacted<&'a [u8]>),
    /// This many bytes of the content were not seen, or may be padding.
    Missing(u32),
}

impl Payload {
    /// The payload that follows `header`.
    pub(super) fn new(header: &FrameHeader) -> Result<Self, &'static str> {
        let padded = header.has(Flag::Padded);
        let priority = if header.has(Flag::Priority) { 5 } else { 0 };
        let promised = if header.frame_type == FrameType::PushPromise { 4 } else { 0 };
        let prefix = u32::from(padded) + priority + promised;
        if prefix > header.length {
            return Err("frame too short for its fields");
        }
        Ok(Self { remaining: header.length, prefix, padding: if padded { Padding::Announced } else { Padding::Known(0) } })
    }

    pub(super) fn is_over(&self) -> bool {
        self.remaining == 0
    }

    /// Whether a gap of `length` bytes ends within this payload.
    pub(super) fn covers(&self, length: u64) -> bool {
        length <= u64::from(self.remaining)
    }

    /// Takes the next bytes of content from the front of `bytes`; `None` when more bytes are needed, or none are left.
    pub(super) fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Option<&'a [u8]>, &'static str> {
        self.pad_length(bytes)?;
        let prefix = self.take(self.prefix, bytes);
        self.prefix = self.prefix.saturating_sub(length_of(prefix));
        if self.prefix > 0 {
            return Ok(None);
        }
        let content = self.take(self.content(), bytes);
        if !content.is_empty() {
            return Ok(Some(content));
        }
        if self.content() == 0 {
            self.take(self.remaining, bytes);
        }
        Ok(None)
    }

    /// Skips `length` bytes that were not seen and are [covered](Self::covers), and returns how many of them are content. If the
    /// padding's length is among them, all remaining bytes count at once, as content and padding cannot be distinguished.
    pub(super) fn skip(&mut self, length: u32) -> u32 {
        let missing = if length > 0 && self.padding == Padding::Announced {
            let doubtful = self.remaining.saturating_sub(self.prefix);
            (self.padding, self.prefix) = (Padding::Lost, 0);
            doubtful
        } else {
            let prefix = self.prefix.min(length);
            let content = self.content().min(length.saturating_sub(prefix));
            self.prefix = self.prefix.saturating_sub(prefix);
            content
        };
        self.remaining = self.remaining.saturating_sub(length);
        missing
    }

    fn pad_length(&mut self, bytes: &mut &[u8]) -> Result<(), &'static str> {
        if self.padding != Padding::Announced {
            return Ok(());
        }
        let Some(length) = self.take(1, bytes).first() else { return Ok(()) };
        self.prefix = self.prefix.saturating_sub(1);
        let length = u32::from(*length);
        if length > self.remaining.saturating_sub(self.prefix) {
            return Err("padding longer than its frame");
        }
        self.padding = Padding::Known(length);
        Ok(())
    }

    /// Bytes of content to come.
    fn content(&self) -> u32 {
        let in_frame = self.remaining.saturating_sub(self.prefix);
        match self.padding {
            Padding::Announced => in_frame,
            Padding::Known(length) => in_frame.saturating_sub(length),
            Padding::Lost => 0,
        }
    }

    fn take<'a>(&mut self, at_most: u32, bytes: &mut &'a [u8]) -> &'a [u8] {
        let length = usize::try_from(at_most).unwrap_or(usize::MAX).min(bytes.len());
        let Some((taken, rest)) = bytes.split_at_checked(length) else { return &[] };
        *bytes = rest;
        self.remaining = self.remaining.saturating_sub(length_of(taken));
        taken
    }
}

/// The length of a part of a payload, which is below 2²⁴.
fn length_of(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}
