//! What a tap tells about one connection.

use std::net::SocketAddr;

use bytes::Bytes;
use observer_core::http::{Direction, Gap, HeaderFields, Protocol, Start};
use observer_core::observation::{Plaintext, Process};
use observer_core::time::Timestamp;

/// Names one connection within a run; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// What is known of a connection when it opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionInfo {
    /// The client's address.
    pub client: SocketAddr,
    /// The address of ours that the client reached; it tells listeners apart.
    pub listener: SocketAddr,
    /// The API server's address; that of the forward proxy where one stands in between.
    pub upstream: SocketAddr,
    /// Which process of this machine the client is, when that was found out by then.
    pub process: Option<Process>,
    /// What ALPN chose; `None` when nothing was chosen, or something that is not HTTP as we know it.
    pub protocol: Option<Protocol>,
    /// Whether the first bytes that are offered are the first of the connection.
    pub start: Start,
}

/// How one direction of a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndManner {
    /// TLS `close_notify` (RFC 8446 §6.1).
    CloseNotify,
    /// A TCP FIN without `close_notify`.
    Fin,
    /// A TCP RST, or a path that died (keep-alive, unreachable).
    Reset,
    /// Bytes that are not TLS, or a fatal alert (RFC 8446 §6.2).
    BrokenTls,
    /// By the tap itself, which left before the peers did.
    ByTap,
}

/// One thing that happened on a connection; both directions are in one order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TapEvent {
    /// Both handshakes are done. Always first.
    Opened {
        /// When.
        at: Timestamp,
        /// Whose.
        info: ConnectionInfo,
        /// Whether the client's process is looked for still: then [`super::Delivery::Process`] says it, or that it is unknown.
        process_follows: bool,
    },
    /// Plaintext that was forwarded.
    Bytes {
        /// When it was read.
        at: Timestamp,
        /// Which way it went.
        direction: Direction,
        /// The bytes, never empty.
        bytes: Bytes,
    },
    /// Header fields in plaintext that the bytes to come have in their header blocks.
    Fields {
        /// When they were told.
        at: Timestamp,
        /// Which way the bytes go.
        direction: Direction,
        /// The fields.
        fields: HeaderFields,
    },
    /// Plaintext that was forwarded but did not fit here.
    Gap {
        /// When its first byte was read.
        at: Timestamp,
        /// Which way it went.
        direction: Direction,
        /// What is missing.
        gap: Gap,
    },
    /// The client's socket has taken nothing more for a while, or takes it again.
    ClientBlocked {
        /// When.
        at: Timestamp,
        /// Since when; `None` when it takes it again.
        since: Option<Timestamp>,
    },
    /// One direction is over.
    Ended {
        /// When the end was read.
        at: Timestamp,
        /// Which one.
        direction: Direction,
        /// How.
        manner: EndManner,
    },
    /// The tap sees no more of it from here on, though it may go on. [`Self::Closed`] follows.
    OutOfSight {
        /// When.
        at: Timestamp,
    },
    /// Nothing more will come. Always last.
    Closed {
        /// When.
        at: Timestamp,
        /// All that was offered, what fell out of the queue included.
        forwarded: Plaintext,
    },
}
