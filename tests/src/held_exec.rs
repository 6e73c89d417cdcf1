//! A `watchtap exec` whose command only waits, so that the test itself is the client.

use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags};
use serde_json::Value;
use tempfile::TempDir;

use crate::kubeconfig;
use crate::process_usage::ProcessUsage;
use crate::watchtap;

/// Prints the file that KUBECONFIG names, then waits until its standard input closes.
const COMMAND: [&str; 3] = ["sh", "-c", "cat \"$KUBECONFIG\" && exec cat"];

/// A running `watchtap exec`. It ends when this value is dropped or when the test process ends.
#[derive(Debug)]
pub struct HeldExec {
    watchtap: Child,
    input: Option<ChildStdin>,
    kubeconfig: Value,
    folder: TempDir,
}

impl HeldExec {
    /// Starts `watchtap exec FLAGS…` with this kubeconfig and waits until its command has printed the edited kubeconfig.
    pub fn start(kubeconfig: &Path, flags: &[&str]) -> Result<Self> {
        Self::start_by(watchtap()?, kubeconfig, flags)
    }

    /// Like [`HeldExec::start`], with `command` in place of `watchtap`.
    fn start_by(mut command: Command, kubeconfig: &Path, flags: &[&str]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        command.arg("exec").args(flags).args(["--format", "json", "--report"]).arg(report_in(&folder)).arg("--").args(COMMAND);
        command.env("KUBECONFIG", kubeconfig).env("HOME", folder.path());
        // Mode 0600, like the files that watchtap creates there.
        let messages = OpenOptions::new().write(true).create_new(true).mode(0o600).open(messages_in(&folder))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(messages);
        let mut watchtap = command.spawn().context("cannot start watchtap")?;
        let input = watchtap.stdin.take();
        let output = watchtap.stdout.take().context("watchtap has no standard output")?;
        let mut held = Self { watchtap, input, kubeconfig: Value::Null, folder };
        let shown = serde_json::Deserializer::from_reader(output).into_iter().next();
        held.kubeconfig = shown.with_context(|| format!("no kubeconfig was shown; it said: {}", held.messages()))??;
        Ok(held)
    }

    /// Like [`HeldExec::start`], for a server whose certificate `authority` (PEM) signed, with a bearer token.
    pub fn before(server: SocketAddr, authority: &str, token: &str, flags: &[&str]) -> Result<Self> {
        Self::before_by(watchtap()?, server, authority, token, flags)
    }

    /// Like [`HeldExec::before`], with `command` in place of `watchtap`. `server` may be a host name with a port.
    pub fn before_by(command: Command, server: impl Display, authority: &str, token: &str, flags: &[&str]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("kubeconfig.yaml");
        fs::write(&file, kubeconfig::with_token(&format!("https://{server}"), authority, "user", token))?;
        Self::start_by(command, &file, flags)
    }

    /// The listener's address, from the edited kubeconfig.
    pub fn address(&self) -> Result<SocketAddr> {
        let server = self.cluster("server")?;
        let address = server.strip_prefix("https://").with_context(|| format!("{server} is not an https URL"))?;
        let address = address.split('/').next().unwrap_or(address);
        address.parse().with_context(|| format!("{server} does not name an address"))
    }

    /// The CA that signed watchtap's certificate, PEM.
    pub fn ca_pem(&self) -> Result<String> {
        let decoded = BASE64_STANDARD.decode(self.cluster("certificate-authority-data")?)?;
        Ok(String::from_utf8(decoded)?)
    }

    /// Writes a copy of the edited kubeconfig that points to another server, for clients of the test.
    pub fn kubeconfig_by_way_of(&self, server: SocketAddr, authority: &str) -> Result<PathBuf> {
        let mut document = self.kubeconfig.clone();
        let cluster = document.pointer_mut(CLUSTER).and_then(Value::as_object_mut).context("a kubeconfig without cluster")?;
        cluster.insert("server".to_owned(), format!("https://{server}").into());
        cluster.insert("certificate-authority-data".to_owned(), BASE64_STANDARD.encode(authority).into());
        let file = self.folder.path().join("kubeconfig-of-client.json");
        fs::write(&file, document.to_string())?;
        Ok(file)
    }

