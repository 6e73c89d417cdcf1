//! When many relists are a storm.

use std::time::Duration;

/// When many relists are a storm, and how much of it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StormLimits {
    /// So many different reflectors.
    ///
    /// Ten: a controller of the usual size has fewer, so that its own mishap is a relist or some; a node, a manager of many controllers,
    /// or a laptop with a handful of clients has more.
    pub reflectors: usize,
    /// Within so much time.
    ///
    /// Ten seconds: client-go waits 0.8 to 1.6 s before it lists again, then twice as long and twice again, each time by chance; three attempts lie
    /// within it (client-go tools/cache/reflector.go, `backoffManager`). A storm is over when no other reflector has joined for as long, and less than
    /// half as many as make one have begun to list. It is as long as its members took to join: one that cannot list does not prolong it.
    pub window: Duration,
    /// Members of each storm that are kept one by one; the others are counted.
    pub members: usize,
    /// Bytes that what is kept of members takes, about, in each storm and before it.
    pub memory: usize,
    /// Storms that are over, the latest.
    pub past: usize,
    /// API servers.
    pub servers: usize,
}

impl Default for StormLimits {
    fn default() -> Self {
        Self { reflectors: 10, window: Duration::from_secs(10), members: 4_096, memory: 8 << 20, past: 32, servers: 256 }
    }
}

impl StormLimits {
    /// The same, and tables that take about `memory` bytes at most, all together.
    #[must_use]
    pub fn within(self, memory: usize) -> Self {
        Self { memory: self.memory.min(memory), ..self }
    }
}
