//! What the programs could not record.

/// The counters of the map `LOSSES` (one value a processor each), by their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Loss {
    /// Records for which the ring buffer had no room.
    NoRoom = 0,
    /// Bytes of these.
    NoRoomBytes = 1,
    /// Records whose payload could not be read from the memory of the process.
    Unreadable = 2,
    /// Calls whose beginning was not seen, or fell out of the map that keeps it, so that their bytes are known by length at most.
    CallNotKept = 3,
    /// Connections that found no room in the map of connections.
    ConnectionNotKept = 4,
    /// Bytes of calls beyond the largest one that is recorded whole.
    BeyondLargestCall = 5,
    /// Records of the ring buffer `LIFETIMES` for which it had no room.
    LifetimeNoRoom = 6,
    /// Connections whose socket did not become known in time, or before they were given up: what was recorded by then means nothing, and nothing more is.
    SocketNotKnown = 7,
    /// Times that a connection whose socket is known seemed to use another one. The first is kept.
    SocketContradicted = 8,
}

impl Loss {
    /// How many there are.
    pub const COUNT: u32 = 9;
}
