//! Tests that the probe and the proxy report the same events for the same clients.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use observer_tests::{
    Act, CacheClient, CacheProcess, ClientGo, Cluster, HttpHop, HttpVersion, ListForm, Listening, Minor, Of, Options, ProbeSession,
    RunSession, Scripted, ScriptedReply,
};
use rustix::process::Signal;
use serde_json::json;
use tempfile::TempDir;

use super::event_streams::EventStreams;
use super::losses::losses;
use super::watchers::Watcher;

const NAMESPACE: &str = "streams";
/// Limit of every wait.
const WITHIN: Duration = Duration::from_mins(1);
/// Maximum time after the exit of a process until all of its events are reported.
const REPORTED_WITHIN: Duration = Duration::from_millis(500);

/// The API server, a hop that injects faults in front of it, and the proxy in front of that. The probe looks for connections to the
/// proxy.
struct Stage {
    run: RunSession,
    probe: ProbeSession,
    front: Listening,
    hop: HttpHop,
    cluster: Cluster,
    folder: TempDir,
    markers: usize,
}

/// A client of any kind.
#[derive(Clone, Copy, Debug)]
enum Client {
    Cache(CacheClient),
    Watcher(Watcher),
}

impl Client {
    fn all() -> Vec<Self> {
        let both = [HttpVersion::Two, HttpVersion::One];
        let informers = both.map(|http| Self::Cache(CacheClient::Informer(ClientGo::V0_37, http)));
        let kubectls = both.map(|http| Self::Cache(CacheClient::Kubectl(http)));
        informers.into_iter().chain(kubectls).chain(Watcher::ALL.map(Self::Watcher)).collect()
    }

    fn reopens_watches(self) -> bool {
        matches!(self, Self::Cache(client) if client.reopens_watches())
    }
}

#[test]
fn probe_emits_the_events_of_the_proxy() {
    let mut stage = Stage::set();
    stage.let_each_program_be_found();
    let mut observed = BTreeSet::new();
    for (number, client) in Client::all().into_iter().enumerate() {
        let mut alone = stage.enter(number, client);
        // It may have all objects from a list. This write makes sure that nothing is in flight when it exits.
        stage.write_to(&mut [&mut alone]);
        observed.insert(alone.id());
        leave(alone);
    }
    let clients = Client::all();
    let mut together: Vec<(Client, CacheProcess)> =
        clients.iter().enumerate().map(|(number, client)| (*client, stage.enter(number, *client))).collect();
    observed.extend(together.iter().map(|(_, process)| process.id()));
    stage.update(10_000);
    stage.write_to(&mut together.iter_mut().map(|(_, process)| process).collect::<Vec<_>>());

    // Clients that do not start a new watch exit.
    stage.hop.happen(Act::ExpireWatches);
    let (mut informers, watchers): (Vec<_>, Vec<_>) = together.into_iter().partition(|(client, _)| client.reopens_watches());
    for (_, mut process) in watchers {
        process.read_to_end();
    }
    let write_to_informers = |stage: &mut Stage, informers: &mut Vec<(Client, CacheProcess)>| {
        stage.write_to(&mut informers.iter_mut().map(|(_, process)| process).collect::<Vec<_>>());
    };
    write_to_informers(&mut stage, &mut informers);
    stage.hop.script(Some(Scripted { of: Of::Watches, answer: ScriptedReply::InternalError, times: 1 }));
    stage.hop.happen(Act::EndWatches);
    write_to_informers(&mut stage, &mut informers);
    stage.hop.script(None);
    stage.hop.happen(Act::BreakWatches);
    write_to_informers(&mut stage, &mut informers);
    // The write before may have arrived in a list. This one arrives on a watch, so nothing is in flight when they exit.
    write_to_informers(&mut stage, &mut informers);
    for (_, process) in informers {
        leave(process);
    }

    let (proxied, probed) = stage.end(&observed);
    let causes = proxied.causes();
    assert!(causes.len() >= 3, "provoked causes: {causes:?}");
    assert!(proxied.watch_events() > 10_000 * Client::all().len() as u64, "{} events", proxied.watch_events());
    let differences = proxied.differences(&probed);
    assert!(differences.is_empty(), "the proxy tells +, and the probe -:\n{}", differences.join("\n"));
}

