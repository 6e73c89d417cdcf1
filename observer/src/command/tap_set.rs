//! Everything between the clients of one run and their API servers: a listener for each cluster and user, and the files that lead
//! clients there.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use observer_core::routing::ServerProfile;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::plugin_users::StandIn;
use super::profiles::Profiles;
use super::upstream_flags::UpstreamFlags;
use super::{listen_port, upstream};
use crate::api_server::request;
use crate::credential::{CredentialServer, Keeper, PluginUser};
use crate::intake::{Intake, Notice};
use crate::kubeconfig::{
    ClientCertificatePair, ClientEndpoint, Kubeconfig, LeftOut, Pair, Pairs, PluginInPlace, RunFolder, Via, Way,
};
use crate::pki::{ClientIdentity, PrivateAuthority};
use crate::printable::print_message;
use crate::tap::Clock;
use crate::tap::proxy::{Admission, Descriptors, Entrance, Proxy, ProxyConfig, ProxyCounts, ProxyError, ProxyHandle};
use crate::{error_chain, pipeline};

/// The listeners of one run. They are bound, and [`Self::serve`] serves them.
#[derive(Debug)]
pub(super) struct TapSet {
    /// The first one is the current context's.
    listeners: Vec<Listener>,
    left_out: Vec<LeftOut>,
    /// `None` once it is removed.
    folder: Option<RunFolder>,
    kubeconfigs: Vec<PathBuf>,
    /// Bound, but not served yet.
    idle: Vec<Proxy>,
    serving: JoinSet<Result<(), ProxyError>>,
    /// For users with exec plug-ins; `None` without any, and once it is served.
    credentials: Option<CredentialServer>,
    answering: JoinSet<()>,
    /// Each waits for the first client of an API server whose profile is unknown.
    learning: JoinSet<()>,
    /// Set at shutdown, so that those of `learning` that have had no client stop waiting.
    leaving: watch::Sender<bool>,
}

/// The listener of one cluster and user.
#[derive(Debug)]
pub(super) struct Listener {
    /// The address that clients connect to.
    pub(super) address: SocketAddr,
    /// The cluster, the user, and the contexts that combine them.
    pub(super) pair: Pair,
    handle: ProxyHandle,
}

impl TapSet {
    /// Binds a listener for each of `pairs`, and writes the files for clients. The listener of the current context gets the address
    /// in `flags`, if there is one. Clients that connect before [`Self::serve`] wait.
    ///
    /// Fails if the current context cannot be served. For other contexts, [`Self::left_out`] has the reason.
    pub(super) fn bind(
        kubeconfig: &Kubeconfig,
        pairs: Pairs,
        flags: &UpstreamFlags,
        intake: &Intake,
        clock: Clock,
        descriptors: &Descriptors,
    ) -> Result<Self> {
        let mut binding = Binding::new(flags, intake, clock, descriptors, pairs.left_out)?;
        for pair in pairs.served {
            binding.add(pair)?;
        }
        let folder = run_folder()?;
        let stand_in = StandIn::new(&folder)?;
        let copy = kubeconfig.client_copy(&binding.ways(&stand_in.in_place(&stand_in.arguments())));
        let credentials = stand_in.listen(binding.keeper()?)?;
        let file = folder.write("kubeconfig", copy.text.as_bytes()).context("cannot write the private kubeconfig")?;
        let Binding { listeners, idle, left_out, .. } = binding;
        let kubeconfigs = std::iter::once(file).chain(copy.beside).collect();
        let (serving, learning, answering) = (JoinSet::new(), JoinSet::new(), JoinSet::new());
        let (folder, leaving) = (Some(folder), watch::Sender::new(false));
        Ok(Self { listeners, left_out, folder, kubeconfigs, idle, serving, credentials, answering, learning, leaving })
    }

    /// The listeners; the first one is the current context's.
    pub(super) fn listeners(&self) -> &[Listener] {
        &self.listeners
    }

    /// Contexts that no listener serves.
    pub(super) fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The files for clients: first ours, then those of the user's that a client must be able to write to. If ours is the only one,
    /// `--kubeconfig` accepts it too.
    pub(super) fn kubeconfigs(&self) -> &[PathBuf] {
        &self.kubeconfigs
    }

    /// The value of `KUBECONFIG` for clients.
    pub(super) fn kubeconfig_variable(&self) -> Result<OsString> {
        std::env::join_paths(&self.kubeconfigs).with_context(|| {
            let variable = self.kubeconfigs.first().map_or("TMPDIR", |own| folder_variable(own, runtime_directory().as_deref()));
            format!(
                "the path of a kubeconfig holds a colon, which KUBECONFIG cannot say; move it, or set {variable} to another folder"
            )
        })
    }

