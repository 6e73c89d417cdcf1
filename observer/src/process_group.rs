//! The process group and the session of this process, by the IDs of their leaders in its PID namespace.
//!
//! The ID is 0 for a leader outside that namespace, as under `kubectl exec`. rustix 1.1 assumes that getpgrp(2) and getsid(2) return
//! positive numbers, and panics there; so Linux's `/proc/self/status` is read instead (`man 5 proc_pid_status`).

/// The leader of this process's session; `None` if it is unknown.
pub(crate) fn session() -> Option<i32> {
    #[cfg(target_os = "linux")]
    return own("NSsid:");
    #[cfg(not(target_os = "linux"))]
    rustix::process::getsid(None).ok().map(|leader| leader.as_raw_nonzero().get())
}

/// The leader of this process's group; `None` if it is unknown.
pub(crate) fn group() -> Option<i32> {
    #[cfg(target_os = "linux")]
    return own("NSpgid:");
    #[cfg(not(target_os = "linux"))]
    Some(rustix::process::getpgrp().as_raw_nonzero().get())
}

#[cfg(target_os = "linux")]
fn own(field: &str) -> Option<i32> {
    innermost(&std::fs::read_to_string("/proc/self/status").ok()?, field)
}

/// The last number of a line with one for each PID namespace, from the outermost to the innermost.
#[cfg(target_os = "linux")]
fn innermost(status: &str, field: &str) -> Option<i32> {
    let ids = status.lines().find_map(|line| line.strip_prefix(field))?;
    ids.split_whitespace().next_back()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn leaders_are_read_from_the_innermost_namespace() {
        let status = "Name:\tx\nNSpgid:\t9\t7\nNSsid:\t4711\t12\nThreads:\t1\n";
        assert_eq!((innermost(status, "NSpgid:"), innermost(status, "NSsid:")), (Some(7), Some(12)));
        for (status, expected) in [
            ("NSsid:\t4711\n", Some(4711)),
            ("NSsid:\t0\n", Some(0)),
            ("NSsid:\t4711\t0\n", Some(0)),
            ("NSsid:\n", None),
            ("NSsid:\tx\n", None),
            ("", None),
        ] {
            assert_eq!(innermost(status, "NSsid:"), expected, "{status:?}");
        }
    }

    #[test]
    fn process_of_this_test_has_a_group_and_a_session() {
        assert!(group().is_some() && session().is_some());
    }
}
