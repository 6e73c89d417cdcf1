//! The client in Go: a process for each sample.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdout, Command};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::sample::Sample;
use super::scenario::{Amounts, Http, Load};
use super::upstream::{EVENT_HEAD, paths};
use crate::server_process::ServerProcess;

/// A client whose connections are ready for their load.
pub(super) struct GoClient {
    process: ServerProcess,
    output: BufReader<ChildStdout>,
}

/// The last line of the client; times are in nanoseconds.
#[derive(Debug, Deserialize)]
struct Served {
    bytes: u64,
    operations: u64,
    elapsed: u64,
    /// 0 if there are too few operations.
    p99: u64,
}

impl GoClient {
    /// Starts the client, and waits until each of its connections has had one small request.
    pub(super) fn prepare(program: &Path, folder: &Path, port: u16, http: Http, load: Load, amounts: Amounts) -> Result<Self> {
        let (kind, clients, path) = match load {
            Load::Lists { connections } => ("lists", connections, paths::LIST),
            Load::Gets { clients } => ("gets", clients, paths::SMALL),
            Load::Events => ("events", 1, paths::EVENTS),
            Load::Connections { clients } => ("connections", clients, paths::SMALL),
            Load::Idle => bail!("idle watches are measured with hyper alone"),
        };
        let mut command = Command::new(program);
        command.args(["client", "--address", &format!("127.0.0.1:{port}"), "--http", http.name(), "--load", kind]);
        command.args(["--path", path, "--warm-up", paths::SMALL, "--event-head", EVENT_HEAD]);
        command.args(["--clients", &clients.to_string(), "--each", &amounts.lists_of_each(clients).to_string()]);
        command.args(["--limit", &format!("{}ms", amounts.milliseconds)]);
        let mut process = ServerProcess::start("go-client", &command, folder)?;
        let output = BufReader::new(process.stdout()?);
        let mut client = Self { process, output };
        let line = client.line()?;
        anyhow::ensure!(line == "ready", "{}", client.process.log());
        Ok(client)
    }

    /// Runs the load; the CPU time of the proxy is the caller's to add.
    pub(super) fn run(mut self) -> Result<Sample> {
        self.process.stdin()?.write_all(b"\n")?;
        let line = self.line()?;
        let served: Served = serde_json::from_str(&line).with_context(|| self.process.log())?;
        let p99 = (served.p99 > 0).then(|| seconds(served.p99));
        Ok(Sample {
            seconds: seconds(served.elapsed),
            bytes: served.bytes,
            operations: served.operations,
            p99_seconds: p99,
            ..Sample::default()
        })
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

fn seconds(nanoseconds: u64) -> f64 {
    std::time::Duration::from_nanos(nanoseconds).as_secs_f64()
}
