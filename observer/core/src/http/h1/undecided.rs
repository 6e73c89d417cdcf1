//! The client's bytes between a request to switch protocols and the answer to it.

use crate::http::Loss;
use crate::http::held::HeldBytes;

/// Maximum number of bytes that are held.
pub(super) const MAX_UNDECIDED: usize = 64 * 1024;

/// Bytes that are opaque if the server agrees, and the next request if it does not.
///
/// RFC 9110 §7.8 requires clients to wait for the answer, so there are usually no such bytes.
#[derive(Debug)]
pub(super) struct Undecided {
    held: HeldBytes,
    missing: u64,
    loss: Loss,
    ended: bool,
}

impl Undecided {
    pub(super) fn new() -> Self {
        Self { held: HeldBytes::default(), missing: 0, loss: Loss::Bound, ended: false }
    }

    /// Adds bytes; those beyond [`MAX_UNDECIDED`], and all after a gap, are only counted.
    pub(super) fn hold(&mut self, bytes: &[u8]) {
        let room = if self.missing == 0 { MAX_UNDECIDED.saturating_sub(self.held.len()) } else { 0 };
        let (kept, beyond) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.held.extend(kept);
        self.miss(beyond.len() as u64, Loss::Bound);
    }

    /// Adds a gap; the first one sets the reason.
    pub(super) fn miss(&mut self, length: u64, loss: Loss) {
        if self.missing == 0 {
            self.loss = loss;
        }
        self.missing = self.missing.saturating_add(length);
    }

    /// Notes that the direction has ended.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// The held bytes, from the first on.
    pub(super) fn bytes(&self) -> &[u8] {
        self.held.as_slice()
    }

    /// Number of missing bytes after the held ones, and the reason.
    pub(super) fn missing(&self) -> (u64, Loss) {
        (self.missing, self.loss)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Number of all bytes, including missing ones.
    pub(super) fn length(&self) -> u64 {
        self.missing.saturating_add(self.held.len() as u64)
    }
}
