//! The name of a process.

use std::fs;

/// The name of a process in `/proc/PID/comm` (proc(5)), at most 15 bytes; `None` if it is gone.
pub(in crate::tap::probe) fn process_name(process: u32) -> Option<String> {
    let name = fs::read(format!("/proc/{process}/comm")).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end().to_owned())
}
