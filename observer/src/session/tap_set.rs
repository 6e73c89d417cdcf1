//! The listeners of one run, one for each cluster and user or for each container, and the files that lead clients to them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use anyhow::{Context, Result};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::ListenerOptions;
use super::binding::{Binding, Shared, Surroundings};
use super::client_files::ClientFiles;
use super::listener::Listener;
use super::pod::{self, ClusterCa, ContainerPort, Folder, Trust};
use super::shutdown::Shutdown;
use super::troubles::troubles;
use crate::api_server::{ProfileSource, ServiceInPod, UpstreamId, request};
use crate::bounded_file;
use crate::intake::{Intake, Notice};
use crate::kubeconfig::{Kubeconfig, LeftOut, Pair, Pairs, Via};
use crate::pipeline;
use crate::pod_layout::{OWN, SERVICE_ACCOUNT, TRUST};
use crate::tap::Clock;
use crate::tap::proxy::{Proxy, ProxyCounts, ProxyError, ProxyHandle};
use observer_pki::PrivateAuthority;

/// The listeners of one run, and the files for clients. The listeners are bound, but serve only after [`Self::serve`].
#[derive(Debug)]
pub(crate) struct TapSet {
    /// With a kubeconfig, the first one is the current context's.
    listeners: Vec<Listener>,
    left_out: Vec<LeftOut>,
    files: ClientFiles,
    /// The API server that is asked for its version before clients are served, so that the user sees at once which cluster is
    /// used. Other servers are asked when their first client connects.
    asked_first: Option<UpstreamId>,
    /// Proxies that are bound, but do not serve yet.
    idle: Vec<Proxy>,
    serving: JoinSet<Result<(), ProxyError>>,
    /// The task that keeps `files` up to date.
    upkeep: JoinSet<()>,
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
    pub(super) fn for_kubeconfig(
        kubeconfig: &Kubeconfig,
        pairs: Pairs,
        options: ListenerOptions,
        surroundings: Surroundings<'_>,
    ) -> Result<Self> {
        let ListenerOptions { address, via } = options;
        let authority = Arc::new(PrivateAuthority::generate()?);
        let mut binding = Binding::new(Shared { surroundings, authority, names: Vec::new(), via });
        binding.left_out = pairs.left_out;
        for pair in pairs.served {
            binding.add(pair, address)?;
        }
        let files = ClientFiles::kubeconfig(kubeconfig, &mut binding)?;
        let asked_first = binding.listeners.first().map(|listener| listener.upstream);
        Ok(Self::of(binding, files, asked_first))
    }

    /// Binds a listener for each of `containers`, all of which lead to the API server of this pod, and writes the files for their
    /// clients. Clients that connect before [`Self::serve`] wait.
    pub(super) fn in_pod(
        service: &ServiceInPod,
        containers: &[ContainerPort],
        with_service_ca: bool,
        surroundings: Surroundings<'_>,
    ) -> Result<Self> {
        ContainerPort::check_upstream(containers, &service.at)?;
        let cluster = ClusterCa::open(&Path::new(SERVICE_ACCOUNT).join("ca.crt"))?;
        let selected = service.selected()?;
        let own = Folder::open(Path::new(OWN), "which keeps the key of this pod's certificate authority")?;
        let folder = Folder::open(Path::new(TRUST), "which containers of this pod see in place of their service account")?;
        let authority = Arc::new(pod::kept_authority(&own, SystemTime::now())?);
        let own_pem = authority.certificate_pem();
        let names = pod::names(&selected.upstream.server_name, &resolv_conf());
        let mut binding = Binding::new(Shared { surroundings, authority, names, via: Via::Server });
        for container in containers {
            let pair = Pair { selected: selected.clone(), contexts: vec![selected.context.clone()] };
            binding.add_container(pair, container)?;
        }
        let trust = Trust::write(folder, own_pem, cluster, with_service_ca)?;
        // No user waits for the version here, and the app must not wait for an API server that does not answer.
        Ok(Self::of(binding, ClientFiles::of_pod(trust), None))
    }

    fn of(binding: Binding<'_>, files: ClientFiles, asked_first: Option<UpstreamId>) -> Self {
        let Binding { listeners, idle, left_out, .. } = binding;
        let (serving, upkeep, learning) = (JoinSet::new(), JoinSet::new(), JoinSet::new());
        let leaving = watch::Sender::new(false);
        Self { listeners, left_out, files, asked_first, idle, serving, upkeep, learning, leaving }
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
        self.files.kubeconfigs()
    }

    /// The value of `KUBECONFIG` for clients.
    pub(crate) fn kubeconfig_variable(&self) -> Result<OsString> {
        self.files.kubeconfig_variable()
    }

