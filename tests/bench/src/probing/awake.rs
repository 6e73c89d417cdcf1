//! Keeps the processors from sleeping. Without it, an answer has to wake a processor up in some modes, and not in those where watchtap runs.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::processors::Processors;

/// A process for each processor that runs whenever no other one wants to; dropping the value ends them.
pub(super) struct Awake(Vec<Child>);

impl Awake {
    /// Starts the processes. The kernel gives them only time that is left (sched(7), `SCHED_IDLE`).
    pub(super) fn all(processors: &Processors) -> Result<Self> {
        let mut awake = Self(Vec::new());
        for number in processors.numbers() {
            let mut spinning = Command::new("setpriv");
            spinning.args(["--pdeathsig", "KILL", "--", "chrt", "--idle", "0", "sh", "-c", "while :; do :; done"]);
            spinning.stdin(Stdio::null()).stdout(Stdio::null());
            let started = || spinning.spawn().context("cannot start `setpriv` of util-linux");
            awake.0.push(processors.on(number, started)?);
        }
        Ok(awake)
    }

    /// Ends the processes. It is an error if one has ended before: then the measurements are of processors that slept.
    pub(super) fn end(mut self) -> Result<()> {
        for child in &mut self.0 {
            let ended = child.try_wait()?;
            ensure!(ended.is_none(), "a processor was not kept awake ({ended:?}); are `setpriv` and `chrt` of util-linux there?");
        }
        Ok(())
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().ok();
            child.wait().ok();
        }
    }
}
