//! The setup of a story: a real cluster, a `watchtap run` in front of it, and clients.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use observer_core::observation::{CaptureObservation, Subject};
use observer_core::observer::{Limits, Observer};
use observer_tests::{CacheClient, CacheProcess, Cluster, ListForm, Listening, Minor, Options, RunSession, client_user};
use serde_json::{Value, json};
use tempfile::TempDir;
use watchtap::capture::{Due, Pace, Recording};
use watchtap::view::{Colour, Run, report_json, report_text};

use super::events::Events;
use super::from_logs::{self, Seen};
use super::server_saw::ServerSaw;

/// The namespace of every story.
pub(crate) const NAMESPACE: &str = "stories";
/// Limit of every wait.
const WITHIN: Duration = Duration::from_mins(2);
/// Time between two reads of a file.
const PAUSE: Duration = Duration::from_millis(50);

/// The cluster, watchtap and the files that it writes.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) cluster: Cluster,
    watchtap: RunSession,
    front: Listening,
    folder: TempDir,
    clients: usize,
    markers: u32,
}

/// A client with its own program name and its own user.
#[derive(Debug)]
pub(crate) struct Player {
    pub(crate) process: CacheProcess,
    /// Its `User-Agent`, which watchtap reports as the program.
    pub(crate) program: String,
    user: String,
}

/// A report on the state at one time.
#[derive(Debug)]
pub(crate) struct Reading {
    /// As JSON.
    pub(crate) report: Value,
    /// The same report for people.
    pub(crate) text: String,
}

/// A cluster with this many config maps in [`NAMESPACE`], whose API server logs each request, and writes nothing by itself. By default it writes a lease
/// every ten seconds, and then a client's revision would be the newest only by chance. From 1.36, it does not start without this lease unless the proxy
/// between unlike API servers is off, too.
pub(crate) fn quiet_cluster(minor: Minor, arguments: &[&str], objects: usize) -> Result<Cluster> {
    let quiet = ["--feature-gates=APIServerIdentity=false,UnknownVersionInteroperabilityProxy=false", "--v=3"];
    let api_server_arguments = quiet.iter().chain(arguments).map(|argument| (*argument).to_owned()).collect();
    let cluster = Cluster::start(&Options { minor, api_server_arguments, ..Options::default() })?;
    cluster.create_configmaps(NAMESPACE, objects)?;
    Ok(cluster)
}

impl Stage {
    /// Starts watchtap in front of the API server.
    pub(crate) fn set(cluster: Cluster) -> Result<Self> {
        let (server, authority) = (cluster.socket_address(), cluster.ca_pem().to_owned());
        Self::behind(cluster, server, &authority)
    }

    /// Starts watchtap in front of a hop to the API server; `authority` (PEM) signed the hop's certificate.
    pub(crate) fn behind(cluster: Cluster, hop: SocketAddr, authority: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let original = cluster.kubeconfig_of_client(0, &format!("https://{hop}"), authority)?;
        let (events, capture) = (events_in(&folder), capture_in(&folder));
        let files = ["--grace", "0s", "--events", text_of(&events)?, "--capture", text_of(&capture)?];
        let watchtap = RunSession::start(&original, &files)?;
        let front = watchtap.listening()?;
        Ok(Self { cluster, watchtap, front, folder, clients: 0, markers: 0 })
    }

    /// Starts a client and waits until it has all objects.
    pub(crate) fn enter(&mut self, client: CacheClient, form: ListForm) -> Result<Player> {
        let mut player = self.send(client, form)?;
        let version = self.write()?;
        player.process.has(&version).with_context(|| player.program.clone())?;
        Ok(player)
    }

    /// Starts a client without waiting.
    pub(crate) fn send(&mut self, client: CacheClient, form: ListForm) -> Result<Player> {
        self.clients += 1;
        let kubeconfig = self.kubeconfig(self.clients)?;
        let program = format!("player-{}", self.clients);
        let process = client.start_as(&program, form, &kubeconfig, NAMESPACE).with_context(|| client.to_string())?;
        Ok(Player { process, program, user: client_user(self.clients) })
    }

    /// For a client within the test: a kubeconfig that points to watchtap, and the name of its user.
    pub(crate) fn own_client(&mut self) -> Result<(PathBuf, String)> {
        self.clients += 1;
        Ok((self.kubeconfig(self.clients)?, client_user(self.clients)))
    }

    fn kubeconfig(&self, number: usize) -> Result<PathBuf> {
        let Listening { address, authority } = &self.front;
        self.cluster.kubeconfig_of_client(number, &format!("https://{address}"), authority)
    }

    /// Writes an object in the watched namespace; returns its resource version.
    pub(crate) fn write(&mut self) -> Result<String> {
        self.write_in(NAMESPACE)
    }

