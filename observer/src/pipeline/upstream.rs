//! The API servers behind the listeners, for the observing thread.

use std::net::SocketAddr;

use observer_core::routing::ServerProfile;

/// An API server, as the clients of one listener reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// The listener's address, which identifies the upstream of a connection.
    pub listener: SocketAddr,
    /// The name in reports. Upstreams with the same name are the same API server.
    pub name: String,
    /// A path in front of the API server's own, or empty.
    pub path_prefix: String,
    /// The server profile. If it is `None`, it is learned later: a verdict needs it, so deliveries of the server's clients wait for
    /// [`crate::intake::Notice::Profile`].
    pub profile: Option<ServerProfile>,
}
