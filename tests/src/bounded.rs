//! Child programs with a time limit, so that no test waits for one forever.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::process::{Child, Command, ExitStatus, Output};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags};

/// Runs a program until it exits, as [`Command::output`] does. After `limit` it kills the program and returns an error.
///
/// Its output goes to files, so a descendant that outlives it cannot block the test.
pub fn output_within(command: &mut Command, limit: Duration) -> Result<Output> {
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
    let status = wait_within(&mut child, limit);
    let (stdout, stderr) = (content(&mut stdout)?, content(&mut stderr)?);
    let status = status.with_context(|| format!("{command:?} said: {}", String::from_utf8_lossy(&stderr)))?;
    Ok(Output { status, stdout, stderr })
}

/// Waits until a child exits. After `limit` it kills the child and returns an error.
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

/// The output of a running program, line by line. A descendant that holds the other end of the pipe cannot block the test.
#[derive(Debug)]
pub struct Lines {
    lines: Receiver<String>,
    limit: Duration,
}

impl Lines {
    /// Reads `output` on a thread of its own; each line may take up to `limit`.
    pub fn of(output: impl Read + Send + 'static, limit: Duration) -> Self {
        let (sender, lines) = channel();
        thread::spawn(move || BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { lines, limit }
    }

    /// The next line without its line ending, or `None` at the end of the output; an error after `limit`.
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
