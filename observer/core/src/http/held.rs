//! Bytes held until the decoder knows what they are.

use std::{fmt, hint, mem};

/// Minimum capacity of a buffer, in bytes.
const LEAST: usize = 64;

/// Bytes held until the decoder knows what they are; they may contain a credential.
///
/// Therefore `Debug` never shows them, and they are overwritten before their memory is freed, also when the buffer grows. The
/// caller enforces the bound.
#[derive(Default, PartialEq, Eq)]
pub(super) struct HeldBytes(Vec<u8>);

impl HeldBytes {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.make_room(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn push(&mut self, byte: u8) {
        self.make_room(1);
        self.0.push(byte);
    }

    fn make_room(&mut self, bytes: usize) {
        let needed = self.0.len().saturating_add(bytes);
        if needed > self.0.capacity() {
            let mut larger = Vec::with_capacity(needed.max(self.0.capacity().saturating_mul(2)).max(LEAST));
            larger.extend_from_slice(&self.0);
            overwrite(mem::replace(&mut self.0, larger));
        }
    }

    /// Overwrites the bytes and frees their memory.
    pub(super) fn forget(&mut self) {
        overwrite(mem::take(&mut self.0));
    }
}

impl Clone for HeldBytes {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.extend(&self.0);
        copy
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.forget();
    }
}

impl fmt::Debug for HeldBytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "HeldBytes({})", self.0.len())
    }
}

fn overwrite(mut bytes: Vec<u8>) {
    bytes.fill(0);
    // If nothing read the bytes, the compiler could remove the stores.
    hint::black_box(&bytes);
}

#[cfg(test)]
mod tests {
    use super::HeldBytes;

    #[test]
    fn growing_keeps_all_bytes_in_order() {
        let mut held = HeldBytes::default();
        let bytes: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        for piece in bytes.chunks(7) {
            held.extend(piece);
        }
        assert_eq!(held.as_slice(), bytes);
    }

    #[test]
    fn forget_clears_the_bytes_and_debug_shows_only_the_length() {
        let mut held = HeldBytes::default();
        held.extend(b"canary");
        assert_eq!(format!("{held:?}"), "HeldBytes(6)");
        held.forget();
        assert_eq!(held.len(), 0);
    }
}
