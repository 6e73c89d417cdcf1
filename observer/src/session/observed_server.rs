//! The API servers that a probe observes. The probe recognizes them by the remote addresses of sockets.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};

use crate::api_server::{self, ServiceInPod, UpstreamEndpoint, UpstreamId};
use crate::kubeconfig::{Kubeconfig, Selected, ServerTrust};
use crate::pipeline::Upstream;

/// Maximum number of addresses that the eBPF programs can match.
const MOST_ADDRESSES: usize = 64;

/// An API server that the probe observes.
#[derive(Clone, Debug)]
pub(crate) struct ObservedServer {
    /// Its identifier in this run.
    id: UpstreamId,
    /// Its name in reports.
    name: String,
    /// All addresses that its name resolves to.
    addresses: Vec<SocketAddr>,
    /// The endpoint and credentials of our own requests to it.
    selected: Selected,
    /// Whether our own requests verify its certificate.
    is_verified: bool,
}

impl ObservedServer {
    /// The API server of a context. Fails if clients reach it through a forward proxy.
    pub(crate) fn of_context(selected: Selected) -> Result<Self> {
        let name = api_server::name(&selected);
        if let Some(proxy) = &selected.forward_proxy {
            bail!(
                "clients reach {name} through the forward proxy {proxy} of their kubeconfig, so their connections lead to the \
                 proxy. If it serves only this API server, pass the proxy's address with --api-server"
            );
        }
        Ok(Self {
            id: UpstreamId::default(),
            name,
            addresses: Vec::new(),
            is_verified: !selected.insecure_skip_tls_verify,
            selected,
        })
    }

    /// The server at an address. If the kubeconfig's current server has the same host and port, it is that server. Otherwise its
    /// certificate cannot be verified.
    pub(crate) fn at(endpoint: &UpstreamEndpoint, current: Option<&Selected>) -> Result<Self> {
        let is_current = |selected: &&Selected| {
            selected.upstream.port == endpoint.port && selected.upstream.host.eq_ignore_ascii_case(&endpoint.host)
        };
        if let Some(selected) = current.filter(is_current) {
            return Self::of_context(selected.without_forward_proxy());
        }
        let name = endpoint.to_string();
        let selected = Kubeconfig::of_server(&format!("https://{name}"), &ServerTrust::Anybody, "--api-server")?.current()?;
        Ok(Self { id: UpstreamId::default(), name, addresses: Vec::new(), selected, is_verified: false })
    }

    /// The API server of the pod that watchtap runs in.
    pub(crate) fn in_pod(service: &ServiceInPod) -> Result<Self> {
        let (name, selected) = (service.at.to_string(), service.selected()?);
        Ok(Self { id: UpstreamId::default(), name, addresses: Vec::new(), selected, is_verified: service.authority.is_some() })
    }

    /// Its identifier in this run.
    pub(crate) fn id(&self) -> UpstreamId {
        self.id
    }

    /// Resolves the names of `servers`, and numbers them. Leaves out a server if earlier ones already have all of its addresses.
    pub(crate) async fn resolve(servers: Vec<Self>) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        let mut taken = BTreeSet::new();
        for mut server in servers {
            let Selected { upstream, .. } = &server.selected;
            let looked_up = tokio::net::lookup_host((upstream.host.as_str(), upstream.port)).await;
            let looked_up = looked_up.with_context(|| format!("cannot look up the API server {}", server.name))?;
            server.addresses = looked_up.map(canonical).filter(|address| taken.insert(*address)).collect();
            if !server.addresses.is_empty() {
                server.id = UpstreamId(u32::try_from(found.len()).unwrap_or(u32::MAX));
                found.push(server);
            }
        }
        ensure!(
            taken.len() <= MOST_ADDRESSES,
            "the API servers have {} addresses, and a probe observes {MOST_ADDRESSES} at most; pass fewer with --api-server",
            taken.len()
        );
        Ok(found)
    }

    /// Its name in reports.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The addresses that its clients connect to.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The endpoint and credentials of our own requests to it.
    pub(crate) fn selected(&self) -> &Selected {
        &self.selected
    }

    /// Whether its certificate is verified, so that the version it reports can be trusted.
    pub(crate) fn is_verified(&self) -> bool {
        self.is_verified
    }

    /// The server for the observing thread, without a profile.
    pub(crate) fn upstream(&self) -> Upstream {
        let (name, path_prefix) = (self.name.clone(), self.selected.upstream.path_prefix.clone());
        Upstream { id: self.id, name, path_prefix, profile: None }
    }
}

/// Converts an address to the form in which the eBPF programs report it.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
