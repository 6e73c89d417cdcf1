//! The rate of an event, over its recent past.

use std::time::Duration;

use super::Timestamp;

/// The rate of an event, as an exponentially decayed counter: an occurrence one time constant ago counts 1/e of one now.
///
/// It needs constant memory, whatever the rate. An event that occurs evenly shows its true rate after three time constants; a
/// single occurrence fades.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Occurrences, each weighted by its age.
    weight: f64,
    at: Timestamp,
    time_constant: Duration,
}

impl Rate {
    /// A rate of zero.
    pub const fn new(time_constant: Duration) -> Self {
        Self { weight: 0.0, at: Timestamp::from_nanos(0), time_constant }
    }

    /// Records `times` occurrences at `at`.
    #[expect(clippy::cast_precision_loss, reason = "a rate is no count")]
    pub fn note(&mut self, at: Timestamp, times: u64) {
        self.weight = self.weight_at(at) + times as f64;
        self.at = self.at.max(at);
    }

    /// Occurrences per second, as of `at`.
    pub fn per_second(&self, at: Timestamp) -> f64 {
        let seconds = self.time_constant.as_secs_f64();
        if seconds > 0.0 { self.weight_at(at) / seconds } else { 0.0 }
    }

    fn weight_at(&self, at: Timestamp) -> f64 {
        let age = at.since(self.at).as_secs_f64();
        self.weight * (-age / self.time_constant.as_secs_f64().max(f64::MIN_POSITIVE)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn regular_events_yield_their_rate() {
        let mut rate = Rate::new(10 * SECOND);
        let mut at = Timestamp::from_nanos(0);
        for _ in 0..600 {
            at = at.plus(SECOND / 10);
            rate.note(at, 5);
        }
        assert!((rate.per_second(at) - 50.0).abs() < 1.0, "{}", rate.per_second(at));
    }

    #[test]
    fn rate_decays_after_the_last_event() {
        let mut rate = Rate::new(SECOND);
        let start = Timestamp::from_nanos(7);
        rate.note(start, 100);
        assert!((rate.per_second(start) - 100.0).abs() < 1e-9);
        assert!((rate.per_second(start.plus(SECOND)) - 100.0 / std::f64::consts::E).abs() < 1e-9);
        assert!(rate.per_second(start.plus(60 * SECOND)) < 1e-9);
    }

    #[test]
    fn rate_without_events_is_zero() {
        let rate = Rate::new(SECOND);
        assert!(rate.per_second(Timestamp::from_nanos(u64::MAX)).abs() < 1e-9);
        assert!(Rate::new(Duration::ZERO).per_second(Timestamp::from_nanos(5)).abs() < 1e-9);
    }
}
