//! A fixed number of bytes, gathered over several calls.

use crate::redacted::Redacted;

/// The first of `N` bytes, as far as they have been read.
#[derive(Clone, Debug)]
pub(super) struct Gather<const N: usize> {
    bytes: Redacted<[u8; N]>,
    filled: usize,
}

impl<const N: usize> Gather<N> {
    pub(super) const fn new() -> Self {
        Self { bytes: Redacted([0; N]), filled: 0 }
    }

    /// Takes the needed bytes from the front of `bytes`. Once there are `N` bytes, returns them and starts over.
    pub(super) fn take(&mut self, bytes: &mut &[u8]) -> Option<[u8; N]> {
        if self.filled == 0
            && let Some((whole, rest)) = bytes.split_first_chunk()
        {
            *bytes = rest;
            return Some(*whole);
        }
        let wanted = N.saturating_sub(self.filled).min(bytes.len());
        let (taken, rest) = bytes.split_at_checked(wanted)?;
        for (slot, byte) in self.bytes.0.iter_mut().skip(self.filled).zip(taken) {
            *slot = *byte;
        }
        *bytes = rest;
        self.filled = self.filled.saturating_add(wanted);
        if self.filled < N {
            return None;
        }
        self.filled = 0;
        Some(self.bytes.0)
    }
}
