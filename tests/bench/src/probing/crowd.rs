//! Processes that do nothing, as most of a machine's processes.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// Maximum lifetime of each process, in seconds.
const LIFETIME: &str = "600";

/// Idle processes of one program; dropping the value ends them.
pub(super) struct Crowd(Vec<Child>);

impl Crowd {
    /// Starts this many processes.
    pub(super) fn of(size: usize) -> Result<Self> {
        let mut crowd = Self(Vec::with_capacity(size));
        for _ in 0..size {
            let mut sleeper = Command::new("setpriv");
            sleeper.args(["--pdeathsig", "KILL", "--", "sleep", LIFETIME]).stdin(Stdio::null()).stdout(Stdio::null());
            crowd.0.push(sleeper.spawn().context("cannot start `setpriv` of util-linux")?);
        }
        Ok(crowd)
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().ok();
        }
        for child in &mut self.0 {
            child.wait().ok();
        }
    }
}
