//! The time that a log has reached.

use std::time::Duration;

use observer_core::time::Timestamp;

/// A time is doubted if it is later than the one before by more than this.
const FAR: Duration = Duration::from_hours(1);

/// The latest time of a log's lines, without that of a line whose clock is wrong.
///
/// The clock of one line may be far ahead. So a time far after the one before counts once the next line with a time is that far,
/// too. Of two first times that are far from each other, the earlier one counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reached {
    at: Option<Timestamp>,
    /// A time far after `at`, or the first one: the next line confirms it or not.
    doubted: Option<Timestamp>,
}

impl Reached {
    /// The time; `None` until two lines had one.
    pub(super) fn at(self) -> Option<Timestamp> {
        self.at
    }

    /// The latest time of several logs. A time that no line confirms counts if it is not far after those of other logs.
    pub(super) fn latest(logs: impl Iterator<Item = Self> + Clone) -> Option<Timestamp> {
        let confirmed = logs.clone().filter_map(|log| log.at).max();
        let doubted = logs.filter_map(|log| log.doubted);
        let near = doubted.filter(|time| confirmed.is_none_or(|confirmed| time.since(confirmed) <= FAR));
        near.max().max(confirmed)
    }

    /// Notes the latest time of the next line; `None` if it has none.
    pub(super) fn note(&mut self, line: Option<Timestamp>) {
        let Some(line) = line else { return };
        let is_near = self.at.is_some_and(|at| line.since(at) <= FAR);
        match (self.doubted.take(), is_near) {
            (_, true) => self.at = self.at.max(Some(line)),
            (None, false) => self.doubted = Some(line),
            (Some(doubted), false) => {
                self.at = Some(doubted.min(line));
                self.note(Some(doubted.max(line)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: u64) -> Timestamp {
        Timestamp::from_nanos(minute * 60_000_000_000)
    }

    /// Compares the minute that is reached after each line with the expected one.
    #[track_caller]
    fn check(lines_and_expected: &[(u64, Option<u64>)]) {
        let mut reached = Reached::default();
        for (line, expected) in lines_and_expected {
            reached.note(Some(at(*line)));
            reached.note(None);
            assert_eq!(reached.at(), expected.map(at), "after {line}");
        }
    }

    #[test]
    fn log_reaches_the_latest_time_of_its_lines() {
        check(&[(5, None), (3, Some(5)), (4, Some(5)), (6, Some(6)), (66, Some(66))]);
    }

    #[test]
    fn time_of_one_line_far_in_the_future_is_ignored() {
        check(&[(0, None), (1, Some(1)), (9_000, Some(1)), (2, Some(2)), (9_000, Some(2)), (3, Some(3))]);
        check(&[(9_000, None), (0, Some(0)), (1, Some(1))]);
    }

    #[test]
    fn time_after_a_pause_counts_once_the_next_line_confirms_it() {
        check(&[(0, None), (1, Some(1)), (120, Some(1)), (121, Some(121)), (122, Some(122))]);
        check(&[(0, None), (1, Some(1)), (9_000, Some(1)), (120, Some(120)), (121, Some(121))]);
    }

    #[test]
    fn time_of_a_log_with_one_line_counts_if_it_is_near_those_of_other_logs() {
        let log = |minutes: &[u64]| {
            let mut reached = Reached::default();
            for minute in minutes {
                reached.note(Some(at(*minute)));
            }
            reached
        };
        let latest = |logs: &[Reached]| Reached::latest(logs.iter().copied());
        assert_eq!(latest(&[log(&[])]), None);
        assert_eq!(latest(&[log(&[1]), log(&[2])]), Some(at(2)));
        assert_eq!(latest(&[log(&[1, 2]), log(&[60]), log(&[9_000])]), Some(at(60)));
        assert_eq!(latest(&[log(&[1, 2, 9_000]), log(&[3])]), Some(at(3)));
    }
}
