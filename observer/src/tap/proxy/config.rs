//! What a proxy is told when it starts.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::{Descriptors, PrivateAuthority, UpstreamFiles, UpstreamTls};
use crate::forward_proxy::ForwardProxy;
use crate::intake::Intake;
use crate::tap::Clock;

/// One listener, for one cluster and user: the port decides which client certificate goes upstream.
#[derive(Debug)]
pub struct ProxyConfig {
    /// Where clients connect; port 0 for one that the system chooses.
    pub listen: SocketAddr,
    /// The API server.
    pub upstream: UpstreamEndpoint,
    /// The proxy through which it is reached, if there is one.
    pub forward_proxy: Option<ForwardProxy>,
    /// How the API server is trusted, and who we are to it.
    pub upstream_tls: UpstreamTls,
    /// Where that is read again, if it comes from files.
    pub upstream_files: Option<UpstreamFiles>,
    /// Issues the certificate that clients see.
    pub authority: Arc<PrivateAuthority>,
    /// As what clients take us.
    pub entrance: Entrance,
    /// Who is let in.
    pub admission: Admission,
    /// Where observations go; nowhere when `None`.
    pub intake: Option<Intake>,
    /// What observations are stamped with.
    pub clock: Clock,
    /// How long a client may wait until both handshakes are done; there is no limit after that. 10 s unless a test wants less.
    pub handshake_limit: Duration,
    /// What all listeners of the process may open.
    pub descriptors: Descriptors,
}

impl ProxyConfig {
    /// The limit that is used unless there is a reason for another.
    pub const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
}

/// As what a listener's clients take it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Entrance {
    /// The API server itself.
    #[default]
    Server,
    /// A forward proxy, which is asked by CONNECT for the API server. The TLS within ends here all the same, with a certificate for the
    /// API server's name.
    ForwardProxy,
}

/// Which clients a listener lets in.
#[derive(Clone, Debug)]
pub enum Admission {
    /// Everybody who can connect: what a client may do is decided by the credential that it sends itself.
    Anybody,
    /// Those with a client certificate that this authority issued. Needed when `upstream_tls` carries a client certificate: else
    /// everybody who can connect would speak in its name. Listeners for different users need different authorities.
    HoldersOf(Arc<PrivateAuthority>),
}

/// Host and port of an API server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UpstreamEndpoint {
    /// A DNS name, or an IP address without brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

impl fmt::Display for UpstreamEndpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            return write!(formatter, "[{}]:{}", self.host, self.port);
        }
        write!(formatter, "{}:{}", self.host, self.port)
    }
}
