//! What the observing thread is told of the servers behind the listeners.

use std::net::SocketAddr;

use observer_core::routing::ServerProfile;

/// An API server, as the clients of one listener reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// The listener's address; it tells connections apart.
    pub listener: SocketAddr,
    /// What it is called. Listeners whose upstreams have the same name lead to the same API server.
    pub name: String,
    /// A path in front of the API server's own, or empty.
    pub path_prefix: String,
    /// What is known of it. With `None` it is learned later: what its clients do waits until [`crate::intake::Notice::Profile`] comes, for
    /// a verdict cannot be given without.
    pub profile: Option<ServerProfile>,
}
