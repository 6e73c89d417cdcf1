//! How much may wait for the observing thread.

/// Bounds on the memory of what was offered and not yet taken, in bytes.
///
/// Each event counts with its actual length and a fixed overhead, so many small reads cannot grow the queue unseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntakeLimits {
    /// Forwarded bytes of one connection.
    pub connection: usize,
    /// Forwarded bytes of all connections.
    pub total: usize,
    /// HTTP/2 frame headers and control frames of one connection once the budgets above are used up.
    pub connection_reserve: usize,
    /// The same for all connections; what the connections themselves cost (opening, ends) counts here too.
    pub total_reserve: usize,
}

impl Default for IntakeLimits {
    /// One connection may fill no more than what a list of 5 MB fills: so a starved observer needs no more memory for a longer one.
    fn default() -> Self {
        Self { connection: 4 << 20, total: 64 << 20, connection_reserve: 1 << 20, total_reserve: 32 << 20 }
    }
}
