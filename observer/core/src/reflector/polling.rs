//! Polling: repeated lists without a watch.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;

use crate::thresholds::{ALIKE, HOT, HOT_LISTS, LONGEST_WAIT, OVER_AFTER, POLLS};
use crate::time::{Timestamp, microseconds};

/// Maximum number of intervals that are examined. Older intervals are dropped.
const INTERVALS: usize = 16;

/// The kind of a series of lists without a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PollingKind {
    /// It ended by itself within five minutes: the client waited for a condition.
    Wait,
    /// It has lasted less than five minutes so far: a wait, or a poller.
    Polls,
    /// It lasts, or lasted, longer than five minutes.
    Poller,
    /// It has no pause: less than a second between lists.
    HotLoop,
}

/// How a client polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Polling {
    /// The kind of the series.
    pub kind: PollingKind,
    /// Number of lists in the series. A watch ends a series.
    pub lists: u64,
    /// Median interval between lists, in microseconds.
    pub every_us: u64,
    /// Mean deviation of the intervals from the median, in microseconds.
    pub jitter_us: u64,
    /// When the first list was requested.
    pub since: Timestamp,
    /// When the last list was requested.
    pub last: Timestamp,
}

/// Detects polling from the times of lists.
#[derive(Clone, Debug, Default)]
pub(super) struct PollClock {
    lists: u64,
    whole: u64,
    first: Timestamp,
    last: Option<Timestamp>,
    intervals: VecDeque<Duration>,
    /// The worst of the series that have ended.
    past: Option<Polling>,
}

/// The pace of a series.
struct Pace {
    every: Duration,
    jitter: Duration,
    is_hot: bool,
}

impl PollClock {
    /// Notes a request for a list.
    pub(super) fn list(&mut self, at: Timestamp) {
        if self.is_over(at) {
            *self = Self { past: worse(self.past, self.series(at)), ..Self::default() };
        }
        self.lists = self.lists.saturating_add(1);
        match self.last.replace(at) {
            None => self.first = at,
            Some(last) => {
                if self.intervals.len() >= INTERVALS {
                    self.intervals.pop_front();
                }
                self.intervals.push_back(at.since(last));
            }
        }
    }

    /// Notes that a list is complete, or that the client requests no further page of it.
    pub(super) const fn note_complete(&mut self) {
        self.whole = self.whole.saturating_add(1);
    }

    /// Whether it has listed more than once without a watch.
    pub(super) const fn again(&self) -> bool {
        self.lists > 1
    }

    /// Notes a request for a watch: the client does not poll, or no longer.
    pub(super) fn watch(&mut self) {
        *self = Self::default();
    }

    /// How the client polls at `now`: the current series, or an earlier one if it was worse. `None` if there was no series.
    pub(super) fn polling(&self, now: Timestamp) -> Option<Polling> {
        worse(self.past, self.series(now))
    }

    /// The pace of the series, if it has one.
    fn pace(&self) -> Option<Pace> {
        let mut sorted = [Duration::ZERO; INTERVALS];
        let intervals = sorted.get_mut(..self.intervals.len())?;
        intervals.iter_mut().zip(&self.intervals).for_each(|(to, from)| *to = *from);
        intervals.sort_unstable();
        let every = *intervals.get(intervals.len() / 2)?;
        let off: Duration = intervals.iter().map(|interval| interval.abs_diff(every)).sum();
        let jitter = off / u32::try_from(intervals.len()).ok()?;
        let is_hot = every < HOT && self.lists >= HOT_LISTS;
        let is_even = self.whole >= POLLS && every >= HOT && jitter <= every / ALIKE;
        (is_hot || is_even).then_some(Pace { every, jitter, is_hot })
    }

    fn is_over(&self, now: Timestamp) -> bool {
        let (Some(Pace { every, is_hot: false, .. }), Some(last)) = (self.pace(), self.last) else { return false };
        now.since(last) > every * OVER_AFTER
    }

    fn series(&self, now: Timestamp) -> Option<Polling> {
        let (Pace { every, jitter, is_hot }, last) = self.pace().zip(self.last)?;
        let kind = match (is_hot, last.since(self.first) > LONGEST_WAIT + every) {
            (true, _) => PollingKind::HotLoop,
            (false, true) => PollingKind::Poller,
            (false, false) if self.is_over(now) => PollingKind::Wait,
            (false, false) => PollingKind::Polls,
        };
        let (every_us, jitter_us) = (microseconds(every), microseconds(jitter));
        Some(Polling { kind, lists: self.lists, every_us, jitter_us, since: self.first, last })
    }
}

