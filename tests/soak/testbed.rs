//! The setup of the soak test: servers, hops, watchtap and clients, with the conditions that always hold.

use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use observer_tests::{
    CacheClient, CacheProcess, Client, ClientGo, Cluster, ComparedHops, HttpVersion, Listening, Options, ProcessUsage, RunSession,
    Tally, TcpHop, client_token,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::churn::Churn;
use super::repeated::Repeated;
use super::rough_clients::visitor;

const NAMESPACE: &str = "soak";
/// Number and size in bytes of the static objects. One list of all exceeds the observation queue of one connection.
const OBJECTS: usize = 50;
const SIZE: usize = 100_000;
/// Users of the short-lived clients.
const VISITOR: usize = 60;
const REQUESTER: usize = 61;
/// Limit of resident memory in bytes, under any load. Half of it is for queued observations: 64 MiB and a reserve of 32 MiB.
const MOST_MEMORY: u64 = 192 << 20;

/// The clients that keep a copy of the config maps.
const CLIENTS: [CacheClient; 6] = [
    CacheClient::Informer(ClientGo::V0_37, HttpVersion::Two),
    CacheClient::Informer(ClientGo::V0_37, HttpVersion::One),
    CacheClient::Informer(ClientGo::V0_26, HttpVersion::Two),
    CacheClient::Informer(ClientGo::V0_18, HttpVersion::Two),
    CacheClient::Informer(ClientGo::V0_15, HttpVersion::One),
    CacheClient::KubeRs,
];

/// A side of watchtap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Clients,
    Server,
}

/// Servers, hops, watchtap and clients; dropping it stops everything.
#[derive(Debug)]
pub(crate) struct Testbed {
    pub(crate) clients: Vec<CacheProcess>,
    visitor: Option<Repeated>,
    churn: Option<Churn>,
    pub(crate) hops: ComparedHops,
    /// The hop that clients connect to.
    pub(crate) front: Listening,
    of_clients: TcpHop,
    of_server: TcpHop,
    watchtap: RunSession,
    pub(crate) cluster: Cluster,
    /// Descriptors of an idle watchtap without clients.
    descriptors: usize,
    markers: u32,
    folder: TempDir,
}

/// The output of a finished soak.
#[derive(Debug)]
pub(crate) struct Remains {
    pub(crate) report: Value,
    /// Number of `--events` lines that end a request or a watch.
    pub(crate) ends: u64,
    pub(crate) capture: PathBuf,
    /// Keeps the files until this value is dropped.
    pub(crate) _folder: TempDir,
}

impl Testbed {
    /// Starts everything and waits until each client has all objects.
    pub(crate) fn set() -> Result<Self> {
        // A draining API server lets watches run this long.
        let api_server_arguments = vec!["--request-timeout=10s".to_owned()];
        let cluster = Cluster::start(&Options { api_server_arguments, ..Options::default() })?;
        cluster.create_configmaps(NAMESPACE, 0)?;
        fill(&cluster.client_for_bulk()?)?;
        let folder = tempfile::tempdir()?;
        let hops = ComparedHops::start(cluster.socket_address(), cluster.ca_pem())?;
        let of_server = TcpHop::start(hops.behind().address)?;
        let original = cluster.kubeconfig_of_client(0, &https(of_server.address()), &hops.behind().authority)?;
        let watchtap = start_watchtap(&original, cluster.version(), folder.path())?;
        let listening = watchtap.listening()?;
        let of_clients = TcpHop::start(listening.address)?;
        let front = hops.start_before(of_clients.address(), &listening.authority)?;
        let mut testbed = Self {
            clients: Vec::new(),
            visitor: None,
            churn: None,
            hops,
            front,
            of_clients,
            of_server,
            watchtap,
            cluster,
            descriptors: 0,
            markers: 0,
            folder,
        };
        testbed.descriptors = testbed.idle_descriptors()?;
        testbed.clients = (0..CLIENTS.len()).map(|index| testbed.start_client(index)).collect::<Result<_>>()?;
        testbed.all_have_the_next_write()?;
        testbed.churn = Some(Churn::start(testbed.cluster.client(), configmaps()));
        testbed.visitor = Some(visitor(testbed.client_of(VISITOR)?, &configmaps()));
        Ok(testbed)
    }

    /// Starts the client at this index of `CLIENTS`.
    pub(crate) fn start_client(&self, index: usize) -> Result<CacheProcess> {
        let client = CLIENTS.get(index).context("there are not so many clients")?;
        let kubeconfig = self.cluster.kubeconfig_of_client(index + 1, &https(self.front.address), &self.front.authority)?;
        client.start(&kubeconfig, NAMESPACE)
    }

    /// A client for single requests through watchtap.
    pub(crate) fn client(&self) -> Result<Client> {
        self.client_of(REQUESTER)
    }

    fn client_of(&self, number: usize) -> Result<Client> {
        Client::of_server(&https(self.front.address), &self.front.authority, &client_token(number))
    }

    pub(crate) fn network(&self, side: Side) -> &TcpHop {
        match side {
            Side::Clients => &self.of_clients,
            Side::Server => &self.of_server,
        }
    }

    pub(crate) fn changes(&self) -> u64 {
        self.churn.as_ref().map(Churn::changes).unwrap_or_default()
    }

    pub(crate) fn watchtap(&self) -> &RunSession {
        &self.watchtap
    }

