//! Bounds of the tables of reflectors.

/// Bounds for the data kept about reflectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReflectorLimits {
    /// Number of reflectors.
    pub reflectors: usize,
    /// Number of clients.
    pub clients: usize,
    /// Number of open connections of clients.
    pub connections: usize,
    /// Number of object versions over all reflectors, at up to 39 bytes each. Above this bound, a reflector keeps a sample of its
    /// objects, and its counts are estimates. Each reflector may always keep an equal share.
    pub objects: usize,
    /// Number of API servers.
    pub servers: usize,
    /// Number of resources, over all API servers, whose newest revision is kept.
    pub resources: usize,
    /// Estimated bytes of all reflectors together, without their object versions.
    pub memory: usize,
    /// Estimated bytes of all clients together.
    pub clients_memory: usize,
}

/// Bytes of an object version, of a connection, and of a resource.
const VERSION: usize = 39;
const CONNECTION: usize = 256;
const RESOURCE: usize = 20 << 10;

impl ReflectorLimits {
    /// Reduces the limits so that all tables together take about `memory` bytes at most.
    #[must_use]
    pub fn within(self, memory: usize) -> Self {
        Self {
            memory: self.memory.min(memory / 3),
            objects: self.objects.min(memory / 3 / VERSION),
            clients_memory: self.clients_memory.min(memory / 6),
            connections: self.connections.min(memory / 8 / CONNECTION),
            resources: self.resources.min(memory / 16 / RESOURCE),
            ..self
        }
    }

    /// Estimated bytes of all full tables together.
    pub(crate) fn bytes(&self) -> usize {
        let Self { objects, connections, resources, memory, clients_memory, .. } = *self;
        let counted = [(objects, VERSION), (connections, CONNECTION), (resources, RESOURCE)];
        let counted = counted.map(|(number, each)| number.saturating_mul(each));
        counted.into_iter().chain([memory, clients_memory]).fold(0, usize::saturating_add)
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
