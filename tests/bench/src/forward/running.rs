//! Starts, measures and stops the server and the proxy of a scenario.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::client::Target;
use super::go_client::GoClient;
use super::load::Ready;
use super::peer::{self, Ports};
use super::sample::Sample;
use super::scenario::{Amounts, Http, Load, Scenario};
use super::stack::Stack;
use super::upstream;
use super::way::Way;
use crate::credentials::{Credentials, private};
use crate::server_process::ServerProcess;

/// The inputs that all proxies need.
#[derive(Debug)]
pub(super) struct Inputs {
    /// A private folder, which is removed after the run.
    pub(super) folder: PathBuf,
    pub(super) credentials: Credentials,
    pub(super) amounts: Amounts,
    /// The program of client and server in Go, if it is measured.
    pub(super) go: Option<PathBuf>,
}

/// The bench's API server.
pub(super) struct Upstream {
    _process: ServerProcess,
    port: u16,
    http: Http,
    stack: Stack,
}

/// A running proxy, or a direct connection to the server.
pub(super) struct Open {
    way: Way,
    process: Option<ServerProcess>,
    port: u16,
    http: Http,
    stack: Stack,
}

/// The bytes that watchtap forwarded without observing them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(super) struct Missed {
    pub(super) bytes: u64,
    pub(super) connections: u64,
}

/// Time for a proxy to complete postponed work before its CPU time is read.
const SETTLE: Duration = Duration::from_millis(100);
/// Pause before memory is read.
const REST: Duration = Duration::from_millis(500);

impl Inputs {
    fn go(&self) -> Result<&Path> {
        self.go.as_deref().context("the Go program of the bench was not built")
    }
}

impl Upstream {
    pub(super) fn start(stack: Stack, http: Http, place: &Inputs) -> Result<Self> {
        let mut command = match stack {
            Stack::Hyper => {
                let mut command = Command::new(std::env::current_exe()?);
                command.args(["upstream", "--list-bytes", &place.amounts.list.to_string()]);
                command
            }
            Stack::Go => {
                let mut command = Command::new(place.go()?);
                let bodies = place.folder.join("bodies");
                let item = upstream::write_bodies(&bodies, place.amounts.list)?;
                command.args(["server", "--item-bytes", &item.to_string(), "--bodies"]).arg(bodies);
                command
            }
        };
        command.args(["--http", http.name()]);
        command.arg("--certificate").arg(&place.credentials.certificate).arg("--key").arg(&place.credentials.key);
        command.args(["--events-per-second", &place.amounts.events.to_string()]);
        let mut process = ServerProcess::start("upstream", &command, &place.folder)?;
        let mut line = String::new();
        BufReader::new(process.stdout()?).read_line(&mut line)?;
        let port = line.trim().parse().context("the server said no port")?;
        Ok(Self { _process: process, port, http, stack })
    }
}

impl Open {
    /// Starts the proxy of `way`.
    pub(super) fn start(way: Way, upstream: &Upstream, place: &Inputs) -> Result<Self> {
        let ports = Ports { listen: free_port()?, between: free_port()?, upstream: upstream.port };
        let Some((name, command)) = command(way, ports, place)? else {
            return Ok(Self { way, process: None, port: upstream.port, http: upstream.http, stack: upstream.stack });
        };
        let mut process = ServerProcess::start(name, &command, &place.folder)?;
        process.await_port(ports.listen)?;
        Ok(Self { way, process: Some(process), port: ports.listen, http: upstream.http, stack: upstream.stack })
    }

    /// Starts `watchtap run` with further flags.
    pub(super) fn start_watchtap(flags: &[String], upstream: &Upstream, place: &Inputs) -> Result<Self> {
        let (way, listen) = (Way::WatchtapOn, free_port()?);
        let mut process = ServerProcess::start("watchtap", watchtap(listen, upstream.port, place)?.args(flags), &place.folder)?;
        process.await_port(listen)?;
        Ok(Self { way, process: Some(process), port: listen, http: upstream.http, stack: upstream.stack })
    }

    pub(super) fn way(&self) -> Way {
        self.way
    }

    /// One sample of `scenario`.
    pub(super) async fn measure(&self, scenario: Scenario, place: &Inputs) -> Result<Sample> {
        let (load, amounts) = (scenario.load(), place.amounts);
        if load == Load::Idle {
            return self.measure_memory(amounts).await;
        }
        if self.stack == Stack::Go {
            return self.measure_go(load, place).await;
        }
        let ready = Ready::prepare(self.target()?, load).await.with_context(|| self.log())?;
        let before = self.cpu()?;
        let (mut served, _connections) = ready.run(amounts).await.with_context(|| self.log())?;
        tokio::time::sleep(SETTLE).await;
        Ok(Sample::of(&mut served, self.cpu()?.saturating_sub(before)))
    }

    async fn measure_go(&self, load: Load, place: &Inputs) -> Result<Sample> {
        let client = GoClient::prepare(place.go()?, &place.folder, self.port, self.http, load, place.amounts);
        let client = client.with_context(|| self.log())?;
        let before = self.cpu()?;
        let sample = client.run().with_context(|| self.log())?;
        tokio::time::sleep(SETTLE).await;
        Ok(Sample { cpu_seconds: self.cpu()?.saturating_sub(before).as_secs_f64(), ..sample })
    }

