//! Pauses between attempts to send a batch.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The pause after the first failure.
const FIRST: Duration = Duration::from_millis(250);
/// The longest pause of watchtap's own choice.
const LONGEST: Duration = Duration::from_secs(30);
/// The longest pause that a collector can ask for.
const LONGEST_ASKED: Duration = Duration::from_hours(1);

/// A pause before the next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pause {
    /// The part that the collector asked for, which is kept even at the end of a run.
    pub(super) asked: Duration,
    /// The part after it.
    pub(super) rest: Duration,
}

/// Exponential backoff with jitter.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The pause after another failure. `asked` is what the collector asked for, if it did; the pause is not shorter. `chance`
    /// spreads the attempts of many observers: of its own pauses, at most half is random.
    pub(super) fn next(&mut self, asked: Option<Duration>, chance: u64) -> Pause {
        let longest = FIRST.saturating_mul(1 << self.failures.min(16)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        let half = longest / 2;
        let random = u64::try_from(half.as_nanos()).map_or(0, |nanos| chance % nanos.max(1));
        let own = half + Duration::from_nanos(random);
        let asked = asked.unwrap_or_default().min(LONGEST_ASKED);
        Pause { asked, rest: own.saturating_sub(asked) }
    }

    /// Notes a success.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }
}

/// A random number.
pub(super) fn chance() -> u64 {
    // The standard library seeds each hasher from the system's source of random bytes.
    RandomState::new().hash_one(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_bound_and_begin_again_after_a_success() {
        let mut backoff = Backoff::default();
        let pauses: Vec<_> = (0..12).map(|_| backoff.next(None, 0).rest.as_millis()).collect();
        assert_eq!(pauses, [125, 250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000, 15_000, 15_000]);
        assert_eq!(
            backoff.next(None, u64::MAX).rest.as_secs(),
            (LONGEST / 2).as_secs() + u64::MAX % LONGEST_HALF_NANOS / 1_000_000_000
        );
        backoff.reset();
        assert_eq!(backoff.next(None, 0).rest.as_millis(), 125);
    }

    #[test]
    fn asked_pause_is_kept_unless_it_is_absurd() {
        let asked = |seconds| Backoff::default().next(Some(Duration::from_secs(seconds)), 0);
        assert_eq!(asked(7), Pause { asked: Duration::from_secs(7), rest: Duration::ZERO });
        assert_eq!(asked(0), Pause { asked: Duration::ZERO, rest: FIRST / 2 });
        assert_eq!(asked(u64::MAX), Pause { asked: LONGEST_ASKED, rest: Duration::ZERO });
    }

    const LONGEST_HALF_NANOS: u64 = 15_000_000_000;
}
