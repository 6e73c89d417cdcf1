//! Decides when the shutdown of a probe is complete.

use std::time::{Duration, Instant};

/// Maximum duration of a shutdown, even if records still come. The kernel ends the probes of a file within some ten milliseconds,
/// and there may be hundreds of files.
const WITHIN: Duration = Duration::from_secs(1);

/// The deadline of the shutdown; `None` before it begins.
#[derive(Debug, Default)]
pub(super) struct Shutdown {
    until: Option<Instant>,
}

impl Shutdown {
    /// Begins the shutdown; later calls have no effect.
    pub(super) fn begin(&mut self, now: Instant) {
        self.until.get_or_insert(now + WITHIN);
    }

    /// Whether it is over. Either all records are taken (`is_drained`) after the probes were detached (`is_detached`), or the time
    /// is up.
    pub(super) fn is_over(&self, now: Instant, is_detached: bool, is_drained: bool) -> bool {
        self.until.is_some_and(|until| until <= now || is_detached && is_drained)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shutdown_ends_when_drained_or_at_its_deadline() {
        let begin = Instant::now();
        let mut shutdown = Shutdown::default();
        assert!(!shutdown.is_over(begin + 10 * WITHIN, true, true), "it was not requested");
        shutdown.begin(begin);
        shutdown.begin(begin + WITHIN / 2);
        let almost = begin + WITHIN.checked_sub(Duration::from_nanos(1)).unwrap();
        for (now, is_detached, is_drained, expected) in [
            (begin, false, false, false),
            (begin, false, true, false),
            (begin, true, false, false),
            (begin, true, true, true),
            (almost, true, false, false),
            (begin + WITHIN, true, false, true),
            (begin + WITHIN, false, false, true),
        ] {
            assert_eq!(shutdown.is_over(now, is_detached, is_drained), expected, "{is_detached} {is_drained}");
        }
    }
}
