//! The servers, the two routes to them, and the clients on each.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use observer_tests::{
    CacheClient, CacheProcess, Cluster, HttpHop, HttpVersion, Listening, Options, RequestForms, RunSession, TcpHop, client_token,
    client_user, received_uris,
};
use serde_json::{Value, json};

const NAMESPACE: &str = "faults";
const OBJECTS: usize = 20;

/// The route of a client to the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    Direct,
    Watchtap,
}

/// The parts that a fault needs in addition to the common setup.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    pub(crate) api_server_arguments: &'static [&'static str],
    pub(crate) watchtap_arguments: &'static [&'static str],
    /// A hop on each route that breaks connections.
    pub(crate) tcp_hops: bool,
    /// A hop in front of the API server that can answer in its place.
    pub(crate) http_hop: bool,
}

/// The setup of one run of a fault.
#[derive(Debug)]
pub(crate) struct Testbed {
    pub(crate) participants: Vec<Participant>,
    pub(crate) watchtap: RunSession,
    /// The address of watchtap's listener.
    pub(crate) front: SocketAddr,
    /// Empty, or one hop per route.
    hops: Vec<TcpHop>,
    http_hop: Option<HttpHop>,
    pub(crate) cluster: Cluster,
    markers: u32,
}

/// One client process on one route.
#[derive(Debug)]
pub(crate) struct Participant {
    pub(crate) client: CacheClient,
    pub(crate) way: Way,
    number: usize,
    pub(crate) process: CacheProcess,
}

/// The requests and the exit of one client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Behaviour {
    /// The requests that the server received.
    pub(crate) accepted: RequestForms,
    /// The requests that the client attempted, from its own log; kubectl logs none.
    pub(crate) attempted: RequestForms,
    /// The exit status; `None` if the client still runs.
    pub(crate) end: Option<String>,
}

/// The behaviour of one client and its effects on the client.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) client: CacheClient,
    pub(crate) way: Way,
    pub(crate) behaviour: Behaviour,
    /// Number of updates for objects that the client already had in that version.
    pub(crate) spurious: usize,
    /// The client's errors.
    pub(crate) errors: Vec<String>,
}

impl Testbed {
    /// Starts everything and waits until every client has all objects. Nothing writes after that.
    ///
    /// `order` is the order in which the two routes of each client connect: a draining API server ends watches one by one.
    pub(crate) fn set(clients: &[CacheClient], order: [Way; 2], needs: &Needs) -> Result<Self> {
        // By default the API server writes a lease every ten seconds, and then the version of a resuming client would be too old by
        // chance.
        let quiet = ["--feature-gates=APIServerIdentity=false"];
        let api_server_arguments = quiet.iter().chain(needs.api_server_arguments).map(|argument| (*argument).to_owned()).collect();
        let cluster = Cluster::start(&Options { api_server_arguments, ..Options::default() })?;
        cluster.create_configmaps(NAMESPACE, OBJECTS)?;
        let http_hop = needs.http_hop.then(|| HttpHop::start(cluster.socket_address(), cluster.ca_pem())).transpose()?;
        let (server, vouches) = match &http_hop {
            Some(hop) => (hop.address(), hop.ca_pem()),
            None => (cluster.socket_address(), cluster.ca_pem()),
        };
        let hops = if needs.tcp_hops { vec![TcpHop::start(server)?, TcpHop::start(server)?] } else { Vec::new() };
        let through_hop = |way: usize| format!("https://{}", hops.get(way).map_or(server, TcpHop::address));
        let [direct, behind] = [0, 1].map(through_hop);
        let original = cluster.kubeconfig_of_client(0, &behind, vouches)?;
        let arguments: Vec<&str> = ["--quiet"].iter().chain(needs.watchtap_arguments).copied().collect();
        let watchtap = RunSession::start(&original, &arguments)?;
        let Listening { address: front, authority } = watchtap.listening()?;
        let mut participants = Vec::new();
        let both_ways = clients.iter().flat_map(|client| order.map(|way| (*client, way)));
        for (index, (client, way)) in both_ways.enumerate() {
            let number = index + 1;
            let kubeconfig = match way {
                Way::Direct => cluster.kubeconfig_of_client(number, &direct, vouches)?,
                Way::Watchtap => cluster.kubeconfig_of_client(number, &format!("https://{front}"), &authority)?,
            };
            participants.push(Participant { client, way, number, process: client.start(&kubeconfig, NAMESPACE)? });
        }
        let mut testbed = Self { participants, watchtap, front, hops, http_hop, cluster, markers: 0 };
        testbed.all_have_the_next_write()?;
        Ok(testbed)
    }

    /// Applies `what` to the hop of each route.
    pub(crate) fn on_both_ways(&self, what: impl Fn(&TcpHop)) {
        self.hops.iter().for_each(what);
    }

    /// The number of connections on each route; empty without hops.
    pub(crate) fn connections(&self) -> Vec<usize> {
        self.hops.iter().map(TcpHop::accepted).collect()
    }

    /// The hop that can answer in the server's place.
    pub(crate) fn http_hop(&self) -> Result<&HttpHop> {
        self.http_hop.as_ref().context("this fault does not say that it needs the hop")
    }

    /// Writes an object, and waits until all clients have it that survive the end of a watch.
    pub(crate) fn all_have_the_next_write(&mut self) -> Result<()> {
        let version = self.write_marker()?;
        let is_first = self.markers == 1;
        for Participant { client, way, process, .. } in &mut self.participants {
            let known = process.has(&version);
            if client.reopens_watches() || is_first {
                known.with_context(|| format!("{client}, {way:?}, does not know of version {version}"))?;
            }
        }
        Ok(())
    }

