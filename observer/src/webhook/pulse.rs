//! The sign that the threads which serve admissions still run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time between two beats.
pub(super) const BEAT: Duration = Duration::from_secs(1);

/// A last beat that is older than this one means that a request would wait longer than the API server does.
pub(super) const LATE: Duration = Duration::from_secs(5);

/// A last beat that is older than this one means that the threads do not run again by themselves.
pub(super) const LOST: Duration = Duration::from_secs(30);

/// The time of the last beat, which the serving threads set, and which other threads read.
#[derive(Debug)]
pub(super) struct Pulse {
    begun: Instant,
    last_ms: AtomicU64,
}

impl Pulse {
    pub(super) fn new(now: Instant) -> Self {
        Self { begun: now, last_ms: AtomicU64::new(0) }
    }

    pub(super) fn beat(&self, now: Instant) {
        let ms = u64::try_from(now.duration_since(self.begun).as_millis()).unwrap_or(u64::MAX);
        self.last_ms.store(ms, Ordering::Relaxed);
    }

    pub(super) fn is_late(&self, now: Instant) -> bool {
        self.age(now) > LATE
    }

    pub(super) fn is_lost(&self, now: Instant) -> bool {
        self.age(now) > LOST
    }

    fn age(&self, now: Instant) -> Duration {
        let last = Duration::from_millis(self.last_ms.load(Ordering::Relaxed));
        now.duration_since(self.begun).saturating_sub(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_beats_are_noticed_and_later_ones_count() {
        let begun = Instant::now();
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        let pulse = Pulse::new(begun);
        assert!(!pulse.is_late(at(5)) && pulse.is_late(at(6)) && !pulse.is_lost(at(30)) && pulse.is_lost(at(31)));
        pulse.beat(at(31));
        assert!(!pulse.is_late(at(32)) && !pulse.is_lost(at(61)) && pulse.is_late(at(37)));
        assert!(!pulse.is_late(at(1)), "a beat may be later than the question");
    }
}