    /// Writes a config map directly to the API server; returns its resource version.
    pub(crate) fn write_in(&mut self, namespace: &str) -> Result<String> {
        self.markers += 1;
        let object = json!({"metadata": {"name": format!("marker-{}", self.markers)}});
        let path = format!("/api/v1/namespaces/{namespace}/configmaps");
        let made = self.cluster.client().post(&path, &object)?.success()?.json()?;
        Ok(made["metadata"]["resourceVersion"].as_str().context("an object has a version")?.to_owned())
    }

    /// Writes an object and waits until each player has it.
    pub(crate) fn all_have_the_next_write(&mut self, players: &mut [Player]) -> Result<()> {
        let version = self.write()?;
        players.iter_mut().try_for_each(|player| player.process.has(&version).with_context(|| player.program.clone()))
    }

    /// The events so far.
    pub(crate) fn events(&self) -> Result<Events> {
        Events::of_lines(&fs::read_to_string(events_in(&self.folder))?)
    }

    /// Waits for events that satisfy `enough`.
    pub(crate) fn events_when(&self, enough: impl Fn(&Events) -> bool) -> Result<Events> {
        let began = Instant::now();
        loop {
            let events = self.events()?;
            if enough(&events) {
                return Ok(events);
            }
            ensure!(began.elapsed() < WITHIN, "not reported within {WITHIN:?}; what was:\n{}", events.summary());
            sleep(PAUSE);
        }
    }

    /// A report on the current state.
    pub(crate) fn reading(&self) -> Result<Reading> {
        Reading::of_capture(capture_in(&self.folder))
    }

    /// Waits for a report that satisfies `enough`.
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

    /// watchtap's standard output so far.
    pub(crate) fn lines(&self) -> Result<String> {
        self.watchtap.lines()
    }

    /// A client's requests in the audit log.
    pub(crate) fn server_saw(&self, player: &Player) -> Result<ServerSaw> {
        self.server_saw_of(&player.user)
    }

    /// A user's requests in the audit log.
    pub(crate) fn server_saw_of(&self, user: &str) -> Result<ServerSaw> {
        Ok(ServerSaw::of(&self.cluster.audit_log()?, user))
    }

    /// Shuts watchtap down; fails if it missed anything or contradicted a verdict.
    pub(crate) fn close(self) -> Result<()> {
        let Self { watchtap, folder, cluster, .. } = self;
        // Then the capture is complete.
        let report = watchtap.finish()?;
        let (mut observer, mut seen) = (Observer::new(Limits::default()), Seen::default());
        let mut observe = |Due { observation, .. }: Due| seen.observe(observation, &mut observer);
        Recording::of(&[capture_in(&folder)])?.replay(Pace::AtOnce, &mut observe)?;
        from_logs::compare(&seen, &cluster)?;
        let missed = &report["missed"];
        ensure!(missed["bytes"] == 0 && missed["unrecorded_spans"] == Value::Null, "{missed}");
        ensure!(report["totals"]["contradicted"].as_u64().unwrap_or(0) == 0, "a verdict was contradicted: {}", report["totals"]);
        Ok(())
    }
}

impl Player {
    /// This client's requests in an audit log.
    pub(crate) fn seen_in(&self, audit: &[Value]) -> ServerSaw {
        ServerSaw::of(audit, &self.user)
    }
}

impl Reading {
    /// A report from an unfinished capture: the same state as on the terminal page, and as in the report if watchtap exited now.
    fn of_capture(capture: PathBuf) -> Result<Self> {
        let mut observer = Observer::new(Limits::default());
        let mut observe = |Due { observation, .. }: Due| {
            // The file has no end mark yet, which does not count as a loss.
            if !matches!(observation.subject, Subject::Capture(CaptureObservation::Unrecorded { .. })) {
                observer.observe(observation, &mut |_| {});
            }
        };
        Recording::of(&[capture])?.replay(Pace::AtOnce, &mut observe)?;
        let (run, snapshot) = (
            Run {
                subcommand: "run",
                command: Vec::new(),
                exit_code: None,
                silence: Vec::new(),
                notes: Vec::new(),
                budget: None,
                log: None,
            },
            observer.snapshot(),
        );
        let report = serde_json::from_str(report_json(&run, &snapshot)?.as_str())?;
        Ok(Self { report, text: report_text(&run, &snapshot, Colour::Off).into_string() })
    }

    /// The row of the client's only reflector; an error if it has several.
    pub(crate) fn reflector(&self, player: &Player) -> Result<&Value> {
        self.reflector_of(&player.program)
    }

    /// The row of the program's only reflector; an error if it has several.
    pub(crate) fn reflector_of(&self, program: &str) -> Result<&Value> {
        let rows = self.report["reflectors"].as_array().context("there are reflectors")?;
        let mut own = rows.iter().filter(|row| row["client"]["program"] == program);
        let row = own.next().with_context(|| format!("no reflector of {program}:\n{}", self.text))?;
        ensure!(own.next().is_none(), "{program} has several reflectors:\n{}", self.text);
        Ok(row)
    }

    /// The finding of this kind for the program.
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
