//! The configuration of a proxy.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls_pki_types::ServerName;

use super::Descriptors;
use crate::api_server::{UpstreamEndpoint, UpstreamFiles, UpstreamId, UpstreamTls};
use crate::forward_proxy::ForwardProxy;
use crate::intake::Intake;
use crate::tap::Clock;
use observer_pki::PrivateAuthority;

/// One listener, for one cluster and user: the port decides which client certificate goes upstream.
#[derive(Debug)]
pub struct ProxyConfig {
    /// The address that clients connect to; with port 0 the system chooses the port.
    pub listen: SocketAddr,
    /// Identifies the API server in observations.
    pub upstream_id: UpstreamId,
    /// The API server's host and port.
    pub upstream: UpstreamEndpoint,
    /// The forward proxy through which the API server is reached, if any.
    pub forward_proxy: Option<ForwardProxy>,
    /// How the API server is trusted, and which certificate is presented to it.
    pub upstream_tls: UpstreamTls,
    /// The files that `upstream_tls` is read from again, if it comes from files.
    pub upstream_files: Option<UpstreamFiles>,
    /// Issues the certificate that clients see.
    pub authority: Arc<PrivateAuthority>,
    /// Names in that certificate, besides those of loopback and of `entrance`.
    pub names: Vec<ServerName<'static>>,
    /// How clients address the listener.
    pub entrance: Entrance,
    /// Which clients are let in.
    pub admission: Admission,
    /// In a pod, the container whose clients use the listener.
    pub container_name: Option<String>,
    /// The queue for observations; `None` drops them.
    pub intake: Option<Intake>,
    /// The clock that stamps observations.
    pub clock: Clock,
    /// How long both handshakes of a connection may take together. An established connection has no time limit. 10 s unless a test
    /// needs less.
    pub handshake_limit: Duration,
    /// The descriptors that all listeners of the process share.
    pub descriptors: Descriptors,
}

impl ProxyConfig {
    /// The default of [`Self::handshake_limit`].
    pub const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
}

/// How a listener appears to its clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Entrance {
    /// The API server itself.
    #[default]
    Server,
    /// A forward proxy: clients request the API server with CONNECT. The listener still terminates the TLS inside the tunnel, with
    /// a certificate for the API server's name.
    ForwardProxy,
}

/// Which clients a listener lets in.
#[derive(Clone, Debug)]
pub enum Admission {
    /// Every client that can connect: its own credential decides its rights.
    Anybody,
    /// Clients with a certificate that this authority issued. Required if `upstream_tls` carries a client certificate: otherwise
    /// every client that can connect would act as the user of that certificate. Listeners for different users need different
    /// authorities.
    HoldersOf(Arc<PrivateAuthority>),
}
