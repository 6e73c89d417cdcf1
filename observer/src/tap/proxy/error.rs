//! Why a proxy cannot start.

use std::io;
use std::net::SocketAddr;

use observer_pki::AuthorityError;

/// An error on this machine or in the configuration. Failures of upstream come later, as [`crate::api_server::UpstreamError`].
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// Another process listens on the port.
    #[error("{address} is in use by another process; choose another address, or port 0 for a free one")]
    PortInUse {
        /// The requested address.
        address: SocketAddr,
    },
    /// The address does not belong to this machine, or the port is privileged.
    #[error("cannot listen on {address}: choose an address of this machine and a port above 1023")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The server side of TLS cannot be set up.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
}
