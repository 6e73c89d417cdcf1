//! A running `watchtap probe` for the clients of a test.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use crate::process_usage::ProcessUsage;
use crate::watchtap_process::WatchtapProcess;

/// From the moment at which all that ran before is probed until [`ProbeSession::finish`]; dropped earlier, it is killed.
#[derive(Debug)]
pub struct ProbeSession {
    process: WatchtapProcess,
    introduction: String,
}

/// What it leaves.
#[derive(Debug)]
pub struct ProbeLeavings {
    /// The JSON report.
    pub report: Value,
    /// All that it has said on either stream.
    pub said: String,
}

impl ProbeSession {
    /// Starts one that looks for connections with an API server at this address; `arguments` stand behind `probe`. The kubeconfig need not lead there.
    pub fn start(api_server: SocketAddr, kubeconfig: &Path, arguments: &[&str]) -> Result<Self> {
        let address = api_server.to_string();
        let arguments = ["--api-server", &address].into_iter().chain(arguments.iter().copied());
        let process = WatchtapProcess::start("probe", kubeconfig, arguments)?;
        let mut introduction = String::new();
        process.said(|line| {
            introduction.extend([line, "\n"]);
            line.starts_with("ctrl-C ends").then_some(())
        })?;
        Ok(Self { process, introduction })
    }

    /// The lines that it has shown so far, unless it was told to be quiet.
    pub fn lines(&self) -> Result<String> {
        self.process.lines()
    }

    /// What the process of watchtap holds now.
    pub fn usage(&self) -> Result<ProcessUsage> {
        self.process.usage()
    }

    /// Its process, by its number.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Asks for the end, which must be a proper one.
    pub fn finish(mut self) -> Result<ProbeLeavings> {
        self.process.terminate()?;
        self.process.wait()?;
        let said = [self.introduction, self.process.rest_of_what_was_said()?, self.process.lines()?].concat();
        Ok(ProbeLeavings { report: self.process.report()?, said })
    }

    /// Ends watchtap as a crash of it would (SIGKILL).
    pub fn kill(&mut self) -> Result<()> {
        self.process.kill()
    }
}
