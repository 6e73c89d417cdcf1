//! Finds out whether watchtap's process is the leader of its session.

use rustix::process::getpid;

/// Whether this process is the session leader, such as the first process of a terminal or of `ssh -t`.
#[cfg(target_os = "linux")]
pub(super) fn is_led_by_us() -> bool {
    let own = getpid().as_raw_nonzero().get();
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| leader(&status) == Some(own))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn is_led_by_us() -> bool {
    rustix::process::getsid(None).is_ok_and(|session| session == getpid())
}

/// Parses the PID of the session leader in this PID namespace: the last field of the `NSsid` line in Linux's `/proc/self/status`
/// (`man 5 proc_pid_status`).
///
/// It is 0 for a leader outside that namespace, as under `kubectl exec`. rustix 1.1 assumes that getsid(2) returns a positive
/// number, and panics there.
#[cfg(target_os = "linux")]
fn leader(status: &str) -> Option<i32> {
    let sessions = status.lines().find_map(|line| line.strip_prefix("NSsid:"))?;
    sessions.split_whitespace().next_back()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn session_leader_is_read_from_the_innermost_namespace() {
        for (status, expected) in [
            ("Name:\tx\nNSpgid:\t9\nNSsid:\t4711\t12\nThreads:\t1\n", Some(12)),
            ("NSsid:\t4711\n", Some(4711)),
            ("NSsid:\t0\n", Some(0)),
            ("NSsid:\t4711\t0\n", Some(0)),
            ("NSsid:\n", None),
            ("NSsid:\tx\n", None),
            ("", None),
        ] {
            assert_eq!(leader(status), expected, "{status:?}");
        }
    }
}
