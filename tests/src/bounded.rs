//! Programs that may not run for ever: a test that waits for one has a limit.

use std::fs::File;
use std::io::{Read, Seek};
use std::process::{Child, Command, ExitStatus, Output};
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

fn content(file: &mut File) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut content)?;
    Ok(content)
}
