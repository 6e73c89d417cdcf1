//! The demo's clock: it may run faster than the world's.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// Time since the server began, times its speed.
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

    /// How much of the demo's time has passed.
    pub(super) fn now(&self) -> Duration {
        self.began.elapsed().saturating_mul(self.speed)
    }

    /// How long a period of the demo's time takes in the world.
    pub(super) fn lasts(&self, period: Duration) -> Duration {
        period / self.speed
    }

    /// The demo's time of day.
    pub(super) fn wall(&self) -> SystemTime {
        self.began_at + self.now()
    }

    /// The time that objects carry, to the second, as `2006-01-02T15:04:05Z`.
    pub(super) fn timestamp(&self) -> String {
        humantime::format_rfc3339_seconds(self.wall()).to_string()
    }
}
