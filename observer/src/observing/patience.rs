//! How long the observing thread may wait for what it does not need.

use std::time::{Duration, Instant};

/// Longest wait at once: what comes meanwhile has room in the intake.
const AT_ONCE: Duration = Duration::from_millis(20);
/// Waits take at most one part in so many of the time.
const SHARE: u32 = 20;
/// What may be saved up for many clients that come together.
const SAVED: Duration = Duration::from_millis(100);

/// A share of the time, saved up for a while.
#[derive(Debug)]
pub(super) struct Patience {
    left: Duration,
    since: Instant,
}

impl Patience {
    pub(super) fn new() -> Self {
        Self { left: SAVED, since: Instant::now() }
    }

    /// Waits by `wait` no longer than there is patience.
    pub(super) fn spend<T>(&mut self, wait: impl FnOnce(Duration) -> T) -> T {
        let began = Instant::now();
        self.left = self.left.saturating_add((began - self.since) / SHARE).min(SAVED);
        let waited = wait(self.left.min(AT_ONCE));
        self.since = Instant::now();
        self.left = self.left.saturating_sub(self.since - began);
        waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_share_what_was_saved_and_then_a_part_of_the_time() {
        let mut patience = Patience::new();
        let began = Instant::now();
        let waits: Vec<Duration> = (0..1_000)
            .map(|_| {
                patience.spend(|within| {
                    std::thread::sleep(within);
                    within
                })
            })
            .collect();
        assert_eq!(waits[0], AT_ONCE);
        let all: Duration = waits.iter().sum();
        assert!(all <= SAVED + began.elapsed() / SHARE + AT_ONCE, "{all:?} of {:?}", began.elapsed());
    }
}
