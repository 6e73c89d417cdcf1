//! Why a connection to the API server failed.

/// Why the API server could not be reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// The SYN was answered with RST.
    #[error("{endpoint} refuses connections; is it running?")]
    Refused {
        /// `host:port`.
        endpoint: String,
    },
    /// The name has no address, or the resolver failed.
    #[error(
        "cannot resolve {endpoint}: {detail}; check `server` and `proxy-url` of the kubeconfig's cluster (in a pod: \
         KUBERNETES_SERVICE_HOST), and your DNS"
    )]
    Unresolved {
        /// `host:port`.
        endpoint: String,
        /// The resolver's message.
        detail: String,
    },
    /// No route, or another failure below TCP.
    #[error(
        "cannot reach {endpoint}: {detail}; check `server` and `proxy-url` of the kubeconfig's cluster (in a pod: \
         KUBERNETES_SERVICE_HOST), your network and VPN"
    )]
    Unreachable {
        /// `host:port`.
        endpoint: String,
        /// The system's message.
        detail: String,
    },
    /// The TCP or TLS handshake did not finish in time.
    #[error(
        "{endpoint} did not finish the handshake within {seconds} s; check your network and VPN, and whether this is an HTTPS port"
    )]
    TimedOut {
        /// `host:port`.
        endpoint: String,
        /// The limit in seconds.
        seconds: u64,
    },
    /// This machine had no free file descriptor for the connection within the time limit.
    #[error(
        "no file descriptor for a connection to {endpoint}: {detail}; raise that limit (`ulimit -n` before the start, or \
         fs.file-max)"
    )]
    NoDescriptor {
        /// `host:port`.
        endpoint: String,
        /// The system's message.
        detail: String,
    },
    /// The server's certificate is not trusted.
    #[error(
        "the certificate of {endpoint} is not trusted: {detail}; check `certificate-authority-data` and `tls-server-name` of the \
         kubeconfig's cluster (in a pod: the ConfigMap kube-root-ca.crt)"
    )]
    Certificate {
        /// `host:port`.
        endpoint: String,
        /// Why it is not trusted.
        detail: String,
    },
    /// By this machine's clock, the server's certificate is not valid yet, or not any more.
    #[error(
        "the certificate of {endpoint} is not valid at this time: {detail}; check this machine's clock; if it is right, renew the certificate"
    )]
    CertificateTime {
        /// `host:port`.
        endpoint: String,
        /// The times, as the TLS library reports them.
        detail: String,
    },
    /// The TLS handshake failed in another way: an alert, no common version or protocol, or not TLS at all.
    #[error(
        "the TLS handshake with {endpoint} failed: {detail}; check that `server` of the kubeconfig's cluster (in a pod: \
         KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT) is an HTTPS endpoint"
    )]
    Tls {
        /// `host:port`.
        endpoint: String,
        /// The TLS library's message.
        detail: String,
    },
    /// The connection ended before or during the TLS handshake.
    #[error("{endpoint} closed the connection during the TLS handshake; is the API server restarting?")]
    Closed {
        /// `host:port`.
        endpoint: String,
    },
    /// A forward proxy in between did not connect us to the API server.
    #[error(
        "the proxy {proxy} did not connect to {endpoint}: {fault}; check `proxy-url` of the kubeconfig's cluster, or HTTPS_PROXY \
         and NO_PROXY"
    )]
    ForwardProxy {
        /// The proxy's address, without user name and password.
        proxy: String,
        /// `host:port` of the API server.
        endpoint: String,
        /// How the proxy failed.
        fault: ForwardProxyFault,
    },
}

/// How a forward proxy failed to connect us to the API server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForwardProxyFault {
    /// It requires credentials, or rejects ours: HTTP status 407 or the SOCKS equivalent.
    #[error("it rejected the user name and password ({answer})")]
    Authentication {
        /// HTTP status and reason, or the SOCKS error.
        answer: String,
    },
    /// It refused for another reason, for example because the API server refused the proxy's connection.
    #[error("it answered {answer}")]
    Denied {
        /// HTTP status and reason, or the SOCKS error.
        answer: String,
    },
    /// It closed the connection instead of answering.
    #[error("it closed the connection")]
    Closed,
    /// It did not answer in time.
    #[error("it did not answer within {seconds} s")]
    TimedOut {
        /// The limit in seconds.
        seconds: u64,
    },
    /// Its answer is not valid in the protocol that its address names.
    #[error("its reply is not valid {protocol}")]
    Garbled {
        /// The expected protocol.
        protocol: &'static str,
    },
    /// The TLS handshake with the proxy itself failed.
    #[error("the TLS handshake with it failed: {detail}")]
    Tls {
        /// The TLS library's message.
        detail: String,
    },
}

impl UpstreamError {
    /// Whether the other side closed the connection. It may be shutting down, and may refuse the next connection.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. } | Self::ForwardProxy { fault: ForwardProxyFault::Closed, .. })
    }
}
