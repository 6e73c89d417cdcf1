//! Reads files of a process in `/proc`.

use std::io::Read as _;

use procfs::process::Process;

/// Maximum number of bytes read of the cgroups. A path has at most 4 KiB, and cgroup v1 has a dozen hierarchies.
const MOST_CGROUPS: u64 = 64 << 10;
/// Maximum number of bytes read of the mounts. A container has some dozens of mounts, each with a path of at most 4 KiB.
const MOST_MOUNTS: u64 = 256 << 10;

/// Reads `/proc/PID/cgroup`. `started` is the process's start time in clock ticks since boot. Returns `None` if that process is
/// gone; a zombie still exists.
pub fn cgroups(pid: u32, started: u64) -> Option<String> {
    read(pid, started, "cgroup", MOST_CGROUPS)
}

/// Reads `/proc/PID/mountinfo`, the mounts that the process sees; `None` as for [`cgroups`].
pub fn mounts(pid: u32, started: u64) -> Option<String> {
    read(pid, started, "mountinfo", MOST_MOUNTS)
}

fn read(pid: u32, started: u64, file: &str, most: u64) -> Option<String> {
    // One handle is used for all reads, so they are of the same process even if its PID is reused meanwhile.
    let process = Process::new(i32::try_from(pid).ok()?).ok()?;
    if process.stat().ok()?.starttime != started {
        return None;
    }
    let mut content = Vec::new();
    process.open_relative(file).ok()?.take(most).read_to_end(&mut content).ok()?;
    Some(String::from_utf8_lossy(&content).into_owned())
}
