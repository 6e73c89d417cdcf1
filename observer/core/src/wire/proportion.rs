//! How much a compressed body may inflate to, and how many facts it may hold.
//!
//! Deflate reaches 1:1032, so 61 KB may hold 63 million events. Nothing of that is kept, but each byte takes time, and each fact more. The text of
//! Kubernetes objects shrinks to a hundredth at most, and each object has a UID of 16 random bytes. So a body that stays within these bounds
//! has at most as many facts for each byte on the wire as one without content coding.
//!
//! The same bytes are given up at the same place whatever their chunking: the bounds grow by whole steps of compressed bytes, and are applied at
//! whole blocks of inflated bytes.

/// Compressed bytes by which the bounds grow.
const STEP: u64 = 1024;
/// Inflated bytes after which the bounds are applied again.
const BLOCK: u64 = 4096;
/// Bytes that any body may inflate to: an object of 1 MiB that consists of one letter, many times.
const FREE_BYTES: u64 = 32 << 20;
/// Inflated bytes for each compressed one.
const RATIO: u64 = 256;
/// Facts that any body may hold; beyond them one for each compressed byte.
const FREE_FACTS: u64 = 1024;

/// What has passed of one body.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SoFar {
    pub(super) compressed: u64,
    pub(super) inflated: u64,
    pub(super) facts: u64,
}

impl SoFar {
    /// Compressed bytes until the bounds grow.
    pub(super) fn next_step(&self) -> usize {
        usize::try_from(STEP - self.compressed % STEP).unwrap_or(usize::MAX)
    }

    /// Inflated bytes until the bounds are applied.
    pub(super) fn next_block(&self) -> usize {
        usize::try_from(BLOCK - self.inflated % BLOCK).unwrap_or(usize::MAX)
    }

    /// The error is which bound the body exceeds.
    pub(super) fn judge(&self) -> Result<(), &'static str> {
        if !self.inflated.is_multiple_of(BLOCK) {
            return Ok(());
        }
        let compressed = self.compressed.next_multiple_of(STEP);
        if self.inflated > FREE_BYTES.saturating_add(compressed.saturating_mul(RATIO)) {
            return Err("inflates to more than 256 times its length");
        }
        if self.facts > FREE_FACTS.saturating_add(compressed) {
            return Err("more items or events than compressed bytes");
        }
        Ok(())
    }
}
