//! A running watchtap, with any command.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::bounded::{Lines, wait_within};
use crate::process_usage::ProcessUsage;
use crate::slowness::patient;
use crate::watchtap::watchtap;

/// A longer wait for a line or for the exit counts as a hang.
const LIMIT: Duration = Duration::from_secs(90);

/// A watchtap process with its standard error and its folder. Dropping it before [`WatchtapProcess::finish`] kills it.
#[derive(Debug)]
pub(crate) struct WatchtapProcess {
    child: Child,
    said: Lines,
    folder: TempDir,
}

impl WatchtapProcess {
    /// Starts a command on the kubeconfig of an API server; `arguments` follow the command.
    pub(crate) fn start(command: &str, kubeconfig: &Path, arguments: impl IntoIterator<Item: AsRef<OsStr>>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut child = watchtap()?
            .args([command, "--format", "json", "--report"])
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
        let said = Lines::of(child.stderr.take().context("standard error is a pipe")?, patient(LIMIT));
        Ok(Self { child, said, folder })
    }

    /// Reads standard error until `wanted` accepts a line.
    pub(crate) fn find_line<T>(&self, mut wanted: impl FnMut(&str) -> Option<T>) -> Result<T> {
        let mut said = Vec::new();
        while let Some(line) = self.said.next_line()? {
            if let Some(found) = wanted(&line) {
                return Ok(found);
            }
            said.push(line);
        }
        bail!("watchtap ended and said: {}", said.join("\n"))
    }

    /// Its standard output so far; empty with `--quiet`.
    pub(crate) fn lines(&self) -> Result<String> {
        Ok(fs::read_to_string(lines_in(&self.folder))?)
    }

    /// The ID of watchtap's thread with this name.
    pub(crate) fn thread(&self, name: &str) -> Result<u32> {
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let thread = thread?;
            // Other threads may exit in the meantime.
            if fs::read_to_string(thread.path().join("comm")).is_ok_and(|comm| comm.trim_end() == name) {
                return thread.file_name().to_str().and_then(|number| number.parse().ok()).context("a thread has a number");
            }
        }
        bail!("watchtap has no thread {name:?}")
    }

    /// The present memory, descriptors and processor time of watchtap.
    pub(crate) fn usage(&self) -> Result<ProcessUsage> {
        ProcessUsage::of(self.child.id())
    }

    /// Process ID of watchtap.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM, fails unless watchtap exits with success, and reads the JSON report.
    pub(crate) fn finish(mut self) -> Result<Value> {
        self.terminate()?;
        self.wait()?;
        self.report()
    }

    /// The JSON report; call it after the exit.
    pub(crate) fn report(&self) -> Result<Value> {
        Ok(serde_json::from_str(&fs::read_to_string(report_in(&self.folder))?)?)
    }

    /// Sends SIGTERM and returns immediately.
    pub(crate) fn terminate(&self) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), Signal::TERM)?)
    }

    /// Waits for the exit after [`WatchtapProcess::terminate`], and fails unless it is a success.
    pub(crate) fn wait(&mut self) -> Result<()> {
        let status = wait_within(&mut self.child, patient(LIMIT))?;
        ensure!(status.success(), "watchtap ended with {status} and said: {}", self.rest_of_stderr()?);
        Ok(())
    }

    /// Kills watchtap with SIGKILL, as a crash would end it.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Reads standard error from here to its end.
    pub(crate) fn rest_of_stderr(&self) -> Result<String> {
        let mut said = String::new();
        while let Some(line) = self.said.next_line()? {
            said.push_str(&line);
            said.push('\n');
        }
        Ok(said)
    }
}

impl Drop for WatchtapProcess {
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