    /// Measures the memory. The proxy must be newly started, because it does not return memory to the system.
    async fn measure_memory(&self, amounts: Amounts) -> Result<Sample> {
        let target = self.target()?;
        target.connect().await?.drain(upstream::paths::SMALL).await?;
        tokio::time::sleep(REST).await;
        let (memory, cpu) = (self.memory()?, self.cpu()?);
        let (mut served, _connections) = Ready::prepare(target, Load::Idle).await?.run(amounts).await?;
        tokio::time::sleep(REST).await;
        let more = self.memory()?.saturating_sub(memory);
        Ok(Sample { memory: Some(more), ..Sample::of(&mut served, self.cpu()?.saturating_sub(cpu)) })
    }

    fn log(&self) -> String {
        self.process.as_ref().map(ServerProcess::log).unwrap_or_default()
    }

    fn cpu(&self) -> Result<Duration> {
        self.process.as_ref().map_or(Ok(Duration::ZERO), ServerProcess::cpu)
    }

    /// The address for clients.
    pub(super) fn target(&self) -> Result<Target> {
        Target::new(self.port, self.http)
    }

    /// Memory of the proxy in bytes, without file-backed pages.
    pub(super) fn memory(&self) -> Result<u64> {
        self.process.as_ref().map_or(Ok(0), ServerProcess::memory)
    }

    /// Stops it; for watchtap, returns its misses.
    pub(super) fn stop(mut self, place: &Inputs) -> Result<Missed> {
        if let Some(process) = &mut self.process {
            process.stop()?;
        }
        if self.way != Way::WatchtapOn {
            return Ok(Missed::default());
        }
        let report: Value =
            serde_json::from_str(&fs::read_to_string(report_file(place, self.port)).context("watchtap left no report")?)?;
        ensure!(report["totals"]["requests"].as_u64().unwrap_or_default() > 0, "watchtap observed nothing");
        let count = |name: &str| report["missed"][name].as_u64().unwrap_or_default();
        Ok(Missed { bytes: count("bytes"), connections: count("connections") })
    }
}

/// The command line of the proxy on `way`; `None` if there is no proxy.
fn command(way: Way, ports: Ports, place: &Inputs) -> Result<Option<(&'static str, Command)>> {
    let Ports { listen, upstream, .. } = ports;
    let (folder, credentials) = (&place.folder, &place.credentials);
    Ok(Some(match way {
        Way::Direct => return Ok(None),
        Way::WatchtapOff => {
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["unobserved", "--listen", &listen.to_string(), "--upstream", &upstream.to_string()]);
            command.arg("--authority").arg(&credentials.authority);
            ("unobserved", command)
        }
        Way::WatchtapOn => ("watchtap", watchtap(listen, upstream, place)?),
        Way::Nginx => {
            let file = private(&folder.join("nginx.conf"), &peer::nginx(ports, credentials, folder))?;
            let mut command = Command::new(way.program().context("nginx is not installed")?);
            command.arg("-c").arg(file).arg("-p").arg(folder).args(["-e", "stderr"]);
            ("nginx", command)
        }
        Way::Haproxy => {
            let file = private(&folder.join("haproxy.cfg"), &peer::haproxy(ports, credentials))?;
            let mut command = Command::new(way.program().context("haproxy is not installed")?);
            command.args(["-db", "-f"]).arg(file);
            ("haproxy", command)
        }
        Way::Stunnel => {
            let file = private(&folder.join("stunnel.conf"), &peer::stunnel(ports, credentials))?;
            let mut command = Command::new(way.program().context("stunnel is not installed")?);
            command.arg(file);
            ("stunnel", command)
        }
    }))
}

/// `watchtap run` between these ports.
fn watchtap(listen: u16, upstream: u16, place: &Inputs) -> Result<Command> {
    let mut command = Command::new(program()?);
    command.args(["run", "--quiet", "--grace", "0s", "--format", "json", "--report"]).arg(report_file(place, listen));
    command.args(["--upstream", &format!("https://127.0.0.1:{upstream}"), "--listen", &format!("127.0.0.1:{listen}")]);
    command.arg("--upstream-ca").arg(&place.credentials.authority);
    Ok(command)
}

/// The release binary, which `cargo xtask bench` builds into the folder of this binary.
fn program() -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("watchtap");
    ensure!(
        program.is_file(),
        "no watchtap beside {}; build it with `cargo build -p observer` (cargo xtask does)",
        program.display()
    );
    Ok(program)
}

/// The report of the watchtap that listens on this port.
fn report_file(place: &Inputs, listen: u16) -> PathBuf {
    Path::new(&place.folder).join(format!("report-{listen}.json"))
}

/// Finds a port without a listener. It is below the range of outgoing connections in Linux, since there will be thousands of these.
pub(super) fn free_port() -> Result<u16> {
    use std::hash::{BuildHasher, RandomState};
    const FIRST: u16 = 20_000;
    const COUNT: u16 = 12_000;
    // Chosen at random, because parallel runs choose too, and a chosen port is not visible to others before it is bound.
    let random = RandomState::new();
    for attempt in 0..COUNT {
        let port = FIRST + u16::try_from(random.hash_one(attempt) % u64::from(COUNT))?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    anyhow::bail!("no free loopback port from {FIRST} on")
}
