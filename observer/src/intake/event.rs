//! Events of one connection, as a tap reports them.

use std::net::SocketAddr;

use bytes::Bytes;
use observer_core::http::{Direction, Gap, HeaderFields, Protocol, Start};
use observer_core::observation::{EndManner, Plaintext, Process};
use observer_core::time::Timestamp;

use crate::api_server::UpstreamId;

/// The facts about a connection when it opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionInfo {
    /// The client's address.
    pub client: SocketAddr,
    /// The API server that the connection leads to; `None` if a probe observes the server's end at an address missing from its
    /// options.
    pub upstream: Option<UpstreamId>,
    /// The API server's address, or that of a forward proxy in between.
    pub server: SocketAddr,
    /// The client's process on this machine, if it is already known.
    pub process: Option<Process>,
    /// The container of the client, if the listener serves one container of a pod.
    pub container_name: Option<String>,
    /// The protocol, from ALPN or, for a probe, from the first bytes. `None` if it is unknown, or neither HTTP/1.1 nor HTTP/2.
    pub protocol: Option<Protocol>,
    /// Whether the first bytes offered are the first of the connection.
    pub start: Start,
}

/// One event of a connection. Both directions share one order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TapEvent {
    /// The tap begins to observe the connection. A proxy does so when both of its handshakes are complete. Always the first event.
    Opened {
        /// When the tap began to observe.
        at: Timestamp,
        /// The connection's addresses, process and protocol.
        info: ConnectionInfo,
        /// Whether the client's process is still being looked up; [`super::Delivery::Process`] then delivers the result.
        process_follows: bool,
    },
    /// Forwarded plaintext.
    Bytes {
        /// When it was read.
        at: Timestamp,
        /// Which way the bytes went.
        direction: Direction,
        /// The bytes, never empty.
        bytes: Bytes,
    },
    /// Header fields in plaintext that belong to the header blocks of the next bytes.
    Fields {
        /// When the tap got them.
        at: Timestamp,
        /// Which way the bytes go.
        direction: Direction,
        /// Names and values, in order.
        fields: HeaderFields,
    },
    /// Plaintext that was forwarded, but not queued.
    Gap {
        /// When its first byte was read.
        at: Timestamp,
        /// Which way the bytes went.
        direction: Direction,
        /// The missing bytes: how many, and of which HTTP/2 stream if that is known.
        gap: Gap,
    },
    /// The socket to the client has been full for a second, or has room again.
    ClientBlocked {
        /// When the tap noticed.
        at: Timestamp,
        /// Since when it has been full; `None` if it has room again.
        since: Option<Timestamp>,
    },
    /// One direction has ended.
    Ended {
        /// When the end was read.
        at: Timestamp,
        /// The direction that ended.
        direction: Direction,
        /// How it ended.
        manner: EndManner,
    },
    /// The tap can no longer observe the connection, which may continue. [`Self::Closed`] follows.
    NotObserved {
        /// When the tap stopped observing.
        at: Timestamp,
    },
    /// No more events follow. Always last.
    Closed {
        /// When the tap stopped observing.
        at: Timestamp,
        /// All bytes offered, including those dropped from the queue.
        forwarded: Plaintext,
    },
}
