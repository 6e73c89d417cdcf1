//! The demo's clock, which may run faster than real time.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

/// The time since the server started, multiplied by its speed.
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

    /// The demo's time since the start.
    pub(super) fn now(&self) -> Duration {
        self.began.elapsed().saturating_mul(self.speed)
    }

    /// The real time that a period of the demo's time takes.
    pub(super) fn lasts(&self, period: Duration) -> Duration {
        period / self.speed
    }

    /// The demo's time of day.
    pub(super) fn wall(&self) -> SystemTime {
        self.began_at + self.now()
    }

    /// The time that objects contain, to the second: `2006-01-02T15:04:05Z`.
    pub(super) fn timestamp(&self) -> String {
        humantime::format_rfc3339_seconds(self.wall()).to_string()
    }
}