    /// Waits until all caching clients have a new object, and checks traffic, descriptors and memory. Returns watchtap's usage at
    /// rest.
    pub(crate) fn settle(&mut self) -> Result<ProcessUsage> {
        self.all_have_the_next_write()?;
        self.check_traffic()?;
        self.descriptors_add_up()?;
        let usage = self.usage_at_rest()?;
        ensure!(usage.resident < MOST_MEMORY, "watchtap holds {} bytes", usage.resident);
        Ok(usage)
    }

    /// Waits until watchtap uses less than a tenth of a processor: by then it has observed everything.
    fn usage_at_rest(&self) -> Result<ProcessUsage> {
        const SPAN: Duration = Duration::from_millis(500);
        let mut before = self.watchtap.usage()?;
        let rests = eventually(|| {
            sleep(SPAN);
            let now = self.watchtap.usage()?;
            let worked = now.processor_time.saturating_sub(before.processor_time);
            before = now;
            Ok(worked < SPAN / 10)
        })?;
        ensure!(rests, "watchtap does not come to rest");
        Ok(before)
    }

    /// Fails if the hops found a deviation.
    pub(crate) fn check_traffic(&self) -> Result<()> {
        self.hops.tally().wrong.map_or(Ok(()), |wrong| bail!("{wrong}"))
    }

    /// Stops the clients, waits until no socket is open, and shuts watchtap down.
    pub(crate) fn finish(mut self) -> Result<(Tally, Remains)> {
        self.visitor = None;
        self.churn = None;
        self.clients.clear();
        let settled = eventually(|| Ok(self.hops.sockets() == 0))?;
        ensure!(settled, "{} sockets with nobody behind them", self.hops.sockets());
        self.descriptors_add_up()?;
        self.check_traffic()?;
        let report = self.watchtap.finish()?;
        let events = std::fs::read_to_string(self.folder.path().join(EVENTS))?;
        let is_an_end = |line: &&str| line.contains(r#""event":"request""#) || line.contains(r#""event":"watch-ended""#);
        let ends = events.lines().filter(is_an_end).count() as u64;
        let tally = self.hops.tally();
        Ok((tally, Remains { report, ends, capture: self.folder.path().join(CAPTURE), _folder: self.folder }))
    }

    fn all_have_the_next_write(&mut self) -> Result<()> {
        self.markers += 1;
        let object = json!({"metadata": {"name": format!("marker-{}", self.markers)}});
        let made = self.cluster.client().post(&configmaps(), &object)?.success()?.json()?;
        let version = made["metadata"]["resourceVersion"].as_str().context("an object has a version")?;
        for (client, process) in CLIENTS.iter().zip(&mut self.clients) {
            process.has(version).with_context(|| format!("{client} does not know of version {version}"))?;
        }
        Ok(())
    }

    /// The descriptor count after one client has come and left; it must be stable for one second.
    fn idle_descriptors(&self) -> Result<usize> {
        const LOOKS: u32 = 20;
        self.client()?.get("/version")?;
        let (mut count, mut looks) = (0, 0);
        let settled = eventually(|| {
            let now = self.watchtap.usage()?.descriptors;
            (count, looks) = (now, if now == count && self.hops.sockets() == 0 { looks + 1 } else { 0 });
            Ok(looks == LOOKS)
        })?;
        ensure!(settled, "nobody comes and nobody leaves, and {count} descriptors are not all");
        Ok(count)
    }

    /// Waits until watchtap has only its idle descriptors and its end of each socket that the hops hold.
    fn descriptors_add_up(&self) -> Result<()> {
        let (mut held, mut expected) = (0, 0);
        let settled = eventually(|| {
            (held, expected) = (self.watchtap.usage()?.descriptors, self.descriptors + self.hops.sockets());
            Ok(held == expected)
        })?;
        ensure!(settled, "watchtap has {held} descriptors open, and {expected} have a reason");
        Ok(())
    }
}

const EVENTS: &str = "events.jsonl";
const CAPTURE: &str = "capture";

fn fill(client: &Client) -> Result<()> {
    (0..OBJECTS).try_for_each(|number| {
        let object = json!({"metadata": {"name": format!("cm-{number}")}, "data": {"filling": "x".repeat(SIZE)}});
        client.post(&configmaps(), &object)?.success().map(drop)
    })
}

/// Disables watchtap's own requests, because the hops cannot distinguish their connections from those of clients.
fn start_watchtap(kubeconfig: &Path, version: &str, folder: &Path) -> Result<RunSession> {
    let text = |path: &Path| path.to_str().map(str::to_owned).context("the folder has a plain name");
    let (events, capture) = (text(&folder.join(EVENTS))?, text(&folder.join(CAPTURE))?);
    let recording = ["--events", &events, "--capture", &capture, "--capture-max-size", "4GiB"];
    let own = ["--quiet", "--server-version", version, "--no-metrics-request"];
    RunSession::start(kubeconfig, &[own.as_slice(), &recording].concat())
}

/// Polls until it is true; false after 30 s.
fn eventually(mut is_so: impl FnMut() -> Result<bool>) -> Result<bool> {
    const WITHIN: Duration = Duration::from_secs(30);
    const PAUSE: Duration = Duration::from_millis(50);
    let began = Instant::now();
    loop {
        if is_so()? {
            return Ok(true);
        }
        if began.elapsed() > WITHIN {
            return Ok(false);
        }
        sleep(PAUSE);
    }
}

/// API path of the soak's config maps.
pub(crate) fn configmaps() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps")
}

fn https(address: std::net::SocketAddr) -> String {
    format!("https://{address}")
}
