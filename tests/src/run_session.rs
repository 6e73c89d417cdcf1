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

/// From the moment at which clients can come until [`RunSession::finish`]; dropped earlier, it is killed.
#[derive(Debug)]
pub struct RunSession {
    process: WatchtapProcess,
    kubeconfig: PathBuf,
}

impl RunSession {
    /// Starts one on the kubeconfig of an API server; `arguments` stand behind `run`.
    pub fn start(kubeconfig: &Path, arguments: &[&str]) -> Result<Self> {
        let process = WatchtapProcess::start("run", kubeconfig, arguments)?;
        let kubeconfig = process.said(|line| line.trim().strip_prefix("export KUBECONFIG=").map(PathBuf::from))?;
        Ok(Self { process, kubeconfig })
    }

    /// The file that clients are to be given.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// What that file says.
    pub fn document(&self) -> Result<Value> {
        Ok(serde_json::from_str(&fs::read_to_string(&self.kubeconfig)?)?)
    }

    /// Where it listens for the only context, and who vouches for that.
    pub fn listening(&self) -> Result<Listening> {
        let document = self.document()?;
        let cluster = &document["clusters"][0]["cluster"];
        let server = cluster["server"].as_str().and_then(|server| server.strip_prefix("https://")).context("a server")?;
        let authority = cluster["certificate-authority-data"].as_str().context("an authority")?;
        let authority = String::from_utf8(BASE64_STANDARD.decode(authority)?)?;
        Ok(Listening { address: server.parse().with_context(|| format!("{server} is no address"))?, authority })
    }

    /// The lines that it has shown so far, unless it was told to be quiet.
    pub fn lines(&self) -> Result<String> {
        self.process.lines()
    }

    /// The thread of watchtap that has this name.
    pub fn thread(&self, name: &str) -> Result<u32> {
        self.process.thread(name)
    }

    /// What the process of watchtap holds now.
    pub fn usage(&self) -> Result<ProcessUsage> {
        self.process.usage()
    }

    /// Asks for the end, which must be a proper one, and reads the JSON report.
    pub fn finish(self) -> Result<Value> {
        self.process.finish()
    }

    /// Asks for the end, and does not wait for it.
    pub fn terminate(&self) -> Result<()> {
        self.process.terminate()
    }

    /// Waits for the end that was asked for, which must be a proper one.
    pub fn wait(&mut self) -> Result<()> {
        self.process.wait()
    }

    /// Ends watchtap as a crash of it would (SIGKILL).
    pub fn kill(&mut self) -> Result<()> {
        self.process.kill()
    }
}
