//! One listener of a run, with the API server and the clients that it serves.

use std::net::SocketAddr;

use crate::api_server::{self, UpstreamId};
use crate::kubeconfig::Pair;
use crate::tap::proxy::ProxyHandle;

/// The listener of one cluster and user, or of one container.
#[derive(Debug)]
pub(crate) struct Listener {
    /// The address that clients connect to.
    pub(crate) address: SocketAddr,
    /// The API server that it leads to.
    pub(super) upstream: UpstreamId,
    /// The cluster, the user, and the contexts that combine them.
    pub(crate) pair: Pair,
    /// In a pod, the name of the container whose clients connect to it.
    pub(crate) container: Option<String>,
    pub(super) handle: ProxyHandle,
}

impl Listener {
    /// See [`api_server::name`].
    pub(crate) fn upstream_name(&self) -> String {
        api_server::name(&self.pair.selected)
    }
}
