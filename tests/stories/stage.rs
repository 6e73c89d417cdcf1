//! What a story is played on: a real cluster, a `watchtap run` in front of it, and clients.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use observer_core::observation::{Observation, What};
use observer_core::observer::{Limits, Observer};
use observer_tests::{CacheClient, CacheProcess, Cluster, ListForm, Listening, Minor, Options, RunSession, client_user};
use serde_json::{Value, json};
use tempfile::TempDir;
use watchtap::capture::{Pace, Recording};
use watchtap::view::{Colour, Run, report_json, report_text};

use super::server_saw::ServerSaw;
use super::told::Told;

/// The namespace of every story.
pub(crate) const NAMESPACE: &str = "stories";
/// What takes longer than this does not come about.
const WITHIN: Duration = Duration::from_mins(2);
/// Between two looks at a file.
const PAUSE: Duration = Duration::from_millis(50);

/// Cluster, watchtap and the files that it writes.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) cluster: Cluster,
    watchtap: RunSession,
    front: Listening,
    folder: TempDir,
    clients: usize,
    markers: u32,
}

/// A client with a name of its own and a user of its own.
#[derive(Debug)]
pub(crate) struct Player {
    pub(crate) process: CacheProcess,
    /// Its `User-Agent`, which watchtap tells as the program.
    pub(crate) program: String,
    user: String,
}

/// What one report says.
#[derive(Debug)]
pub(crate) struct Reading {
    /// In JSON.
    pub(crate) report: Value,
    /// For people.
    pub(crate) text: String,
}

/// A cluster with so many config maps in [`NAMESPACE`], whose API server writes nothing by itself: it would write a lease of its own every
/// ten seconds, and whether a client's revision is the newest were chance.
pub(crate) fn quiet_cluster(minor: Minor, arguments: &[&str], objects: usize) -> Result<Cluster> {
    let quiet = ["--feature-gates=APIServerIdentity=false"];
    let api_server_arguments = quiet.iter().chain(arguments).map(|argument| (*argument).to_owned()).collect();
    let cluster = Cluster::start(&Options { minor, api_server_arguments, ..Options::default() })?;
    cluster.create_configmaps(NAMESPACE, objects)?;
    Ok(cluster)
}

impl Stage {
    /// watchtap in front of the API server.
    pub(crate) fn set(cluster: Cluster) -> Result<Self> {
        let (server, authority) = (cluster.socket_address(), cluster.ca_pem().to_owned());
        Self::behind(cluster, server, &authority)
    }

    /// watchtap in front of a hop that leads to the API server, for which `authority` (PEM) vouches.
    pub(crate) fn behind(cluster: Cluster, hop: SocketAddr, authority: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let original = cluster.kubeconfig_of_client(0, &format!("https://{hop}"), authority)?;
        let (events, capture) = (events_in(&folder), capture_in(&folder));
        let files = ["--grace", "0s", "--events", text_of(&events)?, "--capture", text_of(&capture)?];
        let watchtap = RunSession::start(&original, &files)?;
        let front = watchtap.listening()?;
        Ok(Self { cluster, watchtap, front, folder, clients: 0, markers: 0 })
    }

    /// Starts a client; it knows all objects.
    pub(crate) fn enter(&mut self, client: CacheClient, form: ListForm) -> Result<Player> {
        let mut player = self.send(client, form)?;
        let version = self.write()?;
        player.process.has(&version).with_context(|| player.program.clone())?;
        Ok(player)
    }

    /// Starts a client.
    pub(crate) fn send(&mut self, client: CacheClient, form: ListForm) -> Result<Player> {
        self.clients += 1;
        let kubeconfig = self.kubeconfig(self.clients)?;
        let program = format!("player-{}", self.clients);
        let process = client.start_as(&program, form, &kubeconfig, NAMESPACE).with_context(|| client.to_string())?;
        Ok(Player { process, program, user: client_user(self.clients) })
    }

    /// For a client of the test itself: a kubeconfig that leads through watchtap, and the name of its user.
    pub(crate) fn own_client(&mut self) -> Result<(PathBuf, String)> {
        self.clients += 1;
        Ok((self.kubeconfig(self.clients)?, client_user(self.clients)))
    }

    fn kubeconfig(&self, number: usize) -> Result<PathBuf> {
        let Listening { address, authority } = &self.front;
        self.cluster.kubeconfig_of_client(number, &format!("https://{address}"), authority)
    }

    /// Writes an object that the clients watch; its version.
    pub(crate) fn write(&mut self) -> Result<String> {
        self.write_in(NAMESPACE)
    }

    /// Writes a config map past watchtap; its version.
    pub(crate) fn write_in(&mut self, namespace: &str) -> Result<String> {
        self.markers += 1;
        let object = json!({"metadata": {"name": format!("marker-{}", self.markers)}});
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        let made = self.cluster.client().post(&path, &object)?.success()?.json()?;
        Ok(made["metadata"]["resourceVersion"].as_str().context("an object has a version")?.to_owned())
    }

