//! Binds the listeners of a run, and collects the data for clients' kubeconfigs.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use rustls_pki_types::ServerName;
use serde_json::Value;

use super::listen_port;
use super::listener::Listener;
use super::pod::{ContainerPort, DECLARE_PORT};
use crate::api_server::{UpstreamId, certificate, endpoint, forward_proxy, name, upstream_files, upstream_tls};
use crate::credential::{Keeper, PluginUser};
use crate::error_chain;
use crate::intake::Intake;
use crate::kubeconfig::{ClientCertificatePair, ClientEndpoint, LeftOut, Pair, PluginInPlace, Selected, Via, Way};
use crate::tap::Clock;
use crate::tap::proxy::{Admission, Descriptors, Entrance, Proxy, ProxyConfig, ProxyError};
use observer_pki::{ClientIdentity, PrivateAuthority};

/// The parts of a run that its listeners use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'a> {
    pub(super) intake: &'a Intake,
    pub(super) clock: Clock,
    pub(super) descriptors: &'a Descriptors,
}

/// The parts that all listeners of a run share.
pub(super) struct Shared<'a> {
    pub(super) surroundings: Surroundings<'a>,
    /// Issues the certificates that clients see.
    pub(super) authority: Arc<PrivateAuthority>,
    /// Names in these certificates, besides those of loopback.
    pub(super) names: Vec<ServerName<'static>>,
    pub(super) via: Via,
}

/// The listeners bound so far, and the certificate authorities and API servers that they share.
pub(super) struct Binding<'a> {
    shared: Shared<'a>,
    ca_pem: String,
    /// The identifiers of the API servers behind the listeners, by the servers' names in reports.
    upstreams: BTreeMap<String, UpstreamId>,
    /// The authority of each user with a client certificate or an exec plugin, by the user's name.
    holders: BTreeMap<Option<String>, Holder>,
    pub(super) listeners: Vec<Listener>,
    pub(super) idle: Vec<Proxy>,
    pub(super) left_out: Vec<LeftOut>,
}

/// A CA that issues private certificates for one user only, so that no client is admitted with another user's certificate.
struct Holder {
    issuer: Arc<PrivateAuthority>,
    identity: ClientIdentity,
}

impl Holder {
    pub(super) fn new() -> Result<Self> {
        let issuer = Arc::new(PrivateAuthority::generate()?);
        Ok(Self { identity: issuer.issue_client()?, issuer })
    }

    fn pair(&self) -> ClientCertificatePair<'_> {
        ClientCertificatePair { certificate_pem: &self.identity.certificate_pem, key_pem: &self.identity.key_pem }
    }
}

impl<'a> Binding<'a> {
    pub(super) fn new(shared: Shared<'a>) -> Self {
        let ca_pem = shared.authority.certificate_pem();
        let (upstreams, holders) = (BTreeMap::new(), BTreeMap::new());
        Self { shared, ca_pem, upstreams, holders, listeners: Vec::new(), idle: Vec::new(), left_out: Vec::new() }
    }

    /// Binds the next listener of a kubeconfig. Only a failure of the first one, which gets the address `listen`, is an error.
    pub(super) fn add(&mut self, pair: Pair, listen: Option<SocketAddr>) -> Result<()> {
        let contexts = pair.contexts.clone();
        let bound = self.addresses(&pair.selected, listen).and_then(|addresses| self.bind(pair, addresses, None));
        match bound {
            Err(error) if !self.listeners.is_empty() => {
                self.left_out.push(LeftOut { contexts, why: error_chain::in_words(error.as_ref()) });
                Ok(())
            }
            bound => bound,
        }
    }

    /// Binds the listener of a container.
    pub(super) fn add_container(&mut self, pair: Pair, container: &ContainerPort) -> Result<()> {
        let name = &container.name;
        let bound = self.bind(pair, vec![container.address()], Some(name.clone()));
        bound
            .map_err(|error| match error.downcast_ref() {
                Some(ProxyError::PortInUse { address }) => {
                    anyhow!("{address} is in use by another container of this pod; {DECLARE_PORT}")
                }
                _ => error,
            })
            .with_context(|| format!("--container {name}: no listener for this container"))
    }

