//! The bounds of the tables of reflectors.

/// How much is kept of reflectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReflectorLimits {
    /// Reflectors.
    pub reflectors: usize,
    /// Clients.
    pub clients: usize,
    /// Their open connections.
    pub connections: usize,
    /// Versions of objects, over all reflectors: at up to 39 bytes each. Who comes when they are used up keeps a sample, and its numbers are
    /// estimates; so many as would be its even share it may keep in any case.
    pub objects: usize,
    /// API servers.
    pub servers: usize,
    /// Resources of all of them whose newest revision is kept.
    pub resources: usize,
    /// Bytes that reflectors take together, about, without the versions of their objects.
    pub memory: usize,
    /// Bytes that clients take together, about.
    pub clients_memory: usize,
}

impl ReflectorLimits {
    /// The same, and tables that take about `memory` bytes at most, all together.
    #[must_use]
    pub fn within(self, memory: usize) -> Self {
        /// What a version takes, and a connection.
        const VERSION: usize = 39;
        const CONNECTION: usize = 256;
        Self {
            memory: self.memory.min(memory / 2),
            objects: self.objects.min(memory / 4 / VERSION),
            clients_memory: self.clients_memory.min(memory / 4),
            connections: self.connections.min(memory / 8 / CONNECTION),
            resources: self.resources.min(512),
            ..self
        }
    }
}

impl Default for ReflectorLimits {
    fn default() -> Self {
        Self {
            reflectors: 16_384,
            clients: 16_384,
            connections: 65_536,
            objects: 2_097_152,
            servers: 256,
            resources: 2_048,
            memory: 64 << 20,
            clients_memory: 32 << 20,
        }
    }
}