    /// Writes, and waits until each has it.
    pub(crate) fn all_have_the_next_write(&mut self, players: &mut [Player]) -> Result<()> {
        let version = self.write()?;
        players.iter_mut().try_for_each(|player| player.process.has(&version).with_context(|| player.program.clone()))
    }

    /// What has happened so far.
    pub(crate) fn told(&self) -> Result<Told> {
        Told::of_lines(&fs::read_to_string(events_in(&self.folder))?)
    }

    /// What has happened, as soon as it is enough.
    pub(crate) fn told_when(&self, enough: impl Fn(&Told) -> bool) -> Result<Told> {
        let began = Instant::now();
        loop {
            let told = self.told()?;
            if enough(&told) {
                return Ok(told);
            }
            ensure!(began.elapsed() < WITHIN, "not told within {WITHIN:?}; what was:\n{}", told.summary());
            sleep(PAUSE);
        }
    }

    /// What a report of now says.
    pub(crate) fn reading(&self) -> Result<Reading> {
        Reading::of_capture(capture_in(&self.folder))
    }

    /// The same, as soon as it is enough.
    pub(crate) fn reading_when(&self, enough: impl Fn(&Reading) -> bool) -> Result<Reading> {
        let began = Instant::now();
        loop {
            let reading = self.reading()?;
            if enough(&reading) {
                return Ok(reading);
            }
            ensure!(began.elapsed() < WITHIN, "not reported within {WITHIN:?}; what is:\n{}", reading.text);
            sleep(PAUSE);
        }
    }

    /// What watchtap has shown so far.
    pub(crate) fn lines(&self) -> Result<String> {
        self.watchtap.lines()
    }

    /// What the API server saw of a client.
    pub(crate) fn server_saw(&self, player: &Player) -> Result<ServerSaw> {
        self.server_saw_of(&player.user)
    }

    /// What the API server saw of a user.
    pub(crate) fn server_saw_of(&self, user: &str) -> Result<ServerSaw> {
        Ok(ServerSaw::of(&self.cluster.audit_log()?, user))
    }

    /// Ends watchtap properly: what it missed is nothing.
    pub(crate) fn close(self) -> Result<()> {
        let report = self.watchtap.finish()?;
        let missed = &report["missed"];
        ensure!(missed["bytes"] == 0 && missed["unrecorded_spans"] == Value::Null, "{missed}");
        ensure!(report["totals"]["contradicted"].as_u64().unwrap_or(0) == 0, "a verdict was contradicted: {}", report["totals"]);
        Ok(())
    }
}

impl Player {
    /// What of it is in an audit log.
    pub(crate) fn seen_in(&self, audit: &[Value]) -> ServerSaw {
        ServerSaw::of(audit, &self.user)
    }
}

impl Reading {
    /// Of a capture that is being written, as far as it is: what the terminal page would show, and the report say if watchtap ended now.
    fn of_capture(capture: PathBuf) -> Result<Self> {
        let mut observer = Observer::new(Limits::default());
        let mut observe = |observation: Observation| {
            // That the file has no end yet is no loss.
            if !matches!(observation.what, What::Unrecorded { .. }) {
                observer.observe(observation, &mut |_| {});
            }
        };
        Recording::of(&[capture])?.replay(Pace::AtOnce, &mut observe)?;
        let (run, snapshot) = (
            Run { subcommand: "run", command: Vec::new(), exit_code: None, silence: Vec::new(), notes: Vec::new(), budget: None },
            observer.snapshot(),
        );
        let report = serde_json::from_str(report_json(&run, &snapshot)?.as_str())?;
        Ok(Self { report, text: report_text(&run, &snapshot, Colour::Off).into_string() })
    }

    /// The row of the client's reflector, which must be its only one.
    pub(crate) fn reflector(&self, player: &Player) -> Result<&Value> {
        self.reflector_of(&player.program)
    }

    /// The row of the only reflector of the program.
    pub(crate) fn reflector_of(&self, program: &str) -> Result<&Value> {
        let rows = self.report["reflectors"].as_array().context("there are reflectors")?;
        let mut own = rows.iter().filter(|row| row["client"]["program"] == program);
        let row = own.next().with_context(|| format!("no reflector of {program}:\n{}", self.text))?;
        ensure!(own.next().is_none(), "{program} has several reflectors:\n{}", self.text);
        Ok(row)
    }

    /// The finding of this kind on the program.
    pub(crate) fn finding(&self, kind: &str, program: &str) -> Result<&Value> {
        let findings = self.report["findings"].as_array().context("there are findings")?;
        let is_it = |finding: &&Value| finding["kind"] == kind && finding["client"]["program"] == program;
        findings.iter().find(is_it).with_context(|| format!("no finding {kind} on {program}:\n{}", self.text))
    }
}

fn events_in(folder: &TempDir) -> PathBuf {
    folder.path().join("events.jsonl")
}

fn capture_in(folder: &TempDir) -> PathBuf {
    folder.path().join("run.cap")
}

fn text_of(path: &std::path::Path) -> Result<&str> {
    path.to_str().context("a path of a test is UTF-8")
}
