//! Counts of data that the programs could not record.

/// The counters of the map `LOSSES`, by index; each has one value per processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Loss {
    /// Records without room in the ring buffer.
    NoRoom = 0,
    /// Bytes of these records.
    NoRoomBytes = 1,
    /// Records whose payload could not be read from the memory of the process.
    Unreadable = 2,
    /// Calls for whose arguments there was no room. Their bytes are lost.
    CallNotKept = 3,
    /// Connections without room in the map of connections.
    ConnectionNotKept = 4,
    /// Bytes of a call beyond [`LARGEST_CALL`](crate::LARGEST_CALL).
    BeyondLargestCall = 5,
    /// Events without room in the ring buffer `LIFETIMES`.
    LifetimeNoRoom = 6,
    /// Connections whose socket did not become known in time, or before they were closed. Their recorded bytes are discarded, and
    /// no more are recorded.
    SocketNotKnown = 7,
    /// Times that a connection with a known socket seemed to use another one. The first socket is kept.
    SocketContradicted = 8,
    /// Calls whose entry was not seen: they began before the probes of their file were attached. Their bytes are lost. A thread that
    /// is evicted from the map of threads during a call also counts here.
    EntryNotSeen = 9,
}

impl Loss {
    /// Number of counters.
    pub const COUNT: u32 = 10;
}
