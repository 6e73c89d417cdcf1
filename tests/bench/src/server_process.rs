//! Starts a server process, and measures its CPU time and memory.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// A server process; dropping it ends the process.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

const START: Duration = Duration::from_secs(20);
const END: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(10);

impl ServerProcess {
    /// Starts `command` and writes its output to a file in `folder`. Its standard input closes when this process ends. The kernel
    /// kills it when the thread that starts it ends (prctl(2), `PR_SET_PDEATHSIG`), so that must be the main thread.
    pub(crate) fn start(name: &'static str, command: &Command, folder: &Path) -> Result<Self> {
        let log = folder.join(format!("{name}.log"));
        let output = File::create(&log)?;
        let mut guarded = Command::new("setpriv");
        guarded.args(["--pdeathsig", "TERM", "--"]).arg(command.get_program()).args(command.get_args());
        guarded.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("TMPDIR", folder);
        guarded.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(output);
        let child = guarded.spawn().with_context(|| format!("cannot start {name}; `setpriv` is part of util-linux"))?;
        Ok(Self { name, child, log })
    }

    /// Takes the pipe of its standard output.
    pub(crate) fn stdout(&mut self) -> Result<std::process::ChildStdout> {
        self.child.stdout.take().context("standard output was taken")
    }

    /// Its standard input, which stays open.
    pub(crate) fn stdin(&mut self) -> Result<&mut std::process::ChildStdin> {
        self.child.stdin.as_mut().context("standard input is not piped")
    }

    /// Waits until a server listens on `port`.
    pub(crate) fn await_port(&mut self, port: u16) -> Result<()> {
        let begun = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            let ended = self.child.try_wait()?;
            if ended.is_some() || begun.elapsed() > START {
                bail!("{} does not listen", self.log());
            }
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Waits until its output has an address behind these words, and returns the port.
    pub(crate) fn await_announced_port(&mut self, words: &str) -> Result<u16> {
        let begun = Instant::now();
        loop {
            let log = self.log();
            let address = log.split_once(words).and_then(|(_, rest)| rest.split_once('/')).map(|(address, _)| address);
            if let Some(port) = address.and_then(|address| address.rsplit_once(':')?.1.parse().ok()) {
                return Ok(port);
            }
            let ended = self.child.try_wait()?;
            if ended.is_some() || begun.elapsed() > START {
                bail!("{log} does not listen");
            }
            thread::sleep(PAUSE);
        }
    }

    /// Its name and its output.
    pub(crate) fn log(&self) -> String {
        format!("{}: {}", self.name, fs::read_to_string(&self.log).unwrap_or_default().trim())
    }

    /// CPU time so far, in ticks of 10 ms: all threads, including ended ones, and children.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        Ok(self.family()?.into_iter().map(|process| process.cpu).sum())
    }

    /// Resident memory without file-backed pages, in bytes, including its children.
    pub(crate) fn memory(&self) -> Result<u64> {
        self.family()?.into_iter().map(Process::memory).sum()
    }

    /// Sends SIGTERM and waits for the exit.
    pub(crate) fn stop(&mut self) -> Result<()> {
        kill_process(Pid::from_child(&self.child), Signal::TERM).ok();
        let begun = Instant::now();
        while self.child.try_wait()?.is_none() {
            if begun.elapsed() > END {
                self.child.kill()?;
                self.child.wait()?;
                bail!("{} did not end within {END:?}", self.name);
            }
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// The process and its children, such as nginx's workers.
    fn family(&self) -> Result<Vec<Process>> {
        let own = self.child.id();
        let numbers = fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let family: Vec<Process> = numbers.filter_map(Process::read).filter(|one| one.number == own || one.parent == own).collect();
        ensure!(family.iter().any(|one| one.number == own), "{} is gone", self.name);
        Ok(family)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // The master process of nginx ends its workers only on a regular shutdown.
            self.stop().ok();
        }
    }
}

/// The fields of `/proc/PID/stat` for a process (`proc_pid_stat(5)`).
#[derive(Clone, Copy, Debug)]
struct Process {
    number: u32,
    parent: u32,
    cpu: Duration,
}

/// `USER_HZ`, which is 100 on every Linux that Rust supports.
const TICK: Duration = Duration::from_millis(10);

impl Process {
    /// `None` if the process is gone.
    fn read(number: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        // The second field is a name in parentheses, which may contain any character.
        let (_, behind_name) = stat.rsplit_once(')')?;
        let mut fields = behind_name.split_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        let ticks: u32 = fields.nth(9)?.parse::<u32>().ok()? + fields.next()?.parse::<u32>().ok()?;
        Some(Self { number, parent, cpu: TICK * ticks })
    }

    /// Resident memory without file-backed pages, in bytes.
    fn memory(self) -> Result<u64> {
        let number = self.number;
        let status = fs::read_to_string(format!("/proc/{number}/status")).with_context(|| format!("process {number} is gone"))?;
        let kibibytes = |field: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(field))?;
            line.trim_end_matches("kB").trim().parse().ok()
        };
        let anonymous = kibibytes("RssAnon:").context("the kernel does not tell RssAnon")?;
        Ok((anonymous + kibibytes("RssShmem:").unwrap_or_default()) * 1024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_cpu_time_and_memory_are_read() {
        let own = Process::read(std::process::id()).unwrap();
        let begun = Instant::now();
        let mut later = own;
        while later.cpu <= own.cpu && begun.elapsed() < START {
            later = Process::read(own.number).unwrap();
        }
        assert!(later.cpu > own.cpu, "{later:?}");
        assert_eq!(own.parent, std::os::unix::process::parent_id());
        assert!(own.memory().unwrap() > 0);
    }
}
