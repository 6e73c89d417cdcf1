//! When names are looked up again, and when the EndpointSlice is read: pure, with the time since the start as an argument.
//!
//! Thousands of nodes may start at once and see their API server fail at once. So each pause is random by up to a half.

use std::time::Duration;

use crate::backoff::{Backoff, spread};

/// Longest time between two lookups of the names; half of it is random.
const LOOK_UP: Duration = Duration::from_mins(1);
/// How long nothing must have been seen of the cluster's API server before the EndpointSlice is read again.
const SILENCE: Duration = Duration::from_mins(10);
/// Longest time that is added to it at random.
const SPREAD: Duration = Duration::from_mins(5);
/// Longest pause after the first failed request for the EndpointSlice. Each further failure doubles it.
const RETRY: Duration = Duration::from_mins(1);

/// The times of lookups and requests.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    next_lookup: Duration,
    slice: Option<SlicePace>,
}

#[derive(Clone, Debug)]
struct SlicePace {
    /// The number of transfers when it was last looked at.
    transfers: u64,
    silent_since: Duration,
    /// How long the silence must last.
    silence: Duration,
    /// When it is read whatever was seen: at the start, and after failures.
    next: Option<Duration>,
    backoff: Backoff,
}

/// The work that is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    /// Look up all names.
    pub(super) lookups: bool,
    /// Read the EndpointSlice; then call [`Pace::noted`].
    pub(super) slice: bool,
}

impl Pace {
    /// Begins now. The names were looked up just before; the EndpointSlice is read at once, if at all.
    pub(super) fn begin(reads_slice: bool, chance: u64) -> Self {
        let slice = SlicePace {
            transfers: 0,
            silent_since: Duration::ZERO,
            silence: SILENCE,
            next: Some(Duration::ZERO),
            backoff: Backoff::new(RETRY, SILENCE),
        };
        Self { next_lookup: spread(LOOK_UP, chance), slice: reads_slice.then_some(slice) }
    }

    /// When to call [`Self::due`] next.
    pub(super) fn next(&self) -> Duration {
        let slice = self.slice.as_ref().and_then(|slice| slice.next);
        slice.map_or(self.next_lookup, |slice| slice.min(self.next_lookup))
    }

    /// The work that is due. `transfers` is the number of transfers seen so far on connections of the cluster's API server.
    pub(super) fn due(&mut self, now: Duration, transfers: u64, chance: u64) -> Due {
        let lookups = self.next_lookup <= now;
        if lookups {
            self.next_lookup = now + spread(LOOK_UP, chance);
        }
        let slice = self.slice.as_mut().is_some_and(|slice| slice.is_due(now, transfers));
        Due { lookups, slice }
    }

    /// Notes that the EndpointSlice was read, or was refused for a reason that stays. `is_done` is false if another request may
    /// succeed soon.
    pub(super) fn noted(&mut self, now: Duration, is_done: bool, chance: u64) {
        let Some(slice) = &mut self.slice else { return };
        if is_done {
            slice.backoff.reset();
            slice.next = None;
            // Half of it is random.
            slice.silence = SILENCE + spread(2 * SPREAD, chance).saturating_sub(SPREAD);
            slice.silent_since = now;
        } else {
            slice.next = Some(now + slice.backoff.next(chance));
        }
    }
}

impl SlicePace {
    fn is_due(&mut self, now: Duration, transfers: u64) -> bool {
        if self.transfers != transfers {
            self.transfers = transfers;
            self.silent_since = now;
        }
        match self.next {
            Some(next) => next <= now,
            None => self.silent_since + self.silence <= now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    /// Adds the least and nearly the most to each pause.
    const CHANCES: [u64; 2] = [0, 29_999_999_999];

    /// The times of all lookups and of all requests within a time, in seconds. `transfers` is the number at each time, and `answers`
    /// whether a request succeeds.
    fn times(
        within: Duration,
        chance: u64,
        transfers: impl Fn(Duration) -> u64,
        answers: impl Fn(Duration) -> bool,
    ) -> [Vec<u64>; 2] {
        let (mut pace, mut times) = (Pace::begin(true, chance), [const { Vec::new() }; 2]);
        while pace.next() <= within {
            let now = pace.next();
            let Due { lookups, slice } = pace.due(now, transfers(now), chance);
            assert!(lookups || slice, "it wakes up for nothing");
            if lookups {
                times[0].push(now.as_secs());
            }
            if slice {
                times[1].push(now.as_secs());
                pace.noted(now, answers(now), chance);
            }
        }
        times
    }

    #[test]
    fn names_are_looked_up_every_thirty_to_sixty_seconds() {
        for (chance, expected) in CHANCES.into_iter().zip([30, 60]) {
            let [lookups, _] = times(Duration::from_mins(10), chance, |now| now.as_secs(), |_| true);
            let pauses: Vec<u64> = lookups.windows(2).map(|pair| pair[1] - pair[0]).collect();
            assert!(!pauses.is_empty() && pauses.iter().all(|pause| pause.abs_diff(expected) <= 1), "{pauses:?}");
        }
    }

    #[test]
    fn endpoint_slice_is_read_at_the_start_and_after_each_silence() {
        let hour = Duration::from_hours(1);
        for chance in CHANCES {
            let [_, busy] = times(hour, chance, |now| now.as_secs(), |_| true);
            assert_eq!(busy, [0], "something was always seen");
            // It is seen for the first half hour.
            let [_, silent] = times(hour, chance, |now| now.as_secs().min(1_800), |_| true);
            let [0, first, rest @ ..] = silent.as_slice() else { panic!("{silent:?}") };
            assert!((1_800 + 600..=1_800 + 900 + 120).contains(first), "{silent:?}");
            assert!(rest.len() <= 2, "{silent:?}");
            let [_, never_seen] = times(10 * hour, chance, |_| 0, |_| true);
            let pauses: Vec<u64> = never_seen.windows(2).map(|pair| pair[1] - pair[0]).collect();
            assert!(pauses.iter().all(|pause| (600..=960).contains(pause)), "{pauses:?}");
        }
    }

    #[test]
    fn failed_requests_are_repeated_ever_more_rarely() {
        for chance in CHANCES {
            let [_, failing] = times(Duration::from_hours(1), chance, |now| now.as_secs(), |_| false);
            let pauses: Vec<u64> = failing.windows(2).map(|pair| pair[1] - pair[0]).collect();
            assert!((30..=60).contains(&pauses[0]), "{pauses:?}");
            assert!(pauses.iter().all(|pause| *pause <= 600) && pauses.last().unwrap() >= &300, "{pauses:?}");
            assert!(failing.len() < 20, "{failing:?}");
            // It recovers, and something is always seen.
            let recovers = Duration::from_mins(5);
            let [_, recovered] = times(Duration::from_hours(1), chance, |now| now.as_secs(), |now| now > recovers);
            assert!(recovered.last().unwrap() < &(300 + 600), "{recovered:?}");
        }
    }

    #[test]
    fn without_an_endpoint_slice_only_names_are_looked_up() {
        let mut pace = Pace::begin(false, 0);
        assert_eq!(pace.due(Duration::ZERO, 0, 0), Due::default());
        let next = pace.next();
        assert_eq!(pace.due(next, 0, 0), Due { lookups: true, slice: false });
        assert_eq!(pace.due(next + SECOND, 0, 0), Due::default());
        assert_eq!(pace.due(next + Duration::from_hours(1), 0, 0), Due { lookups: true, slice: false });
    }
}
