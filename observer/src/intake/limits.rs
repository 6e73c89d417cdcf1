//! Bounds on the memory that waits for the observing thread.

/// Bounds on queued events, in bytes.
///
/// Each event counts with its length and a fixed overhead, so many small reads cannot grow the queue unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntakeLimits {
    /// Forwarded bytes of one connection.
    pub connection: usize,
    /// Forwarded bytes of all connections.
    pub total: usize,
    /// HTTP/2 frame headers and control frames of one connection, once the budgets above are used up.
    pub connection_reserve: usize,
    /// The same for all connections. The fixed costs of connections (opening, ends) count here too.
    pub total_reserve: usize,
}

impl Default for IntakeLimits {
    /// One connection may queue as much as a list of 5 MB needs, so a starved observer needs no more memory for a longer list.
    fn default() -> Self {
        Self { connection: 4 << 20, total: 64 << 20, connection_reserve: 1 << 20, total_reserve: 32 << 20 }
    }
}
