//! Detects that the attaching thread, which examines processes, is stuck: a file system that does not answer may block it forever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::tap::probe::kernel_clock::kernels_now;

/// How long one turn of the thread's loop may take before it is reported. A task is due each second, but programs are large and
/// file systems may be slow.
const LONGEST_TURN: Duration = Duration::from_secs(10);

/// When the attaching thread began its current turn, by the kernel's clock.
#[derive(Clone, Debug)]
pub(in crate::tap::probe) struct Heartbeat(Arc<AtomicU64>);

/// Watches a heartbeat.
#[derive(Debug, Default)]
pub(in crate::tap::probe) struct Watchdog {
    /// The turn that was reported as stuck, if any.
    stuck: Option<u64>,
}

impl Heartbeat {
    pub(in crate::tap::probe) fn now() -> Self {
        Self(Arc::new(AtomicU64::new(kernels_now())))
    }

    /// Begins the next turn now.
    pub(super) fn beat(&self) {
        self.0.store(kernels_now(), Ordering::Relaxed);
    }

    /// When the current turn began.
    pub(in crate::tap::probe) fn last(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Watchdog {
    /// Returns the report that is due at `now`, if any; the current turn began at `last`. A turn that takes long is reported once
    /// while it runs, and once when it ends, with its duration.
    pub(in crate::tap::probe) fn report(&mut self, now: u64, last: u64) -> Option<String> {
        let turn = Duration::from_nanos(now.saturating_sub(last));
        match self.stuck {
            None if turn >= LONGEST_TURN => {
                self.stuck = Some(last);
                Some(format!(
                    "examining them has taken {} s and continues, maybe because a file system does not answer; until it ends, new programs and libraries are \
                     not probed",
                    turn.as_secs()
                ))
            }
            Some(stuck) if stuck != last => {
                self.stuck = None;
                let lasted = Duration::from_nanos(last.saturating_sub(stuck));
                Some(format!(
                    "examining them resumed after {} s; the traffic of new programs and libraries until then is lost",
                    lasted.as_secs()
                ))
            }
            None | Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn stuck_turn_is_reported_once_and_when_it_resumes() {
        let mut watchdog = Watchdog::default();
        for (now, last, expected) in [
            (100, 99, None),
            (109, 100, None),
            (110, 100, Some("has taken 10 s and continues")),
            (111, 100, None),
            (150, 100, None),
            (151, 151, Some("resumed after 51 s")),
            (152, 152, None),
            (170, 152, Some("has taken 18 s and continues")),
            (190, 171, Some("resumed after 19 s")),
            (191, 171, Some("has taken 20 s and continues")),
        ] {
            let report = watchdog.report(now * SECOND, last * SECOND);
            assert_eq!(report.is_some(), expected.is_some(), "{now}: {report:?}");
            assert!(report.unwrap_or_default().contains(expected.unwrap_or_default()), "{now}");
        }
    }

    #[test]
    fn heartbeat_is_shared_by_its_clones() {
        let heartbeat = Heartbeat(Arc::new(AtomicU64::new(0)));
        let copy = heartbeat.clone();
        heartbeat.beat();
        assert!(copy.last() > 0);
    }
}
