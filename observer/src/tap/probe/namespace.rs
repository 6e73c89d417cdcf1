//! The namespaces that this runs in, by the numbers of their files.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

/// The PID namespace whose numbers are the kernel's own: `PROC_PID_INIT_INO` of Linux `include/linux/proc_ns.h`, 6.18.
pub(super) const INITIAL_PID_NAMESPACE: u64 = 0xEFFF_FFFC;
/// The user namespace whose capabilities the kernel itself asks for: `PROC_USER_INIT_INO`, as above.
pub(super) const INITIAL_USER_NAMESPACE: u64 = 0xEFFF_FFFD;

/// The device and the number of the file of our namespace of a kind, as `/proc/self/ns` calls it; nothing where it cannot be told.
pub(super) fn own(kind: &str) -> Option<(u64, u64)> {
    let file = fs::metadata(format!("/proc/self/ns/{kind}")).ok()?;
    Some((file.dev(), file.ino()))
}