    /// Peak resident memory of watchtap so far, in bytes (`VmHWM` of proc(5)).
    pub fn peak_memory(&self) -> Result<u64> {
        const KIBI: u64 = 1 << 10;
        let status = fs::read_to_string(format!("/proc/{}/status", self.watchtap.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
        let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().with_context(|| format!("VmHWM: {line}"))?;
        Ok(kibibytes * KIBI)
    }

    /// Waits until all threads of watchtap sleep: by then it has observed everything that it forwarded.
    pub fn wait_until_idle(&self) -> Result<()> {
        // Time limit that only a hang exceeds, even on a slow machine.
        const LIMIT: Duration = Duration::from_mins(2);
        const PAUSE: Duration = Duration::from_micros(200);
        let started = Instant::now();
        while !self.is_idle()? {
            ensure!(started.elapsed() < LIMIT, "watchtap is busy for {LIMIT:?}");
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Waits until watchtap uses no processor time for 3 s. It may wait for the process of a client for 2 s before it decodes, and all
    /// its threads sleep then.
    pub fn wait_until_quiet(&self) -> Result<()> {
        const LIMIT: Duration = Duration::from_mins(2);
        const QUIET: Duration = Duration::from_secs(3);
        /// The processor time that timers alone may use.
        const NONE: Duration = Duration::from_millis(50);
        let started = Instant::now();
        loop {
            let before = self.usage()?.processor_time;
            thread::sleep(QUIET);
            if self.usage()?.processor_time.saturating_sub(before) <= NONE {
                return Ok(());
            }
            ensure!(started.elapsed() < LIMIT, "watchtap is busy for {LIMIT:?}");
        }
    }

    /// The state follows the thread's name, which is in parentheses (proc(5), `/proc/PID/stat`).
    fn is_idle(&self) -> Result<bool> {
        for thread in fs::read_dir(format!("/proc/{}/task", self.watchtap.id()))? {
            // A thread that has exited in the meantime is not busy.
            let stat = fs::read_to_string(thread?.path().join("stat")).unwrap_or_default();
            let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
            if state.is_some_and(|state| state != 'S') {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Process ID of watchtap.
    pub fn process(&self) -> Pid {
        Pid::from_child(&self.watchtap)
    }

    /// Its present memory, descriptors and processor time.
    pub fn usage(&self) -> Result<ProcessUsage> {
        ProcessUsage::of(self.watchtap.id())
    }

    /// Its standard error so far.
    pub fn messages(&self) -> String {
        fs::read_to_string(messages_in(&self.folder)).unwrap_or_default()
    }

    /// Its home folder, which holds its report and its standard error.
    pub fn home(&self) -> &Path {
        self.folder.path()
    }

    /// Ends the command and returns watchtap's report.
    pub fn finish(mut self) -> Result<Value> {
        let status = self.end()?;
        ensure!(status.success(), "watchtap ended with {status}; it said: {}", self.messages());
        self.report()
    }

    /// The JSON report that it wrote on exit.
    pub fn report(&self) -> Result<Value> {
        let report = fs::read_to_string(report_in(&self.folder));
        let report = report.with_context(|| format!("no report; it said: {}", self.messages()))?;
        Ok(serde_json::from_str(&report)?)
    }

    /// Ends the command and returns watchtap's exit status.
    pub fn end(&mut self) -> Result<ExitStatus> {
        const LIMIT: Duration = Duration::from_mins(1);
        self.input = None;
        let handle = rustix::process::pidfd_open(Pid::from_child(&self.watchtap), PidfdFlags::empty())?;
        let mut ended = [PollFd::new(&handle, PollFlags::IN)];
        let count = rustix::event::poll(&mut ended, Some(&Timespec::try_from(LIMIT)?))?;
        ensure!(count == 1, "watchtap is still running {LIMIT:?} after its command; it said: {}", self.messages());
        Ok(self.watchtap.wait()?)
    }

    fn cluster(&self, field: &str) -> Result<&str> {
        let value = self.kubeconfig.pointer(CLUSTER).and_then(|cluster| cluster.get(field)).and_then(Value::as_str);
        value.with_context(|| format!("no {field} in {}", self.kubeconfig))
    }
}

impl Drop for HeldExec {
    fn drop(&mut self) {
        self.input = None;
        self.watchtap.kill().ok();
        self.watchtap.wait().ok();
    }
}

/// The path of the only cluster in the tests' kubeconfigs.
const CLUSTER: &str = "/clusters/0/cluster";

fn report_in(folder: &TempDir) -> PathBuf {
    folder.path().join("report.json")
}

fn messages_in(folder: &TempDir) -> PathBuf {
    folder.path().join("stderr.txt")
}
