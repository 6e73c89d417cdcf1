//! The kernel's clock, as the programs read it, and ours.

use std::time::Duration;

use observer_core::time::Timestamp;
use rustix::time::{ClockId, clock_gettime};

use crate::tap::Clock;

/// Nanoseconds since the machine was started, without those in which it slept: `bpf_ktime_get_ns` of bpf-helpers(7).
pub(super) fn kernels_now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0).saturating_mul(1_000_000_000) + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// From the kernel's clock to ours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Both at the same moment.
    ours: Timestamp,
    kernels: u64,
}

impl Times {
    pub(super) fn now(clock: Clock) -> Self {
        Self { ours: clock.now(), kernels: kernels_now() }
    }

    /// What was before stands at the beginning.
    pub(super) fn of(self, kernels: u64) -> Timestamp {
        self.ours.plus(Duration::from_nanos(kernels.saturating_sub(self.kernels)))
    }
}
