//! Detects that the thread that looks at processes is stuck: a file system that does not answer may block it forever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::tap::probe::kernel_clock::kernels_now;

/// How long one turn may take before it is reported. A task is due each second, but programs are large and file systems may be
/// slow.
const PATIENCE: Duration = Duration::from_secs(10);

/// When the looking thread began its current turn, by the kernel's clock.
#[derive(Clone, Debug)]
pub(in crate::tap::probe) struct LastTurn(Arc<AtomicU64>);

/// The standstill that was reported, if any.
#[derive(Debug, Default)]
pub(in crate::tap::probe) struct Standstill {
    /// The turn that was reported as stuck.
    told: Option<u64>,
}

impl LastTurn {
    pub(in crate::tap::probe) fn now() -> Self {
        Self(Arc::new(AtomicU64::new(kernels_now())))
    }

    /// Begins the next turn now.
    pub(in crate::tap::probe) fn turn(&self) {
        self.0.store(kernels_now(), Ordering::Relaxed);
    }

    pub(in crate::tap::probe) fn at(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Standstill {
    /// The report due at `now` if the last turn began at `last_turn`: one when it takes long, and one with its duration afterwards.
    pub(in crate::tap::probe) fn news(&mut self, now: u64, last_turn: u64) -> Option<String> {
        let turn = Duration::from_nanos(now.saturating_sub(last_turn));
        match self.told {
            None if turn >= PATIENCE => {
                self.told = Some(last_turn);
                Some(format!(
                    "looking at them has taken {} s and goes on, maybe as a file system does not answer; until it does, programs and libraries that were not seen \
                     before are not probed",
                    turn.as_secs()
                ))
            }
            Some(told) if told != last_turn => {
                self.told = None;
                let stood = Duration::from_nanos(last_turn.saturating_sub(told));
                Some(format!(
                    "looking at them went on after {} s; what programs said meanwhile that were not probed before is lost",
                    stood.as_secs()
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
    fn standstill_is_told_once_and_again_when_it_is_over() {
        let mut standstill = Standstill::default();
        for (now, last_turn, expected) in [
            (100, 99, None),
            (109, 100, None),
            (110, 100, Some("has taken 10 s and goes on")),
            (111, 100, None),
            (150, 100, None),
            (151, 151, Some("went on after 51 s")),
            (152, 152, None),
            (170, 152, Some("has taken 18 s and goes on")),
            (190, 171, Some("went on after 19 s")),
            (191, 171, Some("has taken 20 s and goes on")),
        ] {
            let news = standstill.news(now * SECOND, last_turn * SECOND);
            assert_eq!(news.is_some(), expected.is_some(), "{now}: {news:?}");
            assert!(news.unwrap_or_default().contains(expected.unwrap_or_default()), "{now}");
        }
    }

    #[test]
    fn turn_is_seen_by_whoever_has_a_copy() {
        let last_turn = LastTurn(Arc::new(AtomicU64::new(0)));
        let copy = last_turn.clone();
        last_turn.turn();
        assert!(copy.at() > 0);
    }
}