    /// The API servers behind the listeners, for [`pipeline::Observing::start`]. Only the current context's is asked for its
    /// version here, unless the flags make that unnecessary.
    pub(super) async fn upstreams(&self, profiles: &Profiles) -> Vec<pipeline::Upstream> {
        let mut upstreams: Vec<pipeline::Upstream> = Vec::new();
        let mut current = None;
        for listener in &self.listeners {
            let name = listener.upstream_name();
            let profile = match &current {
                Some((known, profile)) if *known == name => Some(ServerProfile::clone(profile)),
                Some(_) => profiles.without_asking(),
                None => {
                    let learned = profiles.learn(&listener.pair.selected).await;
                    current = Some((name.clone(), learned.clone()));
                    Some(learned)
                }
            };
            let path_prefix = listener.pair.selected.upstream.path_prefix.clone();
            upstreams.push(pipeline::Upstream { listener: listener.address, name, path_prefix, profile });
        }
        upstreams
    }

    /// Serves on the current runtime until [`Self::stop`]. An API server with an unknown profile is asked when its first client
    /// connects. The profile goes to `intake`, even if the server does not answer.
    pub(super) fn serve(&mut self, profiles: &Profiles, intake: &Intake, clock: Clock) {
        for proxy in self.idle.drain(..) {
            self.serving.spawn(proxy.serve());
        }
        if let Some(credentials) = self.credentials.take() {
            self.answering.spawn(credentials.serve());
        }
        if profiles.without_asking().is_none() {
            self.learn_later(profiles, intake, clock);
        }
    }

    /// Checks whether the current context's API server, which did not answer, refuses connections. If so, our port refuses them
    /// before any client connects.
    pub(super) fn check_unanswering(&self, upstreams: &[pipeline::Upstream], profiles: &Profiles) {
        let is_unknown =
            upstreams.first().and_then(|first| first.profile.as_ref()).is_some_and(|profile| profile.version.is_none());
        if let Some(first) = self.listeners.first().filter(|_| is_unknown && profiles.without_asking().is_none()) {
            first.handle.check_upstream();
        }
    }

    fn learn_later(&mut self, profiles: &Profiles, intake: &Intake, clock: Clock) {
        let current = self.listeners.first().map(Listener::upstream_name);
        let mut asked: BTreeMap<String, Arc<AtomicBool>> = BTreeMap::new();
        for listener in self.listeners.iter().filter(|listener| Some(listener.upstream_name()) != current) {
            let asked = Arc::clone(asked.entry(listener.upstream_name()).or_default());
            let (address, selected, handle) = (listener.address, listener.pair.selected.clone(), listener.handle.clone());
            let (profiles, intake) = (profiles.clone(), intake.clone());
            let left = left(self.leaving.subscribe());
            self.learning.spawn(async move {
                tokio::select! {
                    // A client that connects just before shutdown counts.
                    biased;
                    () = handle.first_client() => {}
                    () = left => return,
                }
                if !asked.swap(true, Ordering::Relaxed) {
                    let profile = Box::new(profiles.learn(&selected).await);
                    intake.notice(Notice::Profile { at: clock.now(), listener: address, profile });
                }
            });
        }
    }

    /// Totals over all listeners.
    pub(super) fn counts(&self) -> ProxyCounts {
        self.listeners.iter().map(|listener| listener.handle.counts()).sum()
    }

    /// Removes the files for clients and stops accepting clients. Waits until all connections have ended or `grace` has passed, and
    /// returns the final totals.
    pub(super) async fn stop(mut self, grace: Duration) -> Result<ProxyCounts> {
        if let Some(Err(error)) = self.folder.take().map(RunFolder::remove) {
            print_message(format!("the private folder of this run could not be removed: {error}"));
        }
        // A listener that was never served would never finish.
        self.idle.clear();
        let stops: Vec<_> = self.listeners.iter().map(|listener| listener.handle.stop(grace)).collect();
        for stopped in stops {
            stopped.await;
        }
        // These tasks hold the intake, and the observing thread ends only when the intake is dropped.
        let asked_already = learned(&mut self.learning, &self.leaving);
        if timeout(request::LIMIT, asked_already).await.is_err() {
            self.learning.shutdown().await;
        }
        self.answering.shutdown().await;
        let counts = self.counts();
        while let Some(served) = self.serving.join_next().await {
            served.context("the proxy failed")??;
        }
        Ok(counts)
    }
}

impl Listener {
    /// See [`upstream::name`].
    pub(super) fn upstream_name(&self) -> String {
        upstream::name(&self.pair.selected)
    }
}

