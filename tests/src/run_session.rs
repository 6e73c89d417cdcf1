//! A running `watchtap run` for the clients of a test.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::hop::Listening;
use crate::process_usage::ProcessUsage;
use crate::watchtap_process::WatchtapProcess;

/// A `watchtap run` that accepts clients, until [`RunSession::finish`]. Dropping it kills the process.
#[derive(Debug)]
pub struct RunSession {
    process: WatchtapProcess,
    kubeconfig: PathBuf,
}

impl RunSession {
    /// Starts a session on the kubeconfig of an API server. `arguments` follow `run`.
    pub fn start(kubeconfig: &Path, arguments: &[&str]) -> Result<Self> {
        let process = WatchtapProcess::start("run", kubeconfig, arguments)?;
        let kubeconfig = process.find_line(|line| line.trim().strip_prefix("export KUBECONFIG=").map(PathBuf::from))?;
        Ok(Self { process, kubeconfig })
    }

    /// The kubeconfig that watchtap wrote for its clients.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The content of that kubeconfig.
    pub fn document(&self) -> Result<Value> {
        Ok(serde_json::from_str(&fs::read_to_string(&self.kubeconfig)?)?)
    }

    /// Address and CA of the listener for the only context.
    pub fn listening(&self) -> Result<Listening> {
        let document = self.document()?;
        let cluster = &document["clusters"][0]["cluster"];
        let server = cluster["server"].as_str().and_then(|server| server.strip_prefix("https://")).context("a server")?;
        let authority = cluster["certificate-authority-data"].as_str().context("an authority")?;
        let authority = String::from_utf8(BASE64_STANDARD.decode(authority)?)?;
        Ok(Listening { address: server.parse().with_context(|| format!("{server} is no address"))?, authority })
    }

    /// Its standard output so far; empty with `--quiet`.
    pub fn lines(&self) -> Result<String> {
        self.process.lines()
    }

    /// The ID of watchtap's thread with this name.
    pub fn thread(&self, name: &str) -> Result<u32> {
        self.process.thread(name)
    }

    /// The present memory, descriptors and processor time of watchtap.
    pub fn usage(&self) -> Result<ProcessUsage> {
        self.process.usage()
    }

    /// Sends SIGTERM, fails unless watchtap exits with success, and reads the JSON report.
    pub fn finish(self) -> Result<Value> {
        self.process.finish()
    }

    /// Sends SIGTERM and returns immediately.
    pub fn terminate(&self) -> Result<()> {
        self.process.terminate()
    }

    /// Waits for the exit after [`RunSession::terminate`], and fails unless it is a success.
    pub fn wait(&mut self) -> Result<()> {
        self.process.wait()
    }

    /// Kills watchtap with SIGKILL, as a crash would end it.
    pub fn kill(&mut self) -> Result<()> {
        self.process.kill()
    }
}