impl Polling {
    /// The polling of a client that has left. A short series counts as a wait, because it has ended.
    #[must_use]
    pub(super) fn of_one_that_left(self) -> Self {
        Self { kind: if self.kind == PollingKind::Polls { PollingKind::Wait } else { self.kind }, ..self }
    }

    /// Time from the first list to the last.
    pub fn lasted(&self) -> Duration {
        self.last.since(self.since)
    }
}

/// The series of the worse kind. If both have the same kind, the later series.
fn worse(before: Option<Polling>, after: Option<Polling>) -> Option<Polling> {
    before.into_iter().chain(after).max_by_key(|polling| polling.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_intervals_make_a_poller() {
        assert_eq!(polling(&[0, 10_000, 20_010]), None);
        let polling = polling(&[0, 10_000, 20_010, 30_010]).unwrap();
        assert_eq!((polling.lists, polling.every_us, polling.kind), (4, 10_000_000, PollingKind::Polls));
        assert_eq!(polling.jitter_us, 3_333);
    }

    #[test]
    fn loop_without_a_pause_is_hot() {
        let times: Vec<u64> = (0..30).map(|number| number * 40).collect();
        assert_eq!(polling(&times[..9]), None, "a burst is no loop yet");
        assert_eq!(polling(&times).unwrap().kind, PollingKind::HotLoop);
    }

    #[test]
    fn irregular_lists_are_not_polling() {
        assert_eq!(polling(&[0, 1_000, 90_000, 92_000, 4_000_000, 4_400_000]), None);
    }

    #[test]
    fn watch_ends_polling() {
        let mut clock = PollClock::default();
        for second in 0..9 {
            clock.list(Timestamp::from_nanos(second * 5_000_000_000));
            clock.note_complete();
        }
        let now = Timestamp::from_nanos(41_000_000_000);
        assert!(clock.polling(now).is_some());
        clock.watch();
        assert_eq!(clock.polling(now), None);
    }

    #[test]
    fn series_that_ends_by_itself_within_minutes_is_a_wait() {
        let every_2_s: Vec<u64> = (0..=150).map(|number| number * 2_000).collect();
        assert_eq!(kind(&every_2_s[..20], 39_000), (PollingKind::Polls, 20, 38));
        assert_eq!(kind(&every_2_s[..20], 46_000), (PollingKind::Polls, 20, 38));
        assert_eq!(kind(&every_2_s[..20], 46_001), (PollingKind::Wait, 20, 38));
        assert_eq!(kind(&every_2_s, 301_000), (PollingKind::Polls, 151, 300), "for five minutes");
        assert_eq!(kind(&every_2_s, 400_000), (PollingKind::Wait, 151, 300));

        let longer: Vec<u64> = (0..=152).map(|number| number * 2_000).collect();
        assert_eq!(kind(&longer, 305_000), (PollingKind::Poller, 153, 304));
        assert_eq!(kind(&longer, 900_000), (PollingKind::Poller, 153, 304), "it stays one after its end");
    }

    #[test]
    fn repeated_waits_are_not_a_poller() {
        let waits = |number: u64| (0..30).map(move |list| number * 120_000 + list * 2_000);
        let times: Vec<u64> = (0..10).flat_map(waits).collect();
        assert_eq!(kind(&times, 1_140_000), (PollingKind::Polls, 30, 58));
        assert_eq!(kind(&times, 1_200_000), (PollingKind::Wait, 30, 58));

        let poller = (0..200).map(|list| list * 2_000);
        let times: Vec<u64> = poller.chain((0..5).map(|list| 500_000 + list * 2_000)).collect();
        assert_eq!(kind(&times, 509_000), (PollingKind::Poller, 200, 398), "it paused once");
    }

    /// Kind, number of lists, and length in seconds.
    fn kind(millis: &[u64], now: u64) -> (PollingKind, u64, u64) {
        let polling = clock(millis).polling(Timestamp::from_nanos(now * 1_000_000)).unwrap();
        (polling.kind, polling.lists, polling.lasted().as_secs())
    }

    fn polling(millis: &[u64]) -> Option<Polling> {
        clock(millis).polling(Timestamp::from_nanos(millis.last().copied().unwrap_or_default() * 1_000_000))
    }

    fn clock(millis: &[u64]) -> PollClock {
        let mut clock = PollClock::default();
        for at in millis {
            clock.list(Timestamp::from_nanos(at * 1_000_000));
            clock.note_complete();
        }
        clock
    }
}
