//! Bounds on the inflated size of a compressed body, and on its number of facts.
//!
//! Deflate reaches 1:1032, so 61 KB may contain 63 million events. None of them is kept, but each byte takes time, and each fact
//! takes more. The text of Kubernetes objects shrinks to a hundredth at most, and each object has a UID of 16 random bytes. So a
//! body within these bounds has at most as many facts per byte on the wire as one without content coding.
//!
//! Any chunking of the same bytes fails at the same place: the bounds grow by complete steps of compressed bytes, and are applied
//! at complete blocks of inflated bytes.

/// Compressed bytes after which the bounds grow.
const STEP: u64 = 1024;
/// Inflated bytes after which the bounds are applied again.
const BLOCK: u64 = 4096;
/// Bytes that any body may inflate to: 32 objects of 1 MiB, each made of one repeated letter.
const FREE_BYTES: u64 = 32 << 20;
/// Further inflated bytes per compressed byte.
const RATIO: u64 = 256;
/// Facts that any body may contain; beyond them, one per compressed byte.
const FREE_FACTS: u64 = 1024;

/// The amounts of one body so far.
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

    /// Applies the bounds; the error names the bound that the body exceeds.
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
