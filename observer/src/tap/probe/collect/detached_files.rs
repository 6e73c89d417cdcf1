//! Files that are no longer probed, until all of their records are taken.

use std::time::Duration;

/// Minimum time from the end of probing a file until an empty ring shows that all its records were taken. Before that, a record may
/// wait for an earlier record that a program has not finished. The program's thread was preempted, or has used up the CPU time of
/// its cgroup.
const SETTLING: Duration = Duration::from_secs(1);

/// Numbers of files, with the time of the kernel's clock after which nothing was recorded of each.
///
/// A record gets its time before its place in the ring. A file counts as detached only after all runs of its programs have ended.
/// So a record with a later time comes after all records of the file.
#[derive(Debug, Default)]
pub(super) struct DetachedFiles {
    files: Vec<(u64, u16)>,
}

impl DetachedFiles {
    /// Notes that nothing is recorded of a file after `at`.
    pub(super) fn add(&mut self, file: u16, at: u64) {
        self.files.push((at, file));
    }

    /// Files that have no record at this time or later; each is returned once.
    pub(super) fn before_record(&mut self, time: u64) -> Vec<u16> {
        self.take(|at| at < time)
    }

    /// Files that have no further records, given that the ring was empty at `now`; each is returned once.
    pub(super) fn with_empty_ring(&mut self, now: u64) -> Vec<u16> {
        let settling = u64::try_from(SETTLING.as_nanos()).unwrap_or(u64::MAX);
        self.take(|at| at.saturating_add(settling) <= now)
    }

    fn take(&mut self, is_over: impl Fn(u64) -> bool) -> Vec<u16> {
        self.files.extract_if(.., |(at, _)| is_over(*at)).map(|(_, file)| file).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detached_file_is_done_at_the_first_later_record() {
        let mut detached = DetachedFiles::default();
        detached.add(7, 100);
        detached.add(8, 200);
        for (time, expected) in [(99, &[][..]), (100, &[]), (101, &[7]), (102, &[]), (300, &[8]), (301, &[])] {
            assert_eq!(detached.before_record(time), expected, "{time}");
        }
    }

    #[test]
    fn detached_file_is_done_after_an_idle_second() {
        let mut detached = DetachedFiles::default();
        detached.add(7, 100);
        for (now, expected) in [(100, &[][..]), (1_000_000_099, &[]), (1_000_000_100, &[7]), (2_000_000_000, &[])] {
            assert_eq!(detached.with_empty_ring(now), expected, "{now}");
        }
    }
}
