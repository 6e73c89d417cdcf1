//! What a tap tells about itself and its upstream, outside of any connection.

use std::net::SocketAddr;

use observer_core::routing::ServerProfile;
use observer_core::time::Timestamp;

/// One thing that happened to a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The listener opened or closed, as upstream does.
    Listener {
        /// When.
        at: Timestamp,
        /// Whose.
        listener: SocketAddr,
        /// What it is from now on.
        state: ListenerState,
    },
    /// Clients were reset that a direct connection would have found refused.
    ResetInsteadOfRefused {
        /// When.
        at: Timestamp,
        /// On which listener.
        listener: SocketAddr,
        /// How many.
        clients: u64,
    },
    /// What was learned of the API server behind a listener.
    Profile {
        /// When.
        at: Timestamp,
        /// Which listener's.
        listener: SocketAddr,
        /// All that is known of it now.
        profile: Box<ServerProfile>,
    },
    /// No connection to the API server came about for a client; the client's was reset.
    UpstreamFailed {
        /// When.
        at: Timestamp,
        /// For which listener.
        listener: SocketAddr,
        /// Why.
        error: UpstreamError,
    },
}

/// Whether clients can connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListenerState {
    /// Connections are accepted.
    Listening,
    /// Upstream refuses, so do we: the port is held, and connections are refused.
    Held,
}

/// Why the API server could not be reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// TCP RST in answer to SYN.
    #[error("{endpoint} refuses connections; is the API server running?")]
    Refused {
        /// `host:port`.
        endpoint: String,
    },
    /// The name has no address.
    #[error("cannot resolve {endpoint}: {detail}; check `server` of the kubeconfig's cluster and your DNS")]
    Unresolved {
        /// `host:port`.
        endpoint: String,
        /// The resolver's words.
        detail: String,
    },
    /// No route, or another failure below TCP.
    #[error("cannot reach {endpoint}: {detail}; check `server` of the kubeconfig's cluster, your network and VPN")]
    Unreachable {
        /// `host:port`.
        endpoint: String,
        /// The system's words.
        detail: String,
    },
    /// TCP or TLS were not done in time.
    #[error(
        "{endpoint} did not finish the handshake within {seconds} s; check your network and VPN, and whether this is an HTTPS port"
    )]
    TimedOut {
        /// `host:port`.
        endpoint: String,
        /// The limit.
        seconds: u64,
    },
    /// The server's certificate is not to be trusted.
    #[error(
        "the certificate of {endpoint} is not trusted: {detail}; check `certificate-authority-data` and `tls-server-name` of the \
         kubeconfig's cluster"
    )]
    Certificate {
        /// `host:port`.
        endpoint: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The TLS handshake failed otherwise: an alert, no common version or protocol, or not TLS at all.
    #[error(
        "the TLS handshake with {endpoint} failed: {detail}; check that `server` of the kubeconfig's cluster is an HTTPS endpoint"
    )]
    Tls {
        /// `host:port`.
        endpoint: String,
        /// What failed.
        detail: String,
    },
    /// The connection ended before or in the middle of the TLS handshake.
    #[error("{endpoint} closed the connection before the TLS handshake was done; is the API server restarting?")]
    Closed {
        /// `host:port`.
        endpoint: String,
    },
}
