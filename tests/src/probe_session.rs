//! A running `watchtap probe` for the clients of a test.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use crate::process_usage::ProcessUsage;
use crate::watchtap_process::WatchtapProcess;

/// A `watchtap probe` that has attached to all running programs, until [`ProbeSession::finish`]. Dropping it kills the process.
#[derive(Debug)]
pub struct ProbeSession {
    process: WatchtapProcess,
    introduction: String,
}

/// The report and the printed text of a finished probe.
#[derive(Debug)]
pub struct ProbeLeavings {
    /// The JSON report.
    pub report: Value,
    /// All that it printed, on standard error and standard output.
    pub said: String,
}

impl ProbeSession {
    /// Starts a probe for connections to the API server at this address. The kubeconfig may point elsewhere. `arguments` follow
    /// `probe`.
    pub fn start(api_server: SocketAddr, kubeconfig: &Path, arguments: &[&str]) -> Result<Self> {
        let address = api_server.to_string();
        let arguments = ["--api-server", &address].into_iter().chain(arguments.iter().copied());
        let process = WatchtapProcess::start("probe", kubeconfig, arguments)?;
        let mut introduction = String::new();
        process.find_line(|line| {
            introduction.extend([line, "\n"]);
            line.starts_with("Ctrl-C unloads").then_some(())
        })?;
        Ok(Self { process, introduction })
    }

    /// Its standard output so far; empty with `--quiet`.
    pub fn lines(&self) -> Result<String> {
        self.process.lines()
    }

    /// The present memory, descriptors and processor time of watchtap.
    pub fn usage(&self) -> Result<ProcessUsage> {
        self.process.usage()
    }

    /// Its process ID.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends SIGTERM, and fails unless watchtap exits with success.
    pub fn finish(mut self) -> Result<ProbeLeavings> {
        self.process.terminate()?;
        self.process.wait()?;
        let said = [self.introduction, self.process.rest_of_stderr()?, self.process.lines()?].concat();
        Ok(ProbeLeavings { report: self.process.report()?, said })
    }

    /// Kills watchtap with SIGKILL, as a crash would end it.
    pub fn kill(&mut self) -> Result<()> {
        self.process.kill()
    }
}
