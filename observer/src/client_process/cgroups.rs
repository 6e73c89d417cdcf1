//! Reads the cgroups of a process.

use std::io::Read as _;

use procfs::process::Process;

/// Maximum number of bytes read from the file. A path has at most 4 KiB, and cgroup v1 has a dozen hierarchies.
const MAX_BYTES: u64 = 64 << 10;

/// Reads `/proc/PID/cgroup`. `started` is the process's start time in clock ticks since boot. Returns `None` if that process is
/// gone; a zombie still exists.
pub fn cgroups(pid: u32, started: u64) -> Option<String> {
    // One handle is used for all reads, so they are of the same process even if its PID is reused meanwhile.
    let process = Process::new(i32::try_from(pid).ok()?).ok()?;
    if process.stat().ok()?.starttime != started {
        return None;
    }
    let mut content = Vec::new();
    process.open_relative("cgroup").ok()?.take(MAX_BYTES).read_to_end(&mut content).ok()?;
    Some(String::from_utf8_lossy(&content).into_owned())
}
