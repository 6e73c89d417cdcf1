//! Why the TLS part of a kubeconfig cannot be used.

use observer_pki::AuthorityError;

/// An error in the TLS part of a cluster or user.
#[derive(Debug, thiserror::Error)]
pub enum TlsConfigError {
    /// The cluster's CA contains no usable certificate.
    #[error("the cluster's CA contains no usable certificate; check `certificate-authority` or `certificate-authority-data`")]
    NoRoots,
    /// The system's trust store holds no usable certificate.
    #[error("the system's trust store is empty or unreadable; set `certificate-authority` in the kubeconfig")]
    NoNativeRoots,
    /// Invalid PEM.
    #[error("{what} is not valid PEM: {detail}")]
    Pem {
        /// The kubeconfig field that is invalid.
        what: &'static str,
        /// The parser's message.
        detail: String,
    },
    /// `client-certificate` is not an X.509 certificate.
    #[error("`client-certificate` is not an X.509 certificate: {detail}")]
    ClientCertificate {
        /// The parser's message.
        detail: String,
    },
    /// The private key is malformed, or its type is unsupported.
    #[error("`client-key` cannot be used: {detail}; use an RSA, ECDSA or Ed25519 key without a passphrase")]
    ClientKey {
        /// The library's message.
        detail: String,
    },
    /// Certificate and key are valid, but do not match.
    #[error("`client-certificate` and `client-key` do not match: the key belongs to another certificate")]
    KeyOfAnotherCertificate,
    /// The server name is neither a DNS name nor an IP address.
    #[error("`{name}` is not a valid server name; check `server` and `tls-server-name` of the kubeconfig's cluster")]
    ServerName {
        /// The name as configured.
        name: String,
    },
    /// The run's private certificates cannot be created.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The TLS library rejects its own default configuration.
    #[error("TLS cannot be set up: {0}")]
    Library(rustls::Error),
}
