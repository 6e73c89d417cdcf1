//! The clock that taps stamp with.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use observer_core::time::Timestamp;

/// One reading of the wall clock, and the monotonic time that passed since: within a run it never goes backwards.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    wall: Timestamp,
    monotonic: Instant,
}

impl Clock {
    /// A clock that starts now. One for all taps of a run makes their stamps comparable.
    pub fn start() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { wall: Timestamp::default().plus(since_epoch), monotonic: Instant::now() }
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        self.wall.plus(self.monotonic.elapsed())
    }
}
