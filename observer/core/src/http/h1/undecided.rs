//! What a client sends between a request to speak something else and the answer to it.

use crate::http::Loss;
use crate::http::held::HeldBytes;

/// Most bytes that are held, in bytes.
pub(super) const MAX_UNDECIDED: usize = 64 * 1024;

/// Bytes that are opaque if the server agrees, and the next request if it does not.
///
/// Clients wait for the answer as RFC 9110 §7.8 tells them to, so there are none as a rule.
#[derive(Debug)]
pub(super) struct Undecided {
    held: HeldBytes,
    missing: u64,
    loss: Loss,
    ended: bool,
}

impl Undecided {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self { held: HeldBytes::default(), missing: 0, loss: Loss::Bound, ended: false }
    }

    /// Adds bytes; those beyond [`MAX_UNDECIDED`], and all behind a hole, are only counted.
    pub(super) fn hold(&mut self, bytes: &[u8]) {
        let room = if self.missing == 0 { MAX_UNDECIDED.saturating_sub(self.held.len()) } else { 0 };
        let (kept, beyond) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.held.extend(kept);
        self.miss(beyond.len() as u64, Loss::Bound);
    }

    /// Adds a hole.
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

    /// The bytes from the first on, as many as are there.
    pub(super) fn bytes(&self) -> &[u8] {
        self.held.as_slice()
    }

    /// How many bytes are missing behind them, and why.
    pub(super) fn missing(&self) -> (u64, Loss) {
        (self.missing, self.loss)
    }

    /// Whether the direction has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// All bytes, missing ones included.
    pub(super) fn length(&self) -> u64 {
        self.missing.saturating_add(self.held.len() as u64)
    }
}