    /// The API servers behind the listeners, for [`pipeline::Observing::start`]. Only [`Self::asked_first`] is asked for its
    /// version here, unless the flags make that unnecessary.
    pub(super) async fn upstreams(&self, profiles: &ProfileSource) -> Vec<pipeline::Upstream> {
        let mut upstreams: Vec<pipeline::Upstream> = Vec::new();
        for listener in &self.listeners {
            let id = listener.upstream;
            if upstreams.iter().any(|upstream| upstream.id == id) {
                continue;
            }
            let selected = &listener.pair.selected;
            let is_asked = self.asked_first == Some(id);
            let profile = if is_asked { Some(profiles.learn(selected).await) } else { profiles.without_asking() };
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
        if let Some(upkeep) = self.files.take_upkeep() {
            self.upkeep.spawn(upkeep.run());
        }
        if profiles.without_asking().is_none() {
            self.learn_later(profiles, intake, clock);
        }
    }

    /// Checks whether API servers refuse connections, as far as no answer has shown that they accept them. If one does, its
    /// listeners refuse connections from the start.
    pub(super) fn check_unanswering(&self, upstreams: &[pipeline::Upstream], profiles: &ProfileSource) {
        let Some(first) = self.asked_first else {
            self.listeners.iter().for_each(|listener| listener.handle.check_upstream());
            return;
        };
        let profile = upstreams.iter().find(|upstream| upstream.id == first).and_then(|upstream| upstream.profile.as_ref());
        let is_unknown = profile.is_some_and(|profile| profile.version.is_none());
        if let Some(listener) = self.listeners.first().filter(|_| is_unknown && profiles.without_asking().is_none()) {
            listener.handle.check_upstream();
        }
    }

    fn learn_later(&mut self, profiles: &ProfileSource, intake: &Intake, clock: Clock) {
        let (first, is_in_pod) = (self.asked_first, self.is_in_pod());
        let mut asked: BTreeMap<UpstreamId, Arc<AtomicBool>> = BTreeMap::new();
        for listener in self.listeners.iter().filter(|listener| Some(listener.upstream) != first) {
            let upstream = listener.upstream;
            let asked = Arc::clone(asked.entry(upstream).or_default());
            let (selected, handle) = (listener.pair.selected.clone(), listener.handle.clone());
            let (profiles, intake) = (profiles.clone(), intake.clone());
            let left = left(self.leaving.subscribe());
            self.learning.spawn(async move {
                let mut left = pin!(left);
                tokio::select! {
                    // `biased`: a client that connected just before shutdown counts.
                    biased;
                    () = handle.first_client() => {}
                    () = &mut left => return,
                }
                if asked.swap(true, Ordering::Relaxed) {
                    return;
                }
                let mut states = handle.states();
                let mut profile = profiles.learn(&selected).await;
                loop {
                    let known = profile.version.clone();
                    intake.notice(Notice::Profile { at: clock.now(), upstream, profile: Box::new(profile) });
                    if !is_in_pod {
                        return;
                    }
                    let ask = || profiles.learn_again(&selected, known.as_ref());
                    profile = tokio::select! {
                        profile = pod::next_profile(known.as_ref(), pod::Pauses::USUAL, &mut states, ask) => profile,
                        () = &mut left => return,
                    };
                }
            });
        }
    }

    /// Totals over all listeners.
    pub(crate) fn counts(&self) -> ProxyCounts {
        self.listeners.iter().map(|listener| listener.handle.counts()).sum()
    }

    /// Returns the sentences for the report about clients so far. The function does not delay the end of the run.
    pub(crate) fn notes(&self) -> impl Fn() -> Vec<String> + Send + Sync + use<> {
        let counts: Vec<_> = self.listeners.iter().map(|listener| listener.handle.weak_counts()).collect();
        let is_in_pod = self.is_in_pod();
        move || troubles(&counts.iter().filter_map(|counts| counts()).sum(), is_in_pod)
    }

    /// Whether clients are those of the containers of a pod, which have no kubeconfig.
    fn is_in_pod(&self) -> bool {
        self.listeners.iter().any(|listener| listener.container.is_some())
    }

    /// Removes the private files for clients, and shuts the listeners down. Waits until all connections have ended, and returns the
    /// sentences for the report about all clients.
    pub(super) async fn stop(mut self, shutdown: Shutdown) -> Result<Vec<String>> {
        self.files.remove();
        // A proxy that never served would never finish.
        self.idle.clear();
        let handles: Vec<ProxyHandle> = self.listeners.iter().map(|listener| listener.handle.clone()).collect();
        let grace = shutdown.begun(&handles).await;
        let stops: Vec<_> = handles.iter().map(|handle| handle.stop(grace)).collect();
        for stopped in stops {
            stopped.await;
        }
        // These tasks have clones of the intake, and the observing thread ends only when all clones are dropped.
        let asked_already = learned(&mut self.learning, &self.leaving);
        if timeout(request::LIMIT, asked_already).await.is_err() {
            self.learning.shutdown().await;
        }
        self.upkeep.shutdown().await;
        let troubles = troubles(&self.counts(), self.is_in_pod());
        while let Some(served) = self.serving.join_next().await {
            served.context("the proxy failed")??;
        }
        Ok(troubles)
    }
}

/// The resolver's configuration; empty if it cannot be read.
fn resolv_conf() -> String {
    /// Maximum size of the file in bytes. The kubelet's file takes some hundred.
    const MOST: u64 = 64 << 10;
    bounded_file::read_text(Path::new("/etc/resolv.conf"), MOST).unwrap_or_default()
}

async fn left(mut leaving: watch::Receiver<bool>) {
    leaving.wait_for(|leaving| *leaving).await.ok();
}

/// Stops the tasks that have not sent a request yet, and waits for those that wait for an answer.
pub(super) async fn learned(learning: &mut JoinSet<()>, leaving: &watch::Sender<bool>) {
    leaving.send_replace(true);
    while learning.join_next().await.is_some() {}
}
