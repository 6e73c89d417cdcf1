//! Removes the cgroups and the folder of a node after its end.
//!
//! The kernel ends the processes of a node together with the test process, even if that is killed. So a process that outlives it has to
//! do the rest. It takes a moment, holds no file of the test, and does not belong to the terminal's process group.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// The process that waits for the end. Drop this value after the node's processes.
#[derive(Debug)]
pub(crate) struct Leavings(Child);

impl Leavings {
    pub(crate) fn remove_after_end(cgroup: &str, folder: &Path) -> Result<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", include_str!("leavings.sh"), "leavings.sh", cgroup]).arg(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/").process_group(0);
        Ok(Self(command.spawn().context("cannot start a shell")?))
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Leavings {
    /// After a panic, the folder is kept for its logs; see [`crate::run_folder::RunFolder`].
    fn drop(&mut self) {
        let request = if std::thread::panicking() { "keep\n" } else { "remove\n" };
        if let Some(mut input) = self.0.stdin.take() {
            input.write_all(request.as_bytes()).ok();
        }
        self.0.wait().ok();
    }
}
