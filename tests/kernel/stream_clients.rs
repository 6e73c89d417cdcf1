//! The clients whose streams are compared: each keeps a copy of the config maps of one namespace, and prints what it has.

use std::path::Path;

use anyhow::Result;
use observer_tests::{CacheClient, CacheProcess, ClientGo, HttpVersion, ListForm, Listening, ServerAccess};
use rustix::process::Signal;

use super::watchers::Watcher;

/// The namespace of the config maps.
pub(crate) const NAMESPACE: &str = "streams";
const BOTH: [HttpVersion; 2] = [HttpVersion::Two, HttpVersion::One];

/// A client of any kind.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Client {
    Cache(CacheClient),
    Watcher(Watcher),
}

impl Client {
    /// Those with client-go, Python, curl and node.
    pub(crate) fn all() -> Vec<Self> {
        Self::of_client_go().chain(Watcher::ALL.map(Self::Watcher)).collect()
    }

    /// Those that run in each kernel: all without node.
    pub(crate) fn of_every_kernel() -> Vec<Self> {
        let watchers = [Watcher::Python].into_iter().chain(BOTH.map(Watcher::Curl));
        Self::of_client_go().chain(watchers.map(Self::Watcher)).collect()
    }

    fn of_client_go() -> impl Iterator<Item = Self> {
        let informers = BOTH.map(|http| CacheClient::Informer(ClientGo::V0_37, http));
        informers.into_iter().chain(BOTH.map(CacheClient::Kubectl)).map(Self::Cache)
    }

    /// Its name without a version.
    pub(crate) fn name(self) -> String {
        let (program, http) = match self {
            Self::Cache(CacheClient::Informer(_, http)) => ("client-go", http),
            Self::Cache(CacheClient::Kubectl(http)) => ("kubectl", http),
            Self::Cache(CacheClient::KubeRs) => ("kube-rs", HttpVersion::One),
            Self::Watcher(Watcher::Python) => ("Python", HttpVersion::One),
            Self::Watcher(Watcher::Curl(http)) => ("curl", http),
            Self::Watcher(Watcher::Node(http)) => ("node", http),
        };
        format!("{program}, {}", if http == HttpVersion::One { "HTTP/1.1" } else { "HTTP/2" })
    }

    /// Whether it starts a new watch after its watch ends. The others exit then.
    pub(crate) fn reopens_watches(self) -> bool {
        matches!(self, Self::Cache(client) if client.reopens_watches())
    }

    /// Starts it for a server in front of the API server, as the user with this number. `folder` receives its files.
    pub(crate) fn start(self, number: usize, server: &Listening, access: &ServerAccess, folder: &Path) -> Result<CacheProcess> {
        let client = match self {
            Self::Watcher(watcher) => return watcher.start(server, access.admin_token(), NAMESPACE, folder),
            Self::Cache(client) => client,
        };
        let kubeconfig = folder.join(format!("kubeconfig-{number}"));
        let url = format!("https://{}", server.address);
        std::fs::write(&kubeconfig, access.kubeconfig_of_client(number, &url, &server.authority)?)?;
        match client {
            CacheClient::Kubectl(_) => client.start(&kubeconfig, NAMESPACE),
            CacheClient::Informer(..) | CacheClient::KubeRs => {
                client.start_as(&format!("player-{number}"), ListForm::Plain, &kubeconfig, NAMESPACE)
            }
        }
    }
}

/// Ends a client whose watch is open.
pub(crate) fn leave(mut process: CacheProcess) {
    process.signal(Signal::TERM).unwrap();
    process.read_to_end();
}
