//! Exponential backoff with jitter: pauses between attempts of which each may fail.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The pauses of one series of attempts.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    failures: u32,
}

impl Backoff {
    /// Pauses of up to `first` after the first failure. Each further failure doubles that, up to `longest`.
    pub(crate) const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, failures: 0 }
    }

    /// The pause after another failure. `chance` spreads the attempts of many processes: at most half of the pause is random.
    pub(crate) fn next(&mut self, chance: u64) -> Duration {
        let longest = self.first.saturating_mul(1 << self.failures.min(16)).min(self.longest);
        self.failures = self.failures.saturating_add(1);
        spread(longest, chance)
    }

    /// Notes a success.
    pub(crate) fn reset(&mut self) {
        self.failures = 0;
    }
}

/// At least half of a pause, and at most all of it.
pub(crate) fn spread(longest: Duration, chance: u64) -> Duration {
    let half = longest / 2;
    let random = u64::try_from(half.as_nanos()).map_or(0, |nanos| chance % nanos.max(1));
    half + Duration::from_nanos(random)
}

/// A random number.
pub(crate) fn chance() -> u64 {
    // The standard library seeds each hasher from the system's source of random bytes.
    RandomState::new().hash_one(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_millis(250);
    const LONGEST: Duration = Duration::from_secs(30);

    #[test]
    fn pauses_double_up_to_a_bound_and_begin_again_after_a_success() {
        let mut backoff = Backoff::new(FIRST, LONGEST);
        let pauses: Vec<_> = (0..12).map(|_| backoff.next(0).as_millis()).collect();
        assert_eq!(pauses, [125, 250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000, 15_000, 15_000]);
        backoff.reset();
        assert_eq!(backoff.next(0).as_millis(), 125);
    }

    #[test]
    fn random_part_is_at_most_half_of_the_pause() {
        for chance in [0, 1, u64::MAX / 3, u64::MAX] {
            let pause = spread(LONGEST, chance);
            assert!((LONGEST / 2..LONGEST).contains(&pause), "{pause:?}");
        }
        assert_eq!(spread(Duration::ZERO, u64::MAX), Duration::ZERO);
        assert_ne!(chance(), chance());
    }
}
