//! The API server, a hop that injects faults in front of it, and the proxy in front of that. The clients connect to the proxy.

use std::fs;
use std::path::{Path, PathBuf};

use observer_tests::{CacheProcess, Cluster, HttpHop, Listening, Minor, Options, ProbeSession, RunSession, ServerAccess};
use serde_json::json;
use tempfile::TempDir;

use super::losses::losses;
use super::stream_clients::{Client, NAMESPACE, leave};

/// The number of config maps at the start.
const CONFIG_MAPS: usize = 10;
/// The user of the proxy, and the first number of clients that are not observed.
const OF_PROXY: usize = 0;
const NOT_OBSERVED: usize = 30;

/// All servers, and the files of events.
pub(crate) struct StreamStage {
    pub(crate) hop: HttpHop,
    run: RunSession,
    front: Listening,
    access: ServerAccess,
    folder: TempDir,
    /// Dropped last. There is none if the API server was given.
    _cluster: Option<Cluster>,
}

/// A cluster with the config maps of the clients.
pub(crate) fn stream_cluster() -> Cluster {
    // Otherwise, the API server would write its lease at any time.
    let quiet = vec!["--feature-gates=APIServerIdentity=false".to_owned()];
    let cluster = Cluster::start(&Options { minor: Minor::DEFAULT, api_server_arguments: quiet, ..Options::default() }).unwrap();
    cluster.create_configmaps(NAMESPACE, CONFIG_MAPS).unwrap();
    cluster
}

impl StreamStage {
    /// With the API server of [`ServerAccess::given`], or one of its own.
    pub(crate) fn set() -> Self {
        let cluster = ServerAccess::given().unwrap().is_none().then(stream_cluster);
        let access = cluster.as_ref().map_or_else(|| ServerAccess::given().unwrap().unwrap(), ServerAccess::to);
        let hop = HttpHop::start(access.address(), access.authority()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let original = folder.path().join("kubeconfig-of-proxy");
        let url = format!("https://{}", hop.address());
        fs::write(&original, access.kubeconfig_of_client(OF_PROXY, &url, hop.ca_pem()).unwrap()).unwrap();
        let flags = flags_of(&folder.path().join("proxy"), &access);
        let run = RunSession::start(&original, &[&flags.each_ref().map(String::as_str)[..], &["--grace", "0s"]].concat()).unwrap();
        let front = run.listening().unwrap();
        Self { hop, run, front, access, folder, _cluster: cluster }
    }

    /// Starts a probe with these further flags. It sees the clients from their first bytes on: their programs are known to it, because each
    /// runs meanwhile.
    pub(crate) fn probe(&self, clients: &[Client], more: &[&str]) -> ProbeSession {
        let numbered = clients.iter().enumerate();
        let mut running: Vec<CacheProcess> = numbered.map(|(number, client)| self.start(NOT_OBSERVED + number, *client)).collect();
        self.write_to(&mut running.iter_mut().collect::<Vec<_>>());
        let flags = flags_of(&self.events("probe"), &self.access);
        let flags = [&flags.each_ref().map(String::as_str)[..], more].concat();
        let probe = ProbeSession::start(self.front.address, Path::new("/nonexistent"), &flags).unwrap();
        running.into_iter().for_each(leave);
        probe
    }

    /// Starts an observed client, and waits until it has all objects.
    pub(crate) fn enter(&self, number: usize, client: Client) -> CacheProcess {
        let mut process = self.start(number + 1, client);
        self.write_to(&mut [&mut process]);
        process
    }

    fn start(&self, number: usize, client: Client) -> CacheProcess {
        client.start(number, &self.front, &self.access, self.folder.path()).unwrap()
    }

    /// Writes an object and waits until all these processes have it.
    pub(crate) fn write_to(&self, processes: &mut [&mut CacheProcess]) {
        let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
        let object = json!({"metadata": {"generateName": "marker-"}});
        let made = self.access.client_for_bulk().unwrap().post(&path, &object).unwrap().success().unwrap().json().unwrap();
        let version = made["metadata"]["resourceVersion"].as_str().unwrap();
        for process in processes {
            process.has(version).unwrap();
        }
    }

    /// Updates one object this many times.
    pub(crate) fn update(&self, times: usize) {
        let client = self.access.client_for_bulk().unwrap();
        let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/cm-0");
        for number in 0..times {
            let change = json!({"data": {"number": number.to_string()}}).to_string();
            let patched = client.raw("PATCH", &path, &[("Content-Type", "application/merge-patch+json")], change.as_bytes());
            patched.unwrap().success().unwrap();
        }
    }

    fn events(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Ends the probe, which must have lost nothing, and the proxy.
    pub(crate) fn end(self, probe: ProbeSession) -> RecordedStreams {
        let left = probe.finish().unwrap();
        assert_eq!(losses(&left.report), Vec::<String>::new());
        let (proxied, probed) = (self.events("proxy"), self.events("probe"));
        self.run.finish().unwrap();
        RecordedStreams { proxied, probed, _folder: self.folder }
    }
}

/// The files of events.
pub(crate) struct RecordedStreams {
    pub(crate) proxied: PathBuf,
    pub(crate) probed: PathBuf,
    _folder: TempDir,
}

fn flags_of(events: &Path, access: &ServerAccess) -> [String; 5] {
    ["--quiet", "--events", &events.display().to_string(), "--server-version", access.version()].map(str::to_owned)
}
