//! Lists that come again and again without a watch.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;

use crate::time::{Timestamp, microseconds};

/// Intervals that are looked at, the latest.
const INTERVALS: usize = 16;
/// Whole lists without a watch until they are called polling: three intervals that are alike are no accident.
const POLLS: u64 = 4;
/// Intervals are alike if their mean distance from the median is at most one part in so many of it.
const ALIKE: u32 = 4;
/// Lists without a watch, and less than [`HOT`] apart, until they are called a hot loop.
const HOT_LISTS: u64 = 10;
const HOT: Duration = Duration::from_secs(1);

/// How a client polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Polling {
    /// Lists since its last watch.
    pub lists: u64,
    /// The median time from one to the next, in microseconds.
    pub every_us: u64,
    /// The mean distance of the intervals from it, in microseconds.
    pub jitter_us: u64,
    /// Whether it lists faster than once a second, as a loop without a pause does.
    pub hot: bool,
}

/// Takes the times of lists.
#[derive(Clone, Debug, Default)]
pub(super) struct PollClock {
    lists: u64,
    whole: u64,
    last: Option<Timestamp>,
    intervals: VecDeque<Duration>,
}

impl PollClock {
    /// A list is asked for.
    pub(super) fn list(&mut self, at: Timestamp) {
        self.lists = self.lists.saturating_add(1);
        if let Some(last) = self.last.replace(at) {
            if self.intervals.len() >= INTERVALS {
                self.intervals.pop_front();
            }
            self.intervals.push_back(at.since(last));
        }
    }

    /// A list is whole, or as much of it came as the client wanted.
    pub(super) const fn whole(&mut self) {
        self.whole = self.whole.saturating_add(1);
    }

    /// Whether it has listed more than once without a watch.
    pub(super) const fn again(&self) -> bool {
        self.lists > 1
    }

    /// A watch is asked for: this is no poller, or no longer.
    pub(super) fn watch(&mut self) {
        *self = Self::default();
    }

    /// How the client polls, if it does.
    pub(super) fn polling(&self) -> Option<Polling> {
        let mut intervals: Vec<Duration> = self.intervals.iter().copied().collect();
        intervals.sort_unstable();
        let every = *intervals.get(intervals.len() / 2)?;
        let off: Duration = intervals.iter().map(|interval| interval.abs_diff(every)).sum();
        let jitter = off / u32::try_from(intervals.len()).ok()?;
        let hot = every < HOT && self.lists >= HOT_LISTS;
        let regular = self.whole >= POLLS && every >= HOT && jitter <= every / ALIKE;
        (hot || regular).then(|| Polling { lists: self.lists, every_us: microseconds(every), jitter_us: microseconds(jitter), hot })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_intervals_make_a_poller() {
        assert_eq!(polling(&[0, 10_000, 20_010]), None);
        let polling = polling(&[0, 10_000, 20_010, 30_010]).unwrap();
        assert_eq!((polling.lists, polling.every_us, polling.hot), (4, 10_000_000, false));
        assert_eq!(polling.jitter_us, 3_333);
    }

    #[test]
    fn loop_without_a_pause_is_hot() {
        let times: Vec<u64> = (0..30).map(|number| number * 40).collect();
        assert_eq!(polling(&times[..9]), None, "a burst is no loop yet");
        assert!(polling(&times).unwrap().hot);
    }

    #[test]
    fn lists_at_random_are_no_polling() {
        assert_eq!(polling(&[0, 1_000, 90_000, 92_000, 4_000_000, 4_400_000]), None);
    }

    #[test]
    fn watch_ends_it() {
        let mut clock = PollClock::default();
        for second in 0..9 {
            clock.list(Timestamp::from_nanos(second * 5_000_000_000));
            clock.whole();
        }
        assert!(clock.polling().is_some());
        clock.watch();
        assert_eq!(clock.polling(), None);
    }

    fn polling(millis: &[u64]) -> Option<Polling> {
        let mut clock = PollClock::default();
        for at in millis {
            clock.list(Timestamp::from_nanos(at * 1_000_000));
            clock.whole();
        }
        clock.polling()
    }
}