    /// The addresses to try for a listener, in order.
    fn addresses(&self, selected: &Selected, listen: Option<SocketAddr>) -> Result<Vec<SocketAddr>> {
        if let Some(listen) = listen.filter(|listen| self.listeners.is_empty() && listen.port() != 0) {
            return Ok(vec![listen]);
        }
        let address = listen.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |listen| listen.ip());
        let forward_proxy = forward_proxy(selected)?;
        Ok(listen_port::candidates(selected, forward_proxy.as_ref()).map(|port| SocketAddr::new(address, port)).collect())
    }

    /// The identifier of a pair's API server.
    fn upstream(&mut self, pair: &Pair) -> UpstreamId {
        let next = UpstreamId(u32::try_from(self.upstreams.len()).unwrap_or(u32::MAX));
        *self.upstreams.entry(name(&pair.selected)).or_insert(next)
    }

    /// Binds a listener to the first of `addresses` whose port is not in use. If the user has a client certificate, the proxy
    /// presents it upstream. So the listener then admits only clients with a private certificate.
    fn bind(&mut self, pair: Pair, addresses: Vec<SocketAddr>, container: Option<String>) -> Result<()> {
        let upstream = self.upstream(&pair);
        let admission = self.admission(&pair)?;
        let mut addresses = addresses.into_iter().peekable();
        while let Some(address) = addresses.next() {
            let config = self.config(&pair.selected, upstream, admission.clone(), address)?;
            match Proxy::bind(ProxyConfig { container_name: container.clone(), ..config }) {
                Err(ProxyError::PortInUse { .. }) if addresses.peek().is_some() => {}
                bound => {
                    let proxy = bound?;
                    let (address, handle) = (proxy.local_addr(), proxy.handle());
                    self.listeners.push(Listener { address, upstream, pair, container, handle });
                    self.idle.push(proxy);
                    return Ok(());
                }
            }
        }
        anyhow::bail!("there is no address to listen on")
    }

    fn config(
        &self,
        selected: &Selected,
        upstream_id: UpstreamId,
        admission: Admission,
        listen: SocketAddr,
    ) -> Result<ProxyConfig> {
        let Shared { surroundings: Surroundings { intake, clock, descriptors }, authority, names, via } = &self.shared;
        Ok(ProxyConfig {
            listen,
            upstream_id,
            upstream: endpoint(selected),
            forward_proxy: forward_proxy(selected)?,
            upstream_tls: upstream_tls(selected, certificate(selected).as_ref())?,
            upstream_files: upstream_files(selected)?,
            authority: Arc::clone(authority),
            names: names.clone(),
            entrance: match via {
                Via::Server => Entrance::Server,
                Via::ProxyUrl => Entrance::ForwardProxy,
            },
            admission,
            container_name: None,
            intake: Some(Intake::clone(intake)),
            clock: *clock,
            handshake_limit: ProxyConfig::HANDSHAKE_LIMIT,
            descriptors: Descriptors::clone(descriptors),
        })
    }

    fn admission(&mut self, pair: &Pair) -> Result<Admission> {
        if pair.selected.client_certificate.is_none() {
            return Ok(Admission::Anybody);
        }
        Ok(Admission::HoldersOf(Arc::clone(&self.holder(pair.selected.user.as_ref())?.issuer)))
    }

    fn holder(&mut self, user: Option<&String>) -> Result<&Holder> {
        match self.holders.entry(user.cloned()) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(Holder::new()?)),
        }
    }

    pub(super) fn ways<'s>(&'s self, plugin: &PluginInPlace<'s>) -> Vec<Way<'s>> {
        self.listeners.iter().map(|listener| self.way(listener, *plugin)).collect()
    }

    fn way<'s>(&'s self, listener: &'s Listener, plugin: PluginInPlace<'s>) -> Way<'s> {
        let selected = &listener.pair.selected;
        let client_certificate = self.holders.get(&selected.user).map(Holder::pair);
        let exec_plugin = selected.exec_plugin.is_some().then_some(plugin);
        let endpoint = ClientEndpoint {
            listener: listener.address,
            via: self.shared.via,
            ca_pem: &self.ca_pem,
            client_certificate,
            exec_plugin,
        };
        Way { pair: &listener.pair, endpoint }
    }

    /// The users with exec plugins, each with its listeners.
    pub(super) fn keeper(&mut self) -> Result<Keeper> {
        let mut keeper = Keeper::default();
        let listeners = std::mem::take(&mut self.listeners);
        for Listener { address, pair, handle, .. } in &listeners {
            let selected = &pair.selected;
            let (Some(plugin), Some(name)) = (&selected.exec_plugin, &selected.user) else { continue };
            let issuer = Arc::clone(&self.holder(Some(name))?.issuer);
            let new = || PluginUser::new(plugin.command.clone(), plugin.arguments.clone(), issuer);
            let original = plugin.cluster.get("server").and_then(Value::as_str);
            let server = match (self.shared.via, original) {
                (Via::ProxyUrl, Some(original)) => original.to_owned(),
                (Via::Server | Via::ProxyUrl, _) => selected.upstream.client_server(*address),
            };
            keeper.user(name.clone(), new).add_listener(server, plugin.cluster.clone(), handle.clone());
        }
        self.listeners = listeners;
        Ok(keeper)
    }
}
