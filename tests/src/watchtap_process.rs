//! A running watchtap, whatever its command is.

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
use crate::watchtap::watchtap;

/// A first line, or an end, that takes longer is a hang.
const LIMIT: Duration = Duration::from_secs(30);

/// Its process, what it says, and where it writes. Dropped before [`WatchtapProcess::finish`], it is killed.
#[derive(Debug)]
pub(crate) struct WatchtapProcess {
    child: Child,
    said: Lines,
    folder: TempDir,
}

impl WatchtapProcess {
    /// Starts a command on the kubeconfig of an API server; `arguments` stand behind it.
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
        let said = Lines::of(child.stderr.take().context("standard error is a pipe")?, LIMIT);
        Ok(Self { child, said, folder })
    }

    /// Waits until it says a line that `wanted` finds something in.
    pub(crate) fn said<T>(&self, mut wanted: impl FnMut(&str) -> Option<T>) -> Result<T> {
        let mut said = Vec::new();
        while let Some(line) = self.said.next_line()? {
            if let Some(found) = wanted(&line) {
                return Ok(found);
            }
            said.push(line);
        }
        bail!("watchtap ended and said: {}", said.join("\n"))
    }

    /// The lines that it has shown so far, unless it was told to be quiet.
    pub(crate) fn lines(&self) -> Result<String> {
        Ok(fs::read_to_string(lines_in(&self.folder))?)
    }

    /// The thread of watchtap that has this name.
    pub(crate) fn thread(&self, name: &str) -> Result<u32> {
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
    pub(crate) fn usage(&self) -> Result<ProcessUsage> {
        ProcessUsage::of(self.child.id())
    }

    /// The process, by its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Asks for the end, which must be a proper one, and reads the JSON report.
    pub(crate) fn finish(mut self) -> Result<Value> {
        self.terminate()?;
        self.wait()?;
        self.report()
    }

    /// The JSON report, once the end has come.
    pub(crate) fn report(&self) -> Result<Value> {
        Ok(serde_json::from_str(&fs::read_to_string(report_in(&self.folder))?)?)
    }

    /// Asks for the end, and does not wait for it.
    pub(crate) fn terminate(&self) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), Signal::TERM)?)
    }

    /// Waits for the end that was asked for, which must be a proper one.
    pub(crate) fn wait(&mut self) -> Result<()> {
        let status = wait_within(&mut self.child, LIMIT)?;
        ensure!(status.success(), "watchtap ended with {status} and said: {}", self.rest_of_what_was_said()?);
        Ok(())
    }

    /// Ends watchtap as a crash of it would (SIGKILL).
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// What it says from now on until its end.
    pub(crate) fn rest_of_what_was_said(&self) -> Result<String> {
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
