//! Binds the listeners of a run, and collects the data for the kubeconfig copy.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::Result;
use serde_json::Value;

use super::listener::Listener;
use super::{ListenerOptions, listen_port};
use crate::api_server::{UpstreamId, certificate, endpoint, forward_proxy, name, upstream_files, upstream_tls};
use crate::credential::{Keeper, PluginUser};
use crate::error_chain;
use crate::intake::Intake;
use crate::kubeconfig::{ClientCertificatePair, ClientEndpoint, LeftOut, Pair, PluginInPlace, Via, Way};
use crate::tap::Clock;
use crate::tap::proxy::{Admission, Descriptors, Entrance, Proxy, ProxyConfig, ProxyError};
use observer_pki::{ClientIdentity, PrivateAuthority};

/// The listeners bound so far, and the certificate authorities and API servers that they share.
pub(super) struct Binding<'a> {
    listen: Option<SocketAddr>,
    via: Via,
    intake: &'a Intake,
    clock: Clock,
    descriptors: &'a Descriptors,
    authority: Arc<PrivateAuthority>,
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
    pub(super) fn new(
        options: ListenerOptions,
        intake: &'a Intake,
        clock: Clock,
        descriptors: &'a Descriptors,
        left_out: Vec<LeftOut>,
    ) -> Result<Self> {
        let authority = Arc::new(PrivateAuthority::generate()?);
        let ca_pem = authority.certificate_pem();
        let (upstreams, holders) = (BTreeMap::new(), BTreeMap::new());
        let ListenerOptions { address: listen, via } = options;
        let (listeners, idle) = (Vec::new(), Vec::new());
        Ok(Self { listen, via, intake, clock, descriptors, authority, ca_pem, upstreams, holders, listeners, idle, left_out })
    }

    /// Binds the next listener. Only a failure of the first one is an error.
    pub(super) fn add(&mut self, pair: Pair) -> Result<()> {
        let upstream = self.upstream(&pair);
        match self.bind(&pair, upstream) {
            Ok(proxy) => {
                let (address, handle) = (proxy.local_addr(), proxy.handle());
                self.listeners.push(Listener { address, upstream, pair, handle });
                self.idle.push(proxy);
                Ok(())
            }
            Err(error) if self.listeners.is_empty() => Err(error),
            Err(error) => {
                self.left_out.push(LeftOut { contexts: pair.contexts, why: error_chain::in_words(error.as_ref()) });
                Ok(())
            }
        }
    }

    /// The identifier of a pair's API server.
    fn upstream(&mut self, pair: &Pair) -> UpstreamId {
        let next = UpstreamId(u32::try_from(self.upstreams.len()).unwrap_or(u32::MAX));
        *self.upstreams.entry(name(&pair.selected)).or_insert(next)
    }

    /// Binds a listener. If the user has a client certificate, the proxy presents it upstream. So the listener then admits only
    /// clients with a private certificate.
    fn bind(&mut self, pair: &Pair, upstream_id: UpstreamId) -> Result<Proxy> {
        let admission = self.admission(pair)?;
        let entrance = match self.via {
            Via::Server => Entrance::Server,
            Via::ProxyUrl => Entrance::ForwardProxy,
        };
        let selected = &pair.selected;
        let config = |listen| {
            anyhow::Ok(ProxyConfig {
                listen,
                upstream_id,
                upstream: endpoint(selected),
                forward_proxy: forward_proxy(selected)?,
                upstream_tls: upstream_tls(selected, certificate(selected).as_ref())?,
                upstream_files: upstream_files(selected)?,
                authority: Arc::clone(&self.authority),
                names: Vec::new(),
                entrance,
                admission: admission.clone(),
                intake: Some(self.intake.clone()),
                clock: self.clock,
                handshake_limit: ProxyConfig::HANDSHAKE_LIMIT,
                descriptors: self.descriptors.clone(),
            })
        };
        if let Some(listen) = self.listen.filter(|listen| self.listeners.is_empty() && listen.port() != 0) {
            return Ok(Proxy::bind(config(listen)?)?);
        }
        let address = self.listen.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |listen| listen.ip());
        let forward_proxy = forward_proxy(selected)?;
        for port in listen_port::candidates(selected, forward_proxy.as_ref()) {
            match Proxy::bind(config(SocketAddr::new(address, port))?) {
                Err(ProxyError::PortInUse { .. }) if port != 0 => {}
                bound => return Ok(bound?),
            }
        }
        anyhow::bail!("no port is free at {address}")
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
        let endpoint =
            ClientEndpoint { listener: listener.address, via: self.via, ca_pem: &self.ca_pem, client_certificate, exec_plugin };
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
            let server = match (self.via, original) {
                (Via::ProxyUrl, Some(original)) => original.to_owned(),
                (Via::Server | Via::ProxyUrl, _) => selected.upstream.client_server(*address),
            };
            keeper.user(name.clone(), new).add_listener(server, plugin.cluster.clone(), handle.clone());
        }
        self.listeners = listeners;
        Ok(keeper)
    }
}
