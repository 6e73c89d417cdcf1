//! How fast a count grows.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The time over which a rate is taken: a burst is no reason to stop probing.
const WINDOW: Duration = Duration::from_secs(5);

/// The latest values of a count that only grows, and when each was read.
#[derive(Debug)]
pub(super) struct Rate {
    /// In order of time. The first count is the newest one from before the window; if there is none, it is the oldest count.
    counts: VecDeque<(Instant, u64)>,
}

impl Rate {
    /// Starts at `count`.
    pub(super) fn since(now: Instant, count: u64) -> Self {
        Self { counts: VecDeque::from([(now, count)]) }
    }

    /// Adds the current count.
    pub(super) fn add(&mut self, now: Instant, count: u64) {
        self.counts.push_back((now, count));
        while self.counts.get(1).is_some_and(|(then, _)| now.duration_since(*then) >= WINDOW) {
            self.counts.pop_front();
        }
    }

    /// The growth per second over the counts of the window; 0 before the second count.
    pub(super) fn per_second(&self) -> u64 {
        let (growth, elapsed) = self.growth();
        u64::try_from(growth * 1_000 / elapsed.as_millis().max(1)).unwrap_or(u64::MAX)
    }

    /// The growth per second, if the window has more than `budget` per second allows.
    pub(super) fn beyond(&self, budget: u32) -> Option<u64> {
        let (growth, elapsed) = self.growth();
        let most = u128::from(budget) * elapsed.max(WINDOW).as_millis();
        (growth * 1_000 > most).then(|| self.per_second())
    }

    fn growth(&self) -> (u128, Duration) {
        let (Some((then, before)), Some((now, after))) = (self.counts.front(), self.counts.back()) else {
            return (0, Duration::ZERO);
        };
        (u128::from(after.saturating_sub(*before)), now.duration_since(*then))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: u32 = 100;

    /// The second in which these counts first exceed the budget, and the rate found.
    fn found(growth_each_second: &[u64]) -> Option<(usize, u64)> {
        let begin = Instant::now();
        let mut rate = Rate::since(begin, 7);
        let mut count = 7;
        growth_each_second.iter().enumerate().find_map(|(before, more)| {
            count += more;
            let second = before + 1;
            rate.add(begin + Duration::from_secs(second.try_into().unwrap()), count);
            Some((second, rate.beyond(BUDGET)?))
        })
    }

    #[test]
    fn sustained_rate_above_the_budget_is_detected() {
        for (growth, expected) in [
            (&[100; 20][..], None),
            (&[101; 20], Some((5, 101))),
            (&[500, 0, 0, 0, 0, 500, 0, 0, 0, 0], None),
            (&[501], Some((1, 501))),
            (&[100, 100, 100, 100, 100, 100, 100, 200], Some((8, 120))),
            (&[200, 200, 200], Some((3, 200))),
            (&[u64::MAX - 7], Some((1, u64::MAX - 7))),
        ] {
            assert_eq!(found(growth), expected, "{growth:?}");
        }
    }

    #[test]
    fn rate_is_that_of_the_window() {
        let begin = Instant::now();
        let mut rate = Rate::since(begin, 0);
        assert_eq!(rate.per_second(), 0);
        for (second, expected) in [(1, 1_000), (2, 1_000), (20, 1_000)] {
            rate.add(begin + Duration::from_secs(second), second * 1_000);
            assert_eq!(rate.per_second(), expected);
        }
        rate.add(begin + Duration::from_secs(40), 20_000);
        assert_eq!(rate.per_second(), 0, "nothing was counted in the window");
    }
}