/// The listeners bound so far, and the parts that each is made of.
struct Binding<'a> {
    listen: Option<SocketAddr>,
    via: Via,
    intake: &'a Intake,
    clock: Clock,
    descriptors: &'a Descriptors,
    authority: Arc<PrivateAuthority>,
    ca_pem: String,
    /// The authority of each user with a client certificate or an exec plug-in, by the user's name.
    holders: BTreeMap<Option<String>, Holder>,
    listeners: Vec<Listener>,
    idle: Vec<Proxy>,
    left_out: Vec<LeftOut>,
}

/// An authority that issues for one user only, so that no client is admitted with another user's certificate.
struct Holder {
    issuer: Arc<PrivateAuthority>,
    identity: ClientIdentity,
}

impl Holder {
    fn new() -> Result<Self> {
        let issuer = Arc::new(PrivateAuthority::generate()?);
        Ok(Self { identity: issuer.issue_client()?, issuer })
    }

    fn pair(&self) -> ClientCertificatePair<'_> {
        ClientCertificatePair { certificate_pem: &self.identity.certificate_pem, key_pem: &self.identity.key_pem }
    }
}

impl<'a> Binding<'a> {
    fn new(
        flags: &UpstreamFlags,
        intake: &'a Intake,
        clock: Clock,
        descriptors: &'a Descriptors,
        left_out: Vec<LeftOut>,
    ) -> Result<Self> {
        let authority = Arc::new(PrivateAuthority::generate()?);
        let ca_pem = authority.certificate_pem();
        let holders = BTreeMap::new();
        let (listen, via) = (flags.listen(), flags.via());
        let (listeners, idle) = (Vec::new(), Vec::new());
        Ok(Self { listen, via, intake, clock, descriptors, authority, ca_pem, holders, listeners, idle, left_out })
    }

    /// Binds the next listener. Only a failure of the first one is an error.
    fn add(&mut self, pair: Pair) -> Result<()> {
        match self.bind(&pair) {
            Ok(proxy) => {
                self.listeners.push(Listener { address: proxy.local_addr(), pair, handle: proxy.handle() });
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

    fn bind(&mut self, pair: &Pair) -> Result<Proxy> {
        let admission = self.admission(pair)?;
        let entrance = match self.via {
            Via::Server => Entrance::Server,
            Via::ProxyUrl => Entrance::ForwardProxy,
        };
        let config = |listen| {
            let (authority, intake, descriptors) = (Arc::clone(&self.authority), self.intake.clone(), self.descriptors.clone());
            let config =
                upstream::proxy_config(&pair.selected, authority, admission.clone(), listen, intake, self.clock, descriptors)?;
            anyhow::Ok(ProxyConfig { entrance, ..config })
        };
        if let Some(listen) = self.listen.filter(|listen| self.listeners.is_empty() && listen.port() != 0) {
            return Ok(Proxy::bind(config(listen)?)?);
        }
        let address = self.listen.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |listen| listen.ip());
        let forward_proxy = upstream::forward_proxy(&pair.selected)?;
        for port in listen_port::candidates(&pair.selected, forward_proxy.as_ref()) {
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

    fn ways<'s>(&'s self, plugin: &PluginInPlace<'s>) -> Vec<Way<'s>> {
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

    /// The users with exec plug-ins, each with its listeners.
    fn keeper(&mut self) -> Result<Keeper> {
        let mut keeper = Keeper::default();
        let listeners = std::mem::take(&mut self.listeners);
        for Listener { address, pair, handle } in &listeners {
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

async fn left(mut leaving: watch::Receiver<bool>) {
    leaving.wait_for(|leaving| *leaving).await.ok();
}

/// Waits for the answers to requests already sent. Tasks that have not sent a request stop.
pub(super) async fn learned(learning: &mut JoinSet<()>, leaving: &watch::Sender<bool>) {
    leaving.send_replace(true);
    while learning.join_next().await.is_some() {}
}

/// The environment variable that determines where the private folder is that contains `path`.
pub(super) fn folder_variable(path: &Path, runtime_directory: Option<&Path>) -> &'static str {
    let chosen = runtime_directory.is_some_and(|directory| directory.is_absolute() && path.starts_with(directory));
    if chosen { "XDG_RUNTIME_DIR" } else { "TMPDIR" }
}

/// Creates a private folder, in memory if possible.
pub(super) fn run_folder() -> Result<RunFolder> {
    let (runtime_directory, instead) = (runtime_directory(), std::env::temp_dir());
    let folder =
        RunFolder::create(runtime_directory.as_deref(), &instead).context("cannot create a private folder for this run")?;
    if let Some((why, unused)) = folder.passed_over().zip(runtime_directory) {
        let (unused, instead) = (unused.display(), instead.display());
        print_message(format!("XDG_RUNTIME_DIR is not used: {unused} {why}; the private files of this run are in {instead}"));
    }
    Ok(folder)
}

pub(super) fn runtime_directory() -> Option<PathBuf> {
    std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from)
}
