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

impl Default for IntakeLimits {
    /// A list of 5 MB already fills the queue of one connection. So a longer list needs no more memory, even if the observing
    /// thread gets no CPU time.
    fn default() -> Self {
        Self { connection: 4 << 20, total: 64 << 20, connection_reserve: 1 << 20, total_reserve: 32 << 20 }
    }
}
