//! Finds out which signals watchtap's process has ignored since its start.
//!
//! If a user starts watchtap under `nohup`, or in the background of a script (which ignores SIGINT and SIGQUIT), the command must
//! ignore these signals too. `execve` keeps ignored signals ignored, but resets signals with a handler to their default action
//! (POSIX). So watchtap installs no handler for ignored signals.

use std::fs;

/// The signals in a `SigIgn` line of Linux's `/proc/self/status` (`man 5 proc_pid_status`); bit 0 is signal 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ignored(u64);

impl Ignored {
    /// The signals that our process ignores; none if the system does not report them.
    pub(crate) fn at_start() -> Self {
        fs::read_to_string("/proc/self/status").map(|status| Self::parse(&status)).unwrap_or_default()
    }

    pub(crate) fn parse(status: &str) -> Self {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        Self(mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0))
    }

    pub(crate) fn contains(self, signal: i32) -> bool {
        let bit = signal.checked_sub(1).and_then(|bit| u32::try_from(bit).ok());
        bit.and_then(|bit| self.0.checked_shr(bit)).is_some_and(|mask| mask & 1 == 1)
    }
}
