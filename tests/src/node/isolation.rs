//! A node's own mounts, network, host name, IPC and process IDs.
//!
//! The machine is not changed, and nothing can stay behind: the process ID namespace ends with its first process, which ends with the
//! test process, and all other namespaces end with their last process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, PidfdFlags};

use crate::network::in_network;
use crate::process::Process;
use crate::programs;
use crate::run_folder::RunFolder;

const READY_WITHIN: Duration = Duration::from_secs(30);
const STOPPED_WITHIN: Duration = Duration::from_mins(1);
const PURPOSE: &str = "for the namespaces of a node";
/// The folders of the machine in which the programs of a node find others.
const PATH: &str = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";

/// The namespaces. On drop, all of their processes are killed.
#[derive(Debug)]
pub(crate) struct Isolation {
    unshare: Process,
}

impl Isolation {
    /// Creates the namespaces. Their first process is `pause`, and their loopback interface has `addresses`.
    pub(crate) fn create(folder: &RunFolder, pause: &Path, addresses: &[&str]) -> Result<Self> {
        let unshare = programs::require("unshare", PURPOSE)?;
        let mut arguments: Vec<String> =
            ["--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc", "--", "/bin/sh", "-c"]
                .map(str::to_owned)
                .into();
        arguments.extend([include_str!("isolation.sh"), "isolation.sh"].map(str::to_owned));
        arguments.extend([folder.path(), pause].map(|path| path.display().to_string()));
        arguments.extend(addresses.iter().map(|&address| address.to_owned()));
        let mut unshare =
            Process::start("the first process of the node", &unshare, &arguments, folder.path().join("isolation.log"))?;
        let isolated = folder.path().join("isolated");
        unshare.wait_until(READY_WITHIN, || isolated.exists())?;
        Ok(Self { unshare })
    }

    /// A command that runs inside. It ends with its [`Command`] and with the node.
    pub(crate) fn command(&self, program: &Path) -> Result<Command> {
        let mut command = Command::new(programs::require("nsenter", PURPOSE)?);
        command.args(self.entering()?).arg(program);
        Ok(command)
    }

    /// Starts a part of the node inside.
    pub(crate) fn start(&self, name: &'static str, program: &Path, arguments: &[String], log: PathBuf) -> Result<Part> {
        let nsenter = programs::require("nsenter", PURPOSE)?;
        let env = programs::require("env", PURPOSE)?;
        let mut all = self.entering()?;
        all.extend([env.display().to_string(), PATH.to_owned(), program.display().to_string()]);
        all.extend_from_slice(arguments);
        Ok(Part(Process::start(name, &nsenter, &all, log)?))
    }

    /// Arguments of `nsenter`, to be followed by a program. `nsenter` has that program as its child; the parent-death signal ends the
    /// child if `nsenter` is killed.
    fn entering(&self) -> Result<Vec<String>> {
        let id = self.unshare.id();
        let setpriv = programs::require("setpriv", PURPOSE)?;
        let mut arguments: Vec<String> = ["--mount", "--net", "--uts", "--ipc"].map(str::to_owned).into();
        arguments.extend([format!("--target={id}"), format!("--pid=/proc/{id}/ns/pid_for_children"), "--".to_owned()]);
        arguments.extend([setpriv.display().to_string(), "--pdeathsig".to_owned(), "KILL".to_owned(), "--".to_owned()]);
        Ok(arguments)
    }

    /// Runs `work` on a thread in the network of the node. A socket that it opens there stays usable everywhere.
    pub(crate) fn in_network<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        in_network(&self.file("ns/net"), work)
    }

    /// Runs `work` on a thread in the network of a process, whose ID is the one that it has inside.
    pub(crate) fn in_network_of<T: Send>(&self, process: u32, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        in_network(&self.file(&format!("root/proc/{process}/ns/net")), work)
    }

    /// A file in the machine's `/proc` of the process that made the namespaces.
    fn file(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.unshare.id()))
    }
}

/// A running program of a node.
#[derive(Debug)]
pub(crate) struct Part(Process);

impl Part {
    /// Kills the program, and waits until the kernel has released its ports and files.
    pub(crate) fn kill(mut self) -> Result<()> {
        let nsenter = self.0.id();
        let children = fs::read_to_string(format!("/proc/{nsenter}/task/{nsenter}/children")).context("the part does not run")?;
        let child = children.split_whitespace().next().and_then(|id| Pid::from_raw(id.parse().ok()?));
        let child = rustix::process::pidfd_open(child.context("the part has ended")?, PidfdFlags::empty())?;
        rustix::process::pidfd_send_signal(&child, rustix::process::Signal::KILL)?;
        self.0.wait(STOPPED_WITHIN).map(drop)
    }

    /// Polls `ready` until it returns true; fails early if the program exits.
    pub(crate) fn wait_until(&mut self, limit: Duration, ready: impl Fn() -> bool) -> Result<()> {
        self.0.wait_until(limit, ready)
    }
}
