//! Bounds on the memory of a probe before the queue to the observing thread.

/// Bounds on records and plaintext that a probe keeps before they enter the queue, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeLimits {
    /// The kernel's ring buffer: a power of two, and a multiple of the page size.
    pub ring: u32,
    /// The ring buffer never has less.
    pub least_ring: u32,
    /// Plaintext that waits for the socket of its connection, over all connections.
    pub waiting: u64,
    /// Texts of header fields whose bytes are not sent yet.
    pub fields: usize,
}

impl ProbeLimits {
    /// Reduces the limits so that they take about `memory` bytes at most.
    #[must_use]
    pub fn within(self, memory: usize) -> Self {
        let Self { ring, least_ring, waiting, fields } = self;
        let share = u32::try_from(memory / 4).unwrap_or(u32::MAX);
        let power_of_two = share.checked_ilog2().map_or(0, |power| 1 << power);
        Self {
            ring: ring.min(power_of_two).max(least_ring),
            least_ring,
            waiting: waiting.min(memory as u64 / 2),
            fields: fields.min(memory / 8),
        }
    }

    /// Bytes of all parts, if each of them is full.
    pub(crate) fn bytes(self) -> usize {
        let kept = u64::from(self.ring).saturating_add(self.waiting);
        usize::try_from(kept).unwrap_or(usize::MAX).saturating_add(self.fields)
    }
}

impl Default for ProbeLimits {
    /// The least ring buffer is one page where pages are largest.
    fn default() -> Self {
        Self { ring: 16 << 20, least_ring: 64 << 10, waiting: 32 << 20, fields: 8 << 20 }
    }
}