impl Stage {
    fn set() -> Self {
        // Otherwise, the API server would write its lease at any time.
        let quiet = vec!["--feature-gates=APIServerIdentity=false".to_owned()];
        let cluster =
            Cluster::start(&Options { minor: Minor::DEFAULT, api_server_arguments: quiet, ..Options::default() }).unwrap();
        cluster.create_configmaps(NAMESPACE, 10).unwrap();
        let hop = HttpHop::start(cluster.socket_address(), cluster.ca_pem()).unwrap();
        let original = cluster.kubeconfig_of_client(0, &format!("https://{}", hop.address()), hop.ca_pem()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let flags = |name: &str| {
            let file = folder.path().join(name).to_str().unwrap().to_owned();
            ["--quiet", "--events", &file, "--server-version", cluster.version()].map(str::to_owned)
        };
        let (proxied, probed) = (flags("proxy"), flags("probe"));
        let run =
            RunSession::start(&original, &[&proxied.each_ref().map(String::as_str)[..], &["--grace", "0s"]].concat()).unwrap();
        let front = run.listening().unwrap();
        let probe = ProbeSession::start(front.address, Path::new("/nonexistent"), &probed.each_ref().map(String::as_str)).unwrap();
        Self { run, probe, front, hop, cluster, folder, markers: 0 }
    }

    /// Runs each program once, so that the probe finds it: the probe misses the beginning of the first process of a new program.
    fn let_each_program_be_found(&mut self) {
        for client in Client::all() {
            let began = Instant::now();
            loop {
                let mut process = self.start(20, client);
                self.write_to(&mut [&mut process]);
                let pid = process.id();
                leave(process);
                if self.has_reported(pid) {
                    break;
                }
                let output = || (self.probe.lines(), std::fs::read_to_string(self.events("probe")));
                assert!(began.elapsed() < WITHIN, "{client:?} is not seen: {:#?}", output());
            }
        }
    }

    /// Whether the probe has reported a request of the process. It reads its records 50 times a second.
    fn has_reported(&self, process: u32) -> bool {
        let left = Instant::now();
        while !EventStreams::read(&self.events("probe"), &BTreeSet::from([process])).has_requests() {
            if left.elapsed() > REPORTED_WITHIN {
                return false;
            }
            sleep(Duration::from_millis(20));
        }
        true
    }

    /// Starts an observed client and waits until it has all objects.
    fn enter(&mut self, number: usize, client: Client) -> CacheProcess {
        let mut process = self.start(number, client);
        self.write_to(&mut [&mut process]);
        process
    }

    fn start(&self, number: usize, client: Client) -> CacheProcess {
        let server = format!("https://{}", self.front.address);
        let kubeconfig = self.cluster.kubeconfig_of_client(number + 1, &server, &self.front.authority).unwrap();
        match client {
            Client::Cache(client @ CacheClient::Kubectl(_)) => client.start(&kubeconfig, NAMESPACE).unwrap(),
            Client::Cache(client) => client.start_as(&format!("player-{number}"), ListForm::Plain, &kubeconfig, NAMESPACE).unwrap(),
            Client::Watcher(watcher) => {
                watcher.start(&self.front, self.cluster.admin_token(), NAMESPACE, self.folder.path()).unwrap()
            }
        }
    }

    /// Writes an object and waits until all these processes have it.
    fn write_to(&mut self, processes: &mut [&mut CacheProcess]) {
        self.markers += 1;
        let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
        let object = json!({"metadata": {"name": format!("marker-{}", self.markers)}});
        let made = self.cluster.client().post(&path, &object).unwrap().success().unwrap().json().unwrap();
        let version = made["metadata"]["resourceVersion"].as_str().unwrap();
        for process in processes {
            process.has(version).unwrap();
        }
    }

    /// Updates one object this many times.
    fn update(&self, times: usize) {
        let client = self.cluster.client_for_bulk().unwrap();
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

    /// The events of these processes, from the proxy and from the probe.
    fn end(self, observed: &BTreeSet<u32>) -> (EventStreams, EventStreams) {
        let (proxied, probed) = (self.events("proxy"), self.events("probe"));
        let Self { run, probe, folder, .. } = self;
        let left = probe.finish().unwrap();
        assert_eq!(losses(&left.report), Vec::<String>::new());
        run.finish().unwrap();
        let streams = (EventStreams::read(&proxied, observed), EventStreams::read(&probed, observed));
        drop(folder);
        streams
    }
}

fn leave(mut process: CacheProcess) {
    process.signal(Signal::TERM).unwrap();
    process.read_to_end();
}
