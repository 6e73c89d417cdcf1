//! All that stands between the clients of one run and their API servers: a listener for each cluster and user, and the files that lead
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

use super::output::{in_words, say};
use super::plugin_users::StandIn;
use super::profiles::Profiles;
use super::upstream_flags::UpstreamFlags;
use super::{listen_port, upstream};
use crate::credential::{CredentialServer, Keeper, PluginUser};
use crate::intake::{Intake, Notice};
use crate::kubeconfig::{
    ClientCertificatePair, ClientEndpoint, Kubeconfig, LeftOut, Pair, Pairs, PluginInPlace, RunFolder, Via, Way,
};
use crate::observing;
use crate::question;
use crate::tap::Clock;
use crate::tap::proxy::{
    Admission, ClientIdentity, Descriptors, Entrance, PrivateAuthority, Proxy, ProxyConfig, ProxyCounts, ProxyError, ProxyHandle,
};

/// The listeners of one run, bound, and serving after [`Self::serve`].
#[derive(Debug)]
pub(super) struct TapSet {
    /// That of the current context is the first.
    listeners: Vec<Listener>,
    left_out: Vec<LeftOut>,
    /// Taken when it is removed.
    folder: Option<RunFolder>,
    kubeconfigs: Vec<PathBuf>,
    /// Bound, and not yet served.
    idle: Vec<Proxy>,
    serving: JoinSet<Result<(), ProxyError>>,
    /// For users with exec plug-ins; taken when it is served.
    credentials: Option<CredentialServer>,
    answering: JoinSet<()>,
    /// Waits for the first client of each API server that is not known yet.
    learning: JoinSet<()>,
    /// Tells those of `learning` that nobody has come to that nobody will.
    leaving: watch::Sender<bool>,
}

/// One listener, for one cluster and user.
#[derive(Debug)]
pub(super) struct Listener {
    /// Where clients connect.
    pub(super) address: SocketAddr,
    /// The cluster, the user, and the contexts that bring them together.
    pub(super) pair: Pair,
    handle: ProxyHandle,
}

impl TapSet {
    /// Binds a listener for each of `pairs`, and writes the files for clients. That of the current context is where `flags` say,
    /// if they do. Clients that come before [`Self::serve`] wait.
    ///
    /// Fails when the current context cannot be served; what hinders another is in [`Self::left_out`].
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

    /// The listeners; that of the current context is the first.
    pub(super) fn listeners(&self) -> &[Listener] {
        &self.listeners
    }

    /// Contexts that no listener serves.
    pub(super) fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The files for clients: ours, and behind it those of the user that a client must be able to write to. One alone can be given by
    /// `--kubeconfig` too.
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

    /// What stands behind the listeners, for [`observing::Observing::start`]. The API server of the current context is asked for its
    /// version, if anybody is.
    pub(super) async fn upstreams(&self, profiles: &Profiles) -> Vec<observing::Upstream> {
        let mut upstreams: Vec<observing::Upstream> = Vec::new();
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
            upstreams.push(observing::Upstream { listener: listener.address, name, path_prefix, profile });
        }
        upstreams
    }

    /// Serves on the present runtime, until [`Self::stop`]. An API server that is not known yet is asked once its first client comes; the
    /// answer goes to `intake`, and so does it when there is none.
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

    /// Looks whether the API server of the current context, which did not answer, refuses connections: then our port does before anybody comes.
    pub(super) fn check_unanswering(&self, upstreams: &[observing::Upstream], profiles: &Profiles) {
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
                    // A client that came just before the end counts.
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

    /// Removes the files for clients, accepts nobody any more, waits until all connections are over or `grace` is, and returns the last totals.
    pub(super) async fn stop(mut self, grace: Duration) -> Result<ProxyCounts> {
        if let Some(Err(error)) = self.folder.take().map(RunFolder::remove) {
            say(format!("the private folder of this run could not be removed: {error}"));
        }
        // One that was never served would never be finished.
        self.idle.clear();
        let stops: Vec<_> = self.listeners.iter().map(|listener| listener.handle.stop(grace)).collect();
        for stopped in stops {
            stopped.await;
        }
        // They hold the intake, whose end the observing thread waits for.
        let asked_already = learned(&mut self.learning, &self.leaving);
        if timeout(question::LIMIT, asked_already).await.is_err() {
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

/// What is bound so far, and what each listener is made from.
struct Binding<'a> {
    listen: Option<SocketAddr>,
    via: Via,
    intake: &'a Intake,
    clock: Clock,
    descriptors: &'a Descriptors,
    authority: Arc<PrivateAuthority>,
    ca_pem: String,
    /// Who is let in as a user with a client certificate of its own, by the user's name.
    holders: BTreeMap<Option<String>, Holder>,
    listeners: Vec<Listener>,
    idle: Vec<Proxy>,
    left_out: Vec<LeftOut>,
}

/// An authority that issues for one user only, so that nobody gets in under another's certificate.
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

    /// Binds the next listener. Only the first one's failure is a failure of all.
    fn add(&mut self, pair: Pair) -> Result<()> {
        match self.bind(&pair) {
            Ok(proxy) => {
                self.listeners.push(Listener { address: proxy.local_addr(), pair, handle: proxy.handle() });
                self.idle.push(proxy);
                Ok(())
            }
            Err(error) if self.listeners.is_empty() => Err(error),
            Err(error) => {
                self.left_out.push(LeftOut { contexts: pair.contexts, why: in_words(&error) });
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

/// Waits for the answers to the questions that were asked; those that were not asked yet are not.
pub(super) async fn learned(learning: &mut JoinSet<()>, leaving: &watch::Sender<bool>) {
    leaving.send_replace(true);
    while learning.join_next().await.is_some() {}
}

/// The variable that says where the private folder is, of which `path` is a part.
pub(super) fn folder_variable(path: &Path, runtime_directory: Option<&Path>) -> &'static str {
    let chosen = runtime_directory.is_some_and(|directory| directory.is_absolute() && path.starts_with(directory));
    if chosen { "XDG_RUNTIME_DIR" } else { "TMPDIR" }
}

/// A private folder, in memory where there is such a place.
pub(super) fn run_folder() -> Result<RunFolder> {
    let (runtime_directory, instead) = (runtime_directory(), std::env::temp_dir());
    let folder =
        RunFolder::create(runtime_directory.as_deref(), &instead).context("cannot create a private folder for this run")?;
    if let Some((why, unused)) = folder.passed_over().zip(runtime_directory) {
        let (unused, instead) = (unused.display(), instead.display());
        say(format!("XDG_RUNTIME_DIR is not used: {unused} {why}; the private files of this run are in {instead}"));
    }
    Ok(folder)
}

pub(super) fn runtime_directory() -> Option<PathBuf> {
    std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from)
}
