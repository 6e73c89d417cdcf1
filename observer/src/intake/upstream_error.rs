//! Why a connection to the API server did not come about.

/// Why the API server could not be reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// TCP RST in answer to SYN.
    #[error("{endpoint} refuses connections; is it running?")]
    Refused {
        /// `host:port`.
        endpoint: String,
    },
    /// The name has no address.
    #[error("cannot resolve {endpoint}: {detail}; check `server` and `proxy-url` of the kubeconfig's cluster, and your DNS")]
    Unresolved {
        /// `host:port`.
        endpoint: String,
        /// The resolver's words.
        detail: String,
    },
    /// No route, or another failure below TCP.
    #[error("cannot reach {endpoint}: {detail}; check `server` and `proxy-url` of the kubeconfig's cluster, your network and VPN")]
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
    /// We could not even ask, until the time was up: a shortage on our side.
    #[error(
        "there was no descriptor for a connection to {endpoint}: {detail}; raise that limit, with `ulimit -n` before the start, or the \
         system's fs.file-max"
    )]
    NoDescriptor {
        /// `host:port`.
        endpoint: String,
        /// The system's words.
        detail: String,
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
    /// A proxy stands between us and the API server, and did not connect us.
    #[error(
        "the proxy {proxy} did not connect us to {endpoint}: {fault}; check `proxy-url` of the kubeconfig's cluster, or HTTPS_PROXY and \
         NO_PROXY"
    )]
    ForwardProxy {
        /// Its address, without user name and password.
        proxy: String,
        /// `host:port` of the API server.
        endpoint: String,
        /// What it did.
        fault: ForwardProxyFault,
    },
}

/// What a proxy between us and the API server did instead of connecting us.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForwardProxyFault {
    /// It wants to know who we are, or does not like it: HTTP status 407, or the like in SOCKS.
    #[error("it asks for another user name and password ({answer})")]
    Authentication {
        /// Its answer.
        answer: String,
    },
    /// It said no in another way: that the API server refuses, too.
    #[error("it answered {answer}")]
    Denied {
        /// Its answer: HTTP status and reason, or the words of a SOCKS reply.
        answer: String,
    },
    /// It ended the connection instead of answering.
    #[error("it closed the connection")]
    Closed,
    /// It did not answer in time.
    #[error("it did not answer within {seconds} s")]
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// It does not speak what its address says.
    #[error("its answer is none of a proxy that speaks {protocol}")]
    Garbled {
        /// What was expected.
        protocol: &'static str,
    },
    /// The TLS handshake with the proxy itself failed.
    #[error("the TLS handshake with it failed: {detail}")]
    Tls {
        /// Why.
        detail: String,
    },
}

impl UpstreamError {
    /// Whether the connection ended where it may mean that the next one is refused.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. } | Self::ForwardProxy { fault: ForwardProxyFault::Closed, .. })
    }
}
