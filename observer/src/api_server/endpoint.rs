//! The address of an API server, and of the forward proxy in front of it.

use std::fmt;

use anyhow::{Context, Result};

use crate::forward_proxy::{ForwardProxy, ProxyEnvironment};
use crate::kubeconfig::Selected;

/// The number that the session gives to an API server of a run. All listeners and addresses that lead to the same server share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UpstreamId(pub u32);

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

/// The endpoint of a context's cluster.
pub(crate) fn endpoint(selected: &Selected) -> UpstreamEndpoint {
    UpstreamEndpoint { host: selected.upstream.host.clone(), port: selected.upstream.port }
}

/// The cluster's `proxy-url`, otherwise the proxy in the environment of watchtap, which its clients share.
pub(crate) fn forward_proxy(selected: &Selected) -> Result<Option<ForwardProxy>> {
    if selected.forward_proxy.is_some() {
        return Ok(selected.forward_proxy.clone());
    }
    let environment = ProxyEnvironment::read(|name| std::env::var_os(name));
    environment.forward_proxy(&selected.upstream.host, selected.upstream.port).context("HTTPS_PROXY")
}
