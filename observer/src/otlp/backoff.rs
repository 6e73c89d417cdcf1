//! Pauses between attempts to send a batch.

use std::time::Duration;

use crate::backoff;

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

/// Exponential backoff with jitter, which a collector can prolong.
#[derive(Debug)]
pub(super) struct Backoff(backoff::Backoff);

impl Default for Backoff {
    fn default() -> Self {
        Self(backoff::Backoff::new(FIRST, LONGEST))
    }
}

impl Backoff {
    /// The pause after another failure. `asked` is what the collector asked for, if it did; the pause is not shorter.
    pub(super) fn next(&mut self, asked: Option<Duration>, chance: u64) -> Pause {
        let own = self.0.next(chance);
        let asked = asked.unwrap_or_default().min(LONGEST_ASKED);
        Pause { asked, rest: own.saturating_sub(asked) }
    }

    /// Notes a success.
    pub(super) fn reset(&mut self) {
        self.0.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asked_pause_is_kept_unless_it_is_absurd() {
        let asked = |seconds| Backoff::default().next(Some(Duration::from_secs(seconds)), 0);
        assert_eq!(asked(7), Pause { asked: Duration::from_secs(7), rest: Duration::ZERO });
        assert_eq!(asked(0), Pause { asked: Duration::ZERO, rest: FIRST / 2 });
        assert_eq!(asked(u64::MAX), Pause { asked: LONGEST_ASKED, rest: Duration::ZERO });
    }
}
