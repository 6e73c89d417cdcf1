//! Bounds of the assembly.

use std::time::Duration;

use crate::intake::ProbeLimits;

/// Bounds on the memory and the waiting times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of connections that are followed or wait for their socket. Further connections are counted, but not followed.
    /// The same maximum applies separately to the unwanted connections that are remembered.
    pub connections: usize,
    /// Maximum number of bytes that wait for the socket of their connection, over all connections. Further bytes are lost, and
    /// counted.
    pub waiting_bytes: u64,
    /// Maximum number of bytes of header fields that wait for the bytes of their block, over all connections. With more, all of them
    /// are given up, and counted.
    pub field_bytes: usize,
    /// How long a connection is kept after its process has given it up or exited, to wait until its socket reports how it ended.
    /// After its socket is closed, it is kept this long after each read, since the process may still read earlier bytes.
    pub linger: Duration,
    /// How long received bytes wait for their header fields, counted from when all earlier records were taken. A process that gets
    /// CPU time decodes them within microseconds.
    pub decoding: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self::within(ProbeLimits::default())
    }
}

impl Limits {
    /// The usual limits, with those of `memory`.
    pub const fn within(memory: ProbeLimits) -> Self {
        Self {
            connections: 16_384,
            waiting_bytes: memory.waiting,
            field_bytes: memory.fields,
            linger: Duration::from_secs(1),
            decoding: Duration::from_millis(200),
        }
    }
}
