//! The pause before another attempt (kubernetes/client-go `tools/cache/reflector.go`, `NewReflectorWithOptions`;
//! kubernetes/apimachinery `pkg/util/wait/backoff.go`).

use std::time::Duration;

use crate::cluster::random_hex;

const FIRST: Duration = Duration::from_millis(800);
const LONGEST: Duration = Duration::from_secs(30);
/// After this time without a pause, pauses start from the shortest again.
const RESET: Duration = Duration::from_mins(2);

/// Pauses that grow. A random factor multiplies each pause by 1 to 2.
#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
    last: Option<Duration>,
}

impl Backoff {
    pub(super) const fn new() -> Self {
        Self { next: FIRST, last: None }
    }

    /// The next pause, at `now` of the demo's clock.
    pub(super) fn pause(&mut self, now: Duration) -> Duration {
        if self.last.is_some_and(|last| now.saturating_sub(last) > RESET) {
            self.next = FIRST;
        }
        self.last = Some(now);
        let pause = self.next;
        self.next = (pause * 2).min(LONGEST);
        pause + pause.mul_f64(chance())
    }
}

/// A random number from 0 to below 1.
pub(super) fn chance() -> f64 {
    let drawn = u16::from_str_radix(&random_hex(2), 16).unwrap_or(0);
    f64::from(drawn) / 65_536.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_to_its_maximum_and_resets_when_idle() {
        let mut backoff = Backoff::new();
        let seconds = |pause: Duration, least: f64| {
            assert!((least..least * 2.0).contains(&pause.as_secs_f64()), "{pause:?} of {least} s");
        };
        for least in [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0] {
            seconds(backoff.pause(Duration::ZERO), least);
        }
        seconds(backoff.pause(Duration::from_secs(121)), 0.8);
    }
}
