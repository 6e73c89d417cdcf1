//! The processor time that watchtap itself takes for what its probes record.

use std::time::Instant;

use rustix::time::{ClockId, Timespec, clock_gettime};

use super::rate::Rate;

/// A budget of one processor in microseconds per second, divided by its thousandths.
const MICROSECONDS_PER_THOUSANDTH: u32 = 1_000;

/// Most processor time that one call takes watchtap, in microseconds. A call carries at most 1 MiB; to copy and to scan that takes
/// less. So a file with fewer calls cannot be the cause of an excess.
const MOST_PER_CALL: u64 = 1_000;

/// How fast watchtap takes processor time, apart from the thread that asks: it examines files, which ends by itself.
#[derive(Debug)]
pub(super) struct ProcessorUse {
    microseconds: Rate,
    /// In thousandths of a processor; 0 for no limit.
    budget: u32,
}

/// More processor time than the budget has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Excess {
    /// Processor time taken, in thousandths of a processor.
    pub(super) taken: u64,
    /// The budget, in thousandths of a processor.
    pub(super) budget: u32,
}

impl ProcessorUse {
    /// Measures from now on, for this budget in thousandths of a processor; 0 for no limit.
    pub(super) fn within(budget: u32) -> Self {
        Self { microseconds: Rate::since(Instant::now(), microseconds_elsewhere()), budget }
    }

    /// Returns the excess of the last seconds, if they have one. Then a new measurement begins, since a change that is made now has
    /// an effect only from now on.
    pub(super) fn excess(&mut self) -> Option<Excess> {
        self.excess_at(Instant::now(), microseconds_elsewhere())
    }

    fn excess_at(&mut self, now: Instant, microseconds: u64) -> Option<Excess> {
        if self.budget == 0 {
            return None;
        }
        self.microseconds.add(now, microseconds);
        let taken = self.microseconds.beyond(self.budget.saturating_mul(MICROSECONDS_PER_THOUSANDTH))?;
        self.microseconds = Rate::since(now, microseconds);
        Some(Excess { taken: taken / u64::from(MICROSECONDS_PER_THOUSANDTH), budget: self.budget })
    }
}

impl Excess {
    /// Whether this many calls a second can be the cause.
    pub(super) const fn may_come_from(self, calls_per_second: u64) -> bool {
        let excess = self.taken.saturating_sub(self.budget as u64).saturating_mul(MICROSECONDS_PER_THOUSANDTH as u64);
        calls_per_second.saturating_mul(MOST_PER_CALL) >= excess
    }
}

/// Processor time of all other threads of this process until now.
fn microseconds_elsewhere() -> u64 {
    microseconds(ClockId::ProcessCPUTime).saturating_sub(microseconds(ClockId::ThreadCPUTime))
}

fn microseconds(clock: ClockId) -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
    u64::try_from(tv_sec).unwrap_or(0).saturating_mul(1_000_000) + u64::try_from(tv_nsec).unwrap_or(0) / 1_000
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn excess_is_found_once_in_each_window() {
        let begin = Instant::now();
        let mut taken = ProcessorUse { microseconds: Rate::since(begin, 0), budget: 500 };
        let found: Vec<(u64, Excess)> = (1..=14)
            .filter_map(|second| {
                let excess = taken.excess_at(begin + Duration::from_secs(second), second * 600_000)?;
                Some((second, excess))
            })
            .collect();
        let excess = Excess { taken: 600, budget: 500 };
        assert_eq!(found, [(5, excess), (10, excess)]);
    }

    #[test]
    fn no_budget_is_no_limit() {
        let begin = Instant::now();
        let mut taken = ProcessorUse { microseconds: Rate::since(begin, 0), budget: 0 };
        assert_eq!(taken.excess_at(begin + Duration::from_secs(1), u64::MAX), None);
    }

    #[test]
    fn few_calls_are_no_cause() {
        let excess = Excess { taken: 600, budget: 500 };
        for (calls, expected) in [(0, false), (99, false), (100, true), (u64::MAX, true)] {
            assert_eq!(excess.may_come_from(calls), expected, "{calls}");
        }
    }

    #[test]
    fn time_of_the_asking_thread_does_not_count() {
        // Other tests of this process may run at the same time, so a difference shows nothing.
        let spin = |until: u64| while microseconds(ClockId::ThreadCPUTime) < until {};
        spin(20_000);
        assert!(microseconds_elsewhere() + 20_000 <= microseconds(ClockId::ProcessCPUTime));
        let before = microseconds_elsewhere();
        thread::spawn(move || spin(20_000)).join().unwrap();
        assert!(microseconds_elsewhere() >= before + 20_000);
    }
}
