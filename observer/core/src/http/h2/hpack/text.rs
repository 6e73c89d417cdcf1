//! The string that is being decoded.

use crate::http::held::HeldBytes;

/// The first bytes of a string, as many as its field needs, and its length.
#[derive(Debug, Default)]
pub(super) struct Text {
    held: HeldBytes,
    limit: usize,
    length: u32,
}

impl Text {
    /// Begins a string, of which at most `limit` bytes are kept, and overwrites the one before.
    pub(super) fn begin(&mut self, limit: usize) {
        self.held.forget();
        self.limit = limit;
        self.length = 0;
    }

    /// Adds decoded bytes.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.held.len()).min(bytes.len());
        if let Some((kept, _rest)) = bytes.split_at_checked(room) {
            self.held.extend(kept);
        }
        self.length = self.length.saturating_add(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    }

    /// Adds one decoded byte.
    pub(super) fn push(&mut self, byte: u8) {
        if self.held.len() < self.limit {
            self.held.push(byte);
        }
        self.length = self.length.saturating_add(1);
    }

    /// The kept bytes of the string.
    pub(super) fn bytes(&self) -> &[u8] {
        self.held.as_slice()
    }

    /// The complete string, if all of it was kept.
    pub(super) fn complete(&self) -> Option<&[u8]> {
        (u32::try_from(self.held.len()) == Ok(self.length)).then(|| self.bytes())
    }

    /// Length of the complete string in bytes.
    pub(super) fn length(&self) -> u32 {
        self.length
    }
}
