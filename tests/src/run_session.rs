//! A running `watchtap run` for the clients of a test.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::bounded::{Lines, wait_within};
use crate::hop::Listening;
use crate::process_usage::ProcessUsage;
use crate::watchtap::watchtap;

/// A first line, or an end, that takes longer is a hang.
const LIMIT: Duration = Duration::from_secs(30);

/// From the moment at which clients can come until [`RunSession::finish`]; dropped earlier, it is killed.
#[derive(Debug)]
pub struct RunSession {
    child: Child,
    kubeconfig: PathBuf,
    said: Lines,
    folder: TempDir,
}

impl RunSession {
    /// Starts one on the kubeconfig of an API server; `arguments` stand behind `run`.
    pub fn start(kubeconfig: &Path, arguments: &[&str]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut child = watchtap()?
            .args(["run", "--format", "json", "--report"])
            .arg(report_in(&folder))
            .args(arguments)
            .env("KUBECONFIG", kubeconfig)
            .env("HOME", folder.path())
            .env("TMPDIR", folder.path())
            .env_remove("XDG_RUNTIME_DIR")
            .stdin(Stdio::null())
            .stdout(File::create(lines_in(&folder))?)
            .stderr(Stdio::piped())
            .spawn()?;
        let said = Lines::of(child.stderr.take().context("standard error is a pipe")?, LIMIT);
        let mut session = Self { child, kubeconfig: PathBuf::new(), said, folder };
        session.kubeconfig = session.shown_kubeconfig()?;
        Ok(session)
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
        Ok(fs::read_to_string(lines_in(&self.folder))?)
    }

    /// The thread of watchtap that has this name.
    pub fn thread(&self, name: &str) -> Result<u32> {
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let thread = thread?;
            // Other threads may end meanwhile.
            if fs::read_to_string(thread.path().join("comm")).is_ok_and(|comm| comm.trim_end() == name) {
                return thread.file_name().to_str().and_then(|number| number.parse().ok()).context("a thread has a number");
            }
        }
        bail!("watchtap has no thread {name:?}")
    }

    /// What the process of watchtap holds now.
    pub fn usage(&self) -> Result<ProcessUsage> {
        ProcessUsage::of(self.child.id())
    }

    /// Asks for the end, which must be a proper one, and reads the JSON report.
    pub fn finish(mut self) -> Result<Value> {
        self.terminate()?;
        self.wait()?;
        Ok(serde_json::from_str(&fs::read_to_string(report_in(&self.folder))?)?)
    }

    /// Asks for the end, and does not wait for it.
    pub fn terminate(&self) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), Signal::TERM)?)
    }

    /// Waits for the end that was asked for, which must be a proper one.
    pub fn wait(&mut self) -> Result<()> {
        let status = wait_within(&mut self.child, LIMIT)?;
        ensure!(status.success(), "watchtap ended with {status} and said: {}", self.rest_of_what_was_said()?);
        Ok(())
    }

    /// Ends watchtap as a crash of it would (SIGKILL).
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    fn shown_kubeconfig(&self) -> Result<PathBuf> {
        let mut said = Vec::new();
        while let Some(line) = self.said.next_line()? {
            if let Some(path) = line.trim().strip_prefix("export KUBECONFIG=") {
                return Ok(PathBuf::from(path));
            }
            said.push(line);
        }
        bail!("watchtap ended and said: {}", said.join("\n"))
    }

    fn rest_of_what_was_said(&self) -> Result<String> {
        let mut said = String::new();
        while let Some(line) = self.said.next_line()? {
            said.push_str(&line);
            said.push('\n');
        }
        Ok(said)
    }
}

impl Drop for RunSession {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn report_in(folder: &TempDir) -> PathBuf {
    folder.path().join("report.json")
}

fn lines_in(folder: &TempDir) -> PathBuf {
    folder.path().join("lines")
}
