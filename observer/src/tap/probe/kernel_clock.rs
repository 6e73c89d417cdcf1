//! The kernel's clock, as the eBPF programs read it, and its conversion to the [`Clock`] of the run.

use std::time::Duration;

use observer_core::time::Timestamp;
use rustix::time::{ClockId, clock_gettime};

use crate::tap::Clock;

/// Nanoseconds since boot, without suspended time: `bpf_ktime_get_ns` of bpf-helpers(7).
pub(super) fn kernels_now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0).saturating_mul(1_000_000_000) + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// Largest difference that can come from reading the two clocks one after the other.
const LARGEST_DRIFT: Duration = Duration::from_millis(10);

/// Converts times of the kernel's clock to those of the run's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Both clocks at the same moment.
    ours: Timestamp,
    kernels: u64,
}

impl Times {
    /// Reads both clocks now.
    pub(super) fn now(clock: Clock) -> Self {
        Self { ours: clock.now(), kernels: kernels_now() }
    }

    /// Returns `now` if the clocks have diverged since `self` was read, otherwise `self`. The machine may have been suspended,
    /// which only the run's clock counts, or its wall clock was set. Records made before `now` but read later get the time of
    /// `now`.
    #[must_use]
    pub(super) fn again(self, now: Self) -> Self {
        let expected = self.of(now.kernels);
        let apart = now.ours.since(expected).max(expected.since(now.ours));
        if apart > LARGEST_DRIFT || now.ours.wall_ahead() != expected.wall_ahead() { now } else { self }
    }

    /// Converts a time. Times before `self` was read map to the time when it was read.
    pub(super) fn of(self, kernels: u64) -> Timestamp {
        self.ours.plus(Duration::from_nanos(kernels.saturating_sub(self.kernels)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn suspended_time_counts_although_the_kernel_clock_stopped() {
        let start = Times { ours: Timestamp::from_nanos(1000 * SECOND), kernels: 5 * SECOND };
        let awake = Times { ours: Timestamp::from_nanos(1003 * SECOND + 40_000), kernels: 8 * SECOND };
        assert_eq!(start.again(awake).of(9 * SECOND), start.of(9 * SECOND), "what is read between two readings is no time");
        let resumed = Times { ours: Timestamp::from_nanos(4603 * SECOND), kernels: 8 * SECOND };
        assert_eq!(start.again(resumed).of(9 * SECOND), Timestamp::from_nanos(4604 * SECOND));
    }

    #[test]
    fn wall_clock_step_is_taken_over() {
        let start = Times { ours: Timestamp::from_nanos(1000 * SECOND), kernels: 5 * SECOND };
        let set = Times { ours: Timestamp::from_nanos(1003 * SECOND).with_wall_ahead(60), kernels: 8 * SECOND };
        assert_eq!(start.again(set).of(9 * SECOND), Timestamp::from_nanos(1004 * SECOND).with_wall_ahead(60));
    }
}
