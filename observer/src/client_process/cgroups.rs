//! Which cgroups a process is in.

use std::io::Read as _;

use procfs::process::Process;

/// So much is read of it: a path has 4 KiB at most, and version 1 a dozen hierarchies.
const MAX_BYTES: u64 = 64 << 10;

/// What `/proc/PID/cgroup` tells of the process with this number that was started then, in clock ticks since the machine was; nothing when it is gone. A
/// process that has ended and is not waited for yet is there.
pub fn cgroups(pid: u32, started: u64) -> Option<String> {
    // What is read of it all belongs to one process, whoever gets its number meanwhile.
    let process = Process::new(i32::try_from(pid).ok()?).ok()?;
    if process.stat().ok()?.starttime != started {
        return None;
    }
    let mut told = Vec::new();
    process.open_relative("cgroup").ok()?.take(MAX_BYTES).read_to_end(&mut told).ok()?;
    Some(String::from_utf8_lossy(&told).into_owned())
}
