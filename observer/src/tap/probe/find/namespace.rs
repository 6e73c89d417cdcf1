//! The namespaces of processes, by the inodes of their files.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

/// The PID namespace whose PIDs are the kernel's own: `PROC_PID_INIT_INO` of Linux `include/linux/proc_ns.h`, 6.18.
pub(in crate::tap::probe) const INITIAL_PID_NAMESPACE: u64 = 0xEFFF_FFFC;
/// The user namespace whose capabilities the kernel checks: `PROC_USER_INIT_INO`, as above.
pub(in crate::tap::probe) const INITIAL_USER_NAMESPACE: u64 = 0xEFFF_FFFD;

/// Device and inode of watchtap's namespace of a kind, which is a name in `/proc/self/ns`; `None` if it cannot be read.
pub(in crate::tap::probe) fn own(kind: &str) -> Option<(u64, u64)> {
    let file = fs::metadata(format!("/proc/self/ns/{kind}")).ok()?;
    Some((file.dev(), file.ino()))
}

/// Inode of a process's network namespace; `None` if the process is gone or may not be inspected.
pub(in crate::tap::probe) fn network_of(process: u32) -> Option<u64> {
    fs::metadata(format!("/proc/{process}/ns/net")).ok().map(|namespace| namespace.ino())
}
