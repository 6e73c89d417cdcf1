//! The listeners of one run, one for each cluster and user, and the kubeconfig copy with which clients connect to them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::ListenerOptions;
use super::binding::Binding;
use super::listener::Listener;
use super::private_folder::{folder_variable, private_folder, runtime_directory};
use super::stand_in::StandIn;
use crate::api_server::{ProfileSource, UpstreamId, request};
use crate::credential::CredentialServer;
use crate::intake::{Intake, Notice};
use crate::kubeconfig::{Kubeconfig, LeftOut, Pairs, RunFolder};
use crate::pipeline;
use crate::printable::print_message;
use crate::tap::Clock;
use crate::tap::proxy::{Descriptors, Proxy, ProxyCounts, ProxyError};

/// The listeners of one run, and the files for clients. The listeners are bound, but serve only after [`Self::serve`].
#[derive(Debug)]
pub(crate) struct TapSet {
    /// The first one is the current context's.
    listeners: Vec<Listener>,
    left_out: Vec<LeftOut>,
    /// The private folder; `None` after its removal.
    folder: Option<RunFolder>,
    kubeconfigs: Vec<PathBuf>,
    /// Proxies that are bound, but do not serve yet.
    idle: Vec<Proxy>,
    serving: JoinSet<Result<(), ProxyError>>,
    /// The server for users with exec plugins. `None` if there are no such users, and after it was started.
    credentials: Option<CredentialServer>,
    answering: JoinSet<()>,
    /// Tasks that wait for the first client of an API server with an unknown profile, and then learn the profile.
    learning: JoinSet<()>,
    /// Becomes true at shutdown. Tasks in `learning` whose server has had no client then stop.
    leaving: watch::Sender<bool>,
}

impl TapSet {
    /// Binds a listener for each of `pairs`, and writes the files for clients. The listener of the current context gets the address
    /// in `options`, if there is one. Clients that connect before [`Self::serve`] wait.
    ///
    /// Fails if the current context cannot be served. For other contexts, [`Self::left_out`] has the reason.
    pub(super) fn bind(
        kubeconfig: &Kubeconfig,
        pairs: Pairs,
        options: ListenerOptions,
        intake: &Intake,
        clock: Clock,
        descriptors: &Descriptors,
    ) -> Result<Self> {
        let mut binding = Binding::new(options, intake, clock, descriptors, pairs.left_out)?;
        for pair in pairs.served {
            binding.add(pair)?;
        }
        let folder = private_folder()?;
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
    pub(crate) fn listeners(&self) -> &[Listener] {
        &self.listeners
    }

    /// Contexts that no listener serves.
    pub(crate) fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The kubeconfig files for clients: first the copy, then those files of the user that a client must be able to write to. If
    /// the copy is the only file, clients can also use it with `--kubeconfig`.
    pub(crate) fn kubeconfigs(&self) -> &[PathBuf] {
        &self.kubeconfigs
    }

    /// The value of `KUBECONFIG` for clients.
    pub(crate) fn kubeconfig_variable(&self) -> Result<OsString> {
        std::env::join_paths(&self.kubeconfigs).with_context(|| {
            let variable = self.kubeconfigs.first().map_or("TMPDIR", |own| folder_variable(own, runtime_directory().as_deref()));
            format!(
                "the path of a kubeconfig contains a colon, which KUBECONFIG cannot express; move it, or set {variable} to \
                 another folder"
            )
        })
    }

    /// The API servers behind the listeners, for [`pipeline::Observing::start`]. Only the current context's is asked for its
    /// version here, unless the flags make that unnecessary.
    pub(super) async fn upstreams(&self, profiles: &ProfileSource) -> Vec<pipeline::Upstream> {
        let mut upstreams: Vec<pipeline::Upstream> = Vec::new();
        for listener in &self.listeners {
            let id = listener.upstream;
            if upstreams.iter().any(|upstream| upstream.id == id) {
                continue;
            }
            let selected = &listener.pair.selected;
            // The first listener is the current context's.
            let profile = if upstreams.is_empty() { Some(profiles.learn(selected).await) } else { profiles.without_asking() };
            let (name, path_prefix) = (listener.upstream_name(), selected.upstream.path_prefix.clone());
            upstreams.push(pipeline::Upstream { id, name, path_prefix, profile });
        }
        upstreams
    }

    /// Serves on the current runtime until [`Self::stop`]. An API server with an unknown profile is asked when its first client
    /// connects. The profile goes to `intake`, even if the server does not answer.
    pub(super) fn serve(&mut self, profiles: &ProfileSource, intake: &Intake, clock: Clock) {
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

    /// If the current context's API server did not answer, checks whether it refuses connections. If so, its listener refuses
    /// connections from the start.
    pub(super) fn check_unanswering(&self, upstreams: &[pipeline::Upstream], profiles: &ProfileSource) {
        let is_unknown =
            upstreams.first().and_then(|first| first.profile.as_ref()).is_some_and(|profile| profile.version.is_none());
        if let Some(first) = self.listeners.first().filter(|_| is_unknown && profiles.without_asking().is_none()) {
            first.handle.check_upstream();
        }
    }

    fn learn_later(&mut self, profiles: &ProfileSource, intake: &Intake, clock: Clock) {
        let current = self.listeners.first().map(|listener| listener.upstream);
        let mut asked: BTreeMap<UpstreamId, Arc<AtomicBool>> = BTreeMap::new();
        for listener in self.listeners.iter().filter(|listener| Some(listener.upstream) != current) {
            let upstream = listener.upstream;
            let asked = Arc::clone(asked.entry(upstream).or_default());
            let (selected, handle) = (listener.pair.selected.clone(), listener.handle.clone());
            let (profiles, intake) = (profiles.clone(), intake.clone());
            let left = left(self.leaving.subscribe());
            self.learning.spawn(async move {
                tokio::select! {
                    // `biased`: a client that connected just before shutdown counts.
                    biased;
                    () = handle.first_client() => {}
                    () = left => return,
                }
                if !asked.swap(true, Ordering::Relaxed) {
                    let profile = Box::new(profiles.learn(&selected).await);
                    intake.notice(Notice::Profile { at: clock.now(), upstream, profile });
                }
            });
        }
    }

    /// Totals over all listeners.
    pub(crate) fn counts(&self) -> ProxyCounts {
        self.listeners.iter().map(|listener| listener.handle.counts()).sum()
    }

    /// Removes the files for clients and stops accepting clients. Waits until all connections have ended or `grace` has passed, and
    /// returns the final totals.
    pub(super) async fn stop(mut self, grace: Duration) -> Result<ProxyCounts> {
        if let Some(Err(error)) = self.folder.take().map(RunFolder::remove) {
            print_message(format!("the private folder of this run could not be removed: {error}"));
        }
        // A proxy that never served would never finish.
        self.idle.clear();
        let stops: Vec<_> = self.listeners.iter().map(|listener| listener.handle.stop(grace)).collect();
        for stopped in stops {
            stopped.await;
        }
        // These tasks have clones of the intake, and the observing thread ends only when all clones are dropped.
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

async fn left(mut leaving: watch::Receiver<bool>) {
    leaving.wait_for(|leaving| *leaving).await.ok();
}

/// Stops the tasks that have not sent a request yet, and waits for those that wait for an answer.
pub(super) async fn learned(learning: &mut JoinSet<()>, leaving: &watch::Sender<bool>) {
    leaving.send_replace(true);
    while learning.join_next().await.is_some() {}
}
