//! Bounds on the memory of the queue to the observing thread.

/// Bounds on queued events, in bytes.
///
/// Each event counts with its length and a fixed overhead, so many small reads cannot grow the queue unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntakeLimits {
    /// Maximum for forwarded bytes of one connection.
    pub connection: usize,
    /// Maximum for forwarded bytes of all connections.
    pub total: usize,
    /// Maximum for HTTP/2 frame headers and control frames of one connection, once `connection` or `total` is used up.
    pub connection_reserve: usize,
    /// Maximum of this reserve for all connections. The fixed costs of connections (opening, ends) count here too.
    pub total_reserve: usize,
}

impl IntakeLimits {
    /// Reduces the limits so that the queue takes at most `data` bytes for forwarded bytes, and `reserve` bytes for the rest. One
    /// connection gets a quarter of both at most, so a long list leaves room for others.
    #[must_use]
    pub fn within(self, data: usize, reserve: usize) -> Self {
        let Self { connection, total, connection_reserve, total_reserve } = self;
        Self {
            connection: connection.min(data / 4),
            total: total.min(data),
            connection_reserve: connection_reserve.min(reserve / 4),
            total_reserve: total_reserve.min(reserve),
        }
    }

    /// Bytes of the full queue.
    pub(crate) const fn bytes(&self) -> usize {
        self.total.saturating_add(self.total_reserve)
    }
}

impl Default for IntakeLimits {
    /// A list of 5 MB already fills the queue of one connection. So a longer list needs no more memory, even if the observing
    /// thread gets no CPU time.
    fn default() -> Self {
        Self { connection: 4 << 20, total: 64 << 20, connection_reserve: 1 << 20, total_reserve: 32 << 20 }
    }
}
