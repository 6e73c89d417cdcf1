//! Why a proxy cannot start.

use std::io;
use std::net::SocketAddr;

use super::AuthorityError;

/// Ours or the configuration's fault; what the upstream does later is [`super::UpstreamError`].
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// Somebody listens there already.
    #[error("{address} is in use by another process; choose another address, or port 0 for a free one")]
    PortInUse {
        /// Where.
        address: SocketAddr,
    },
    /// The address is not ours, or the port is privileged.
    #[error("cannot listen on {address}: choose an address of this machine and a port above 1023")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The server side of TLS cannot be set up.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
}

/// What is wrong with the TLS part of a cluster or user.
#[derive(Debug, thiserror::Error)]
pub enum TlsConfigError {
    /// No certificate in what should hold the cluster's CA.
    #[error("the cluster's CA holds no usable certificate; check `certificate-authority` or `certificate-authority-data`")]
    NoRoots,
    /// The system trusts nobody.
    #[error("the system's trust store is empty or unreadable; give `certificate-authority` in the kubeconfig")]
    NoNativeRoots,
    /// Not PEM.
    #[error("{what} is not valid PEM: {detail}")]
    Pem {
        /// Which input.
        what: &'static str,
        /// The parser's words.
        detail: String,
    },
    /// No certificate at all.
    #[error("`client-certificate` is no X.509 certificate: {detail}")]
    ClientCertificate {
        /// The parser's words.
        detail: String,
    },
    /// Of an unknown kind, or broken.
    #[error("`client-key` cannot be used: {detail}; it can be an RSA, ECDSA or Ed25519 key without a passphrase")]
    ClientKey {
        /// The library's words.
        detail: String,
    },
    /// Both are sound.
    #[error("`client-certificate` and `client-key` do not belong together: the key is of another certificate")]
    KeyOfAnotherCertificate,
    /// Neither a DNS name nor an IP address.
    #[error("`{name}` is no valid server name; check `server` and `tls-server-name` of the kubeconfig's cluster")]
    ServerName {
        /// As given.
        name: String,
    },
    /// The certificates of our own cannot be made.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The TLS library refuses its own defaults.
    #[error("TLS cannot be set up: {0}")]
    Library(rustls::Error),
}
