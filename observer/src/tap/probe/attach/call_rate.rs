//! How often the functions of a file are called.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The time over which calls are counted: a burst is no reason to stop probing.
const WINDOW: Duration = Duration::from_secs(5);

/// Counts of calls, and when each was read.
#[derive(Debug)]
pub(super) struct CallRate {
    /// In order of time. The first count is the newest one from before the window; if there is none, it is the oldest count.
    counts: VecDeque<(Instant, u64)>,
}

impl CallRate {
    /// Starts at `calls`, the count from before the functions were probed.
    pub(super) fn since(now: Instant, calls: u64) -> Self {
        Self { counts: VecDeque::from([(now, calls)]) }
    }

    /// Adds the current count. Returns the calls per second if the window has more calls than `budget` per second allows.
    pub(super) fn beyond(&mut self, now: Instant, calls: u64, budget: u32) -> Option<u64> {
        self.counts.push_back((now, calls));
        while self.counts.get(1).is_some_and(|(then, _)| now.duration_since(*then) >= WINDOW) {
            self.counts.pop_front();
        }
        let (then, before) = self.counts.front()?;
        let calls = u128::from(calls.saturating_sub(*before));
        let elapsed = now.duration_since(*then);
        let most = u128::from(budget) * elapsed.max(WINDOW).as_millis();
        let rate = calls * 1_000 / elapsed.as_millis().max(1);
        (calls * 1_000 > most).then(|| u64::try_from(rate).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: u32 = 100;

    /// The second in which these counts first exceed the budget, and the rate found.
    fn found(calls_each_second: &[u64]) -> Option<(usize, u64)> {
        let begin = Instant::now();
        let mut rate = CallRate::since(begin, 7);
        let mut calls = 7;
        calls_each_second.iter().enumerate().find_map(|(before, more)| {
            calls += more;
            let second = before + 1;
            let now = begin + Duration::from_secs(second.try_into().unwrap());
            Some((second, rate.beyond(now, calls, BUDGET)?))
        })
    }

    #[test]
    fn sustained_call_rate_above_the_budget_is_detected() {
        for (calls, expected) in [
            (&[100; 20][..], None),
            (&[101; 20], Some((5, 101))),
            (&[500, 0, 0, 0, 0, 500, 0, 0, 0, 0], None),
            (&[501], Some((1, 501))),
            (&[100, 100, 100, 100, 100, 100, 100, 200], Some((8, 120))),
            (&[200, 200, 200], Some((3, 200))),
            (&[u64::MAX - 7], Some((1, u64::MAX - 7))),
        ] {
            assert_eq!(found(calls), expected, "{calls:?}");
        }
    }
}
