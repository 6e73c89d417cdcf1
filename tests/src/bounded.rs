//! Programs that may not run for ever: a test that waits for one has a limit.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::process::{Child, Command, ExitStatus, Output};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags};

/// Runs a program to its end, as [`Command::output`] does; one that is still running after `limit` is killed, and that is an error.
///
/// What it prints goes to files, so that a descendant that outlives it cannot hold the test up.
pub fn output_within(command: &mut Command, limit: Duration) -> Result<Output> {
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let status = wait_within(&mut child, limit);
    let (stdout, stderr) = (content(&mut stdout)?, content(&mut stderr)?);
    let status = status.with_context(|| format!("{command:?} said: {}", String::from_utf8_lossy(&stderr)))?;
    Ok(Output { status, stdout, stderr })
}

/// Waits for the end of a child; one that is still running after `limit` is killed, and that is an error.
pub fn wait_within(child: &mut Child, limit: Duration) -> Result<ExitStatus> {
    let handle = rustix::process::pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let mut ended = [PollFd::new(&handle, PollFlags::IN)];
    if rustix::event::poll(&mut ended, Some(&Timespec::try_from(limit)?))? == 0 {
        child.kill()?;
        child.wait()?;
        bail!("still running after {limit:?}");
    }
    Ok(child.wait()?)
}

/// What a running program says, line by line; a descendant that holds the other end of the pipe cannot hold the test up.
#[derive(Debug)]
pub struct Lines {
    lines: Receiver<String>,
    limit: Duration,
}

impl Lines {
    /// Each line may take as long as `limit`.
    pub fn of(output: impl Read + Send + 'static, limit: Duration) -> Self {
        let (sender, lines) = channel();
        thread::spawn(move || BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { lines, limit }
    }

    /// The next line without its end, nothing once the output has ended; an error if it takes too long.
    pub fn next_line(&self) -> Result<Option<String>> {
        match self.lines.recv_timeout(self.limit) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => bail!("not a line within {:?}", self.limit),
        }
    }
}

fn content(file: &mut File) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut content)?;
    Ok(content)
}
