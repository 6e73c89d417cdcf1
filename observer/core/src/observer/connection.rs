//! State that the Observer keeps for each open connection.

use std::sync::Arc;

use crate::http::Protocol;
use crate::observation::{Blockage, ConnectionEnd, Process, UpstreamName};
use crate::routing::ServerProfile;
use crate::time::Timestamp;

/// The facts that concern all exchanges of a connection.
#[derive(Debug, Default)]
pub(super) struct Connection {
    pub(super) upstream: UpstreamName,
    /// The container of its clients, if its listener serves one container of a pod.
    pub(super) container_name: Option<String>,
    /// The client's process, if labels of metrics name its pod or unit.
    pub(super) process: Option<Process>,
    /// Whether the tap has reported it as open.
    pub(super) is_open: bool,
    /// Protocol that ALPN chose; `None` when it is unknown.
    pub(super) protocol: Option<Protocol>,
    /// Blockages that affect all streams: the server cannot send anything on this connection.
    pub(super) blocked: Vec<Blockage>,
    pub(super) first_end: Option<ConnectionEnd>,
    pub(super) source: Source,
    /// Profile of its server, if the version differs from that of other servers at the same address.
    pub(super) profile: Option<Arc<ServerProfile>>,
    /// Whether the client asked the server to close it, or asked for an upgrade, after which it closes.
    pub(super) ends_with_response: bool,
    /// When its latest exchange ended. If no exchange has ended yet, when the connection was opened.
    pub(super) idle_since: Timestamp,
}

/// The source of a connection's requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Source {
    /// A tap has seen the connection from its start.
    #[default]
    Complete,
    /// It was open before a tap saw it.
    AttachedLate,
    /// A log, which has no bodies.
    Log,
}

impl Source {
    pub(super) const fn of(attached_late: bool, is_logged: bool) -> Self {
        match (is_logged, attached_late) {
            (true, _) => Self::Log,
            (false, true) => Self::AttachedLate,
            (false, false) => Self::Complete,
        }
    }
}

impl Connection {
    pub(super) fn opened(upstream: UpstreamName, protocol: Option<Protocol>, at: Timestamp, source: Source) -> Self {
        Self { upstream, protocol, is_open: true, source, idle_since: at, ..Self::default() }
    }
}
