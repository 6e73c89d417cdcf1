//! Paces the checks whether a process is connected with an API server.
//!
//! A check reads the tables of TCP sockets of a network namespace. That takes milliseconds even if there are few, because the kernel
//! walks a hash table: 13 ms on a machine with 24 GiB of memory. Only processes whose TLS cannot be probed are checked. There may be dozens, such as Java programs, and most never connect.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Minimum time between the first two checks of a process. It doubles with each check, so a new process is checked whenever it is
/// examined.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// Maximum time between two checks of a process, apart from the time until its next examination.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Maximum number of processes whose checks are paced. A full table is cleared.
const MAX_PROCESSES: usize = 4_096;

/// The checks to come, by process.
#[derive(Debug, Default)]
pub(super) struct ConnectionChecks {
    next: BTreeMap<u32, Check>,
}

#[derive(Debug)]
struct Check {
    at: Instant,
    pause: Duration,
}

impl ConnectionChecks {
    /// Whether a process is to be checked now. If so, its next check is due after a pause.
    pub(super) fn is_due(&mut self, process: u32, now: Instant) -> bool {
        let pause = match self.next.get(&process) {
            Some(check) if now < check.at => return false,
            Some(check) => check.pause.saturating_mul(2).min(LONGEST_PAUSE),
            None => FIRST_PAUSE,
        };
        if self.next.len() >= MAX_PROCESSES {
            self.next.clear();
        }
        self.next.insert(process, Check { at: now + pause, pause });
        true
    }

    /// Notes that the PID belongs to another process or another program now, or to none.
    pub(super) fn renew(&mut self, process: u32) {
        self.next.remove(&process);
    }

    /// Notes that other connections matter from now on.
    pub(super) fn renew_all(&mut self) {
        self.next.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn checks_of_a_process_become_rarer_until_it_is_renewed() {
        let begin = Instant::now();
        let mut checks = ConnectionChecks::default();
        // A process that has just executed a program is examined at these times, and each 5 s with all others.
        for milliseconds in [0, 20, 60, 200, 1_000] {
            assert!(checks.is_due(7, begin + Duration::from_millis(milliseconds)), "{milliseconds}");
        }
        let due = (1..=240).filter(|round| checks.is_due(7, begin + round * 5 * SECOND)).count();
        assert!((20..=30).contains(&due), "{due} checks in 20 minutes");
        let later = begin + 1_201 * SECOND;
        assert!(!checks.is_due(7, later) && checks.is_due(8, later));
        checks.renew(7);
        assert!(checks.is_due(7, later));
        assert!(!checks.is_due(7, later) && !checks.is_due(8, later));
        checks.renew_all();
        assert!(checks.is_due(7, later) && checks.is_due(8, later));
    }

    #[test]
    fn paced_processes_are_bounded() {
        let now = Instant::now();
        let mut checks = ConnectionChecks::default();
        for process in 0..=u32::try_from(MAX_PROCESSES).unwrap() {
            assert!(checks.is_due(process, now));
        }
        assert!(checks.next.len() <= MAX_PROCESSES);
    }
}
