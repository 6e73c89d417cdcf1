//! A child process that cannot outlive the test.
//!
//! Dropping a [`Process`] kills it. If the test process is killed, or never drops its statics, the parent-death signal ends its
//! children; `setpriv` (util-linux) sets that signal, and then executes the server. The kernel sends the signal when the *thread*
//! that spawned the child ends (prctl(2), `PR_SET_PDEATHSIG`), and each test has its own thread. So one thread that lives as long
//! as the process spawns all children.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags};

use crate::programs;

/// Signals that a test sends to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM: a graceful shutdown, with draining.
    Terminate,
    /// SIGKILL: a crash.
    Kill,
    /// SIGSTOP: the server hangs; the kernel still accepts its connections.
    Stop,
    /// SIGCONT: resumes a server after SIGSTOP.
    Continue,
}

impl Signal {
    fn number(self) -> rustix::process::Signal {
        match self {
            Self::Terminate => rustix::process::Signal::TERM,
            Self::Kill => rustix::process::Signal::KILL,
            Self::Stop => rustix::process::Signal::STOP,
            Self::Continue => rustix::process::Signal::CONT,
        }
    }
}

/// A running server with its log file.
#[derive(Debug)]
pub(crate) struct Process {
    name: &'static str,
    child: Child,
    handle: OwnedFd,
    log: PathBuf,
}

impl Process {
    /// Starts `program` without variables but `TZ`, which is UTC, and appends its output to `log`.
    pub(crate) fn start(name: &'static str, program: &Path, arguments: &[String], log: PathBuf) -> Result<Self> {
        let output = File::options().create(true).append(true).open(&log)?;
        let mut command = Command::new(programs::require("setpriv", "so that no server outlives its test")?);
        command.args(["--pdeathsig", "KILL", "--"]).arg(program).args(arguments);
        command.env_clear().env("TZ", "UTC").stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let child = spawn_from_lasting_thread(command).with_context(|| format!("cannot start {name}"))?;
        let handle = rustix::process::pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        Ok(Self { name, child, handle, log })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        rustix::process::pidfd_send_signal(&self.handle, signal.number()).with_context(|| format!("cannot signal {}", self.name))
    }

    /// Waits until the process exits; an error after `limit`.
    pub(crate) fn wait(&mut self, limit: Duration) -> Result<ExitStatus> {
        let timeout = Timespec::try_from(limit)?;
        let mut ended = [PollFd::new(&self.handle, PollFlags::IN)];
        if rustix::event::poll(&mut ended, Some(&timeout))? == 0 {
            bail!("{} is still running after {limit:?}; its log ends:\n{}", self.name, self.log_tail());
        }
        Ok(self.child.wait()?)
    }

    /// Fails, with the end of the log, if the process has exited.
    fn ensure_running(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => bail!("{} ended ({status}); its log ends:\n{}", self.name, self.log_tail()),
        }
    }

    /// Polls `ready` until it returns true; fails early if the process exits.
    pub(crate) fn wait_until(&mut self, limit: Duration, ready: impl Fn() -> bool) -> Result<()> {
        const PAUSE: Duration = Duration::from_millis(50);
        let started = Instant::now();
        while !ready() {
            self.ensure_running()?;
            if started.elapsed() > limit {
                bail!("{} is not ready after {limit:?}; its log ends:\n{}", self.name, self.log_tail());
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// The last lines of the log.
    fn log_tail(&self) -> String {
        const LINES: usize = 30;
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
        tail.join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

struct SpawnRequest {
    command: Command,
    answer: SyncSender<io::Result<Child>>,
}

fn spawn_from_lasting_thread(command: Command) -> Result<Child> {
    static REQUESTS: OnceLock<Mutex<SyncSender<SpawnRequest>>> = OnceLock::new();
    let requests = REQUESTS.get_or_init(|| {
        let (sender, receiver) = sync_channel(0);
        std::thread::spawn(move || spawn_for_ever(&receiver));
        Mutex::new(sender)
    });
    let (answer, answered) = sync_channel(1);
    let request = SpawnRequest { command, answer };
    let sent = requests.lock().unwrap_or_else(PoisonError::into_inner).send(request);
    sent.ok().context("the spawning thread takes no requests")?;
    Ok(answered.recv().context("the spawning thread gave no answer")??)
}

fn spawn_for_ever(requests: &Receiver<SpawnRequest>) {
    for mut request in requests {
        // The requester waits for the answer. If its thread has ended anyway, the child ends with this process.
        request.answer.send(request.command.spawn()).ok();
    }
}