    /// Writes an object; returns its resource version.
    fn write_marker(&mut self) -> Result<String> {
        self.markers += 1;
        let object = json!({"metadata": {"name": format!("marker-{}", self.markers)}});
        let made = self.cluster.client().post(&configmaps(), &object)?.success()?.json()?;
        Ok(made["metadata"]["resourceVersion"].as_str().context("an object has a version")?.to_owned())
    }

    /// Writes one object of `size` bytes up to `times` times, until `enough`.
    pub(crate) fn write_much(&self, size: usize, times: usize, enough: impl Fn() -> Result<bool>) -> Result<()> {
        let client = self.cluster.client_for_bulk()?;
        let object = json!({"metadata": {"name": "large"}, "data": {"large": "x".repeat(size)}});
        client.post(&configmaps(), &object)?.success()?;
        let (path, json) = (format!("{}/large", configmaps()), [("Content-Type", "application/json")]);
        for time in 0..times {
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"},
                "data": {"time": time.to_string(), "large": "x".repeat(size)}});
            client.raw("PUT", &path, &json, object.to_string().as_bytes())?.success()?;
            if enough()? {
                return Ok(());
            }
        }
        anyhow::bail!("{times} writes of {size} bytes were not enough")
    }

    /// Waits until the API server has completed all watches that it received.
    pub(crate) fn all_watches_end(&self) -> Result<()> {
        let users: BTreeSet<String> = self.participants.iter().map(|participant| client_user(participant.number)).collect();
        let of = |events: &[Value], stage: &str| -> usize {
            let is_it = |event: &&Value| {
                event["verb"] == "watch"
                    && event["stage"] == stage
                    && event["user"]["username"].as_str().is_some_and(|user| users.contains(user))
            };
            events.iter().filter(is_it).count()
        };
        self.cluster.audit_log_when(|events| of(events, "ResponseComplete") == of(events, "RequestReceived")).map(drop)
    }

    /// The number of requests that the server received from each client.
    pub(crate) fn requests(&self) -> Result<Vec<usize>> {
        Ok(self.received()?.iter().map(Vec::len).collect())
    }

    /// The outcome of each client so far.
    pub(crate) fn outcomes(&mut self) -> Result<Vec<Outcome>> {
        let received = self.received()?;
        let outcomes = self.participants.iter_mut().zip(received).map(|(participant, received)| {
            Ok(Outcome {
                client: participant.client,
                way: participant.way,
                behaviour: Behaviour {
                    accepted: RequestForms::of_uris(&received),
                    attempted: participant.process.attempted(),
                    end: participant.process.end()?,
                },
                errors: participant.process.errors(),
                spurious: participant.process.count("updated with the same version"),
            })
        });
        outcomes.collect()
    }

    /// The request URIs that the server received from each participant: from the audit log, or from the hop that answers in its
    /// place.
    fn received(&self) -> Result<Vec<Vec<String>>> {
        let Some(hop) = &self.http_hop else {
            let audit = self.cluster.audit_log()?;
            return Ok(self
                .participants
                .iter()
                .map(|participant| received_uris(&audit, &client_user(participant.number), "configmaps"))
                .collect());
        };
        let of_player = |participant: &Participant| -> Vec<String> {
            let received = hop.received(&client_token(participant.number));
            received.into_iter().filter(|uri| uri.starts_with(&configmaps())).collect()
        };
        Ok(self.participants.iter().map(of_player).collect())
    }

    /// Waits until the server has received `more` further requests from every client that `concerned` accepts, counted from
    /// `before`.
    pub(crate) fn all_ask_again(&self, before: &[usize], more: usize, concerned: impl Fn(CacheClient) -> bool) -> Result<()> {
        const WITHIN: Duration = Duration::from_secs(90);
        const PAUSE: Duration = Duration::from_millis(100);
        let started = Instant::now();
        loop {
            let requests = self.requests()?;
            let counts = self.participants.iter().zip(before.iter().zip(requests));
            let mut silent =
                counts.filter(|(participant, (before, after))| concerned(participant.client) && *after < *before + more);
            let Some((Participant { client, way, .. }, (before, after))) = silent.next() else { return Ok(()) };
            ensure!(started.elapsed() < WITHIN, "{client}, {way:?}, has asked {after} times, {before} of them before");
            sleep(PAUSE);
        }
    }

    /// Waits until watchtap refuses new connections.
    pub(crate) fn front_refuses(&self) -> Result<()> {
        const WITHIN: Duration = Duration::from_secs(10);
        let started = Instant::now();
        while TcpStream::connect(self.front).is_ok() {
            ensure!(started.elapsed() < WITHIN, "watchtap still accepts connections");
        }
        Ok(())
    }

    /// Waits until on each route, every client that uses one connection for all requests has opened a new one.
    pub(crate) fn wait_for_new_shared_connections(&self, before: &[usize]) -> Result<()> {
        const WITHIN: Duration = Duration::from_secs(20);
        const PAUSE: Duration = Duration::from_millis(50);
        let is_shared =
            |participant: &&Participant| participant.client.http() == HttpVersion::Two && participant.client.asks_on_signal();
        let shared = self.participants.iter().filter(is_shared).count() / 2;
        let started = Instant::now();
        while self.connections().iter().zip(before).any(|(after, before)| *after < before + shared) {
            ensure!(started.elapsed() < WITHIN, "{before:?} connections, then {:?}, of {shared} clients", self.connections());
            sleep(PAUSE);
        }
        Ok(())
    }
}

fn configmaps() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps")
}
