//! The demo's clock, which may run faster than real time.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// Measures the demo's time: the real time since the server started, multiplied by its speed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    began: Instant,
    began_at: SystemTime,
    speed: u32,
}

impl Clock {
    pub(super) fn start(speed: u32) -> Self {
        Self { began: Instant::now(), began_at: SystemTime::now(), speed: speed.max(1) }
    }

    /// The demo's time that has passed since the start.
    pub(super) fn now(&self) -> Duration {
        self.began.elapsed().saturating_mul(self.speed)
    }

    /// Converts a period of the demo's time to real time.
    pub(super) fn lasts(&self, period: Duration) -> Duration {
        period / self.speed
    }

    /// Converts a rate per second of the demo's time to one per second of real time.
    pub(super) fn rate(&self, per_second: u64) -> u64 {
        per_second.saturating_mul(self.speed.into())
    }

    /// The demo's current time as a wall clock shows it.
    pub(super) fn wall(&self) -> SystemTime {
        self.began_at + self.now()
    }

    /// The demo's current time in the format of timestamps in objects: `2006-01-02T15:04:05Z`.
    pub(super) fn timestamp(&self) -> String {
        humantime::format_rfc3339_seconds(self.wall()).to_string()
    }
}
