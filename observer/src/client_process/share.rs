//! Limits the share of time that repeated work takes.

use std::time::Duration;

/// A part of the time, for work that may be requested endlessly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    one_of: u32,
}

impl Share {
    pub(crate) const HALF: Self = Self { one_of: 2 };
    pub(crate) const TWENTIETH: Self = Self { one_of: 20 };

    /// The time from the beginning of work that took this long to the next beginning.
    pub(crate) const fn period(self, took: Duration) -> Duration {
        took.saturating_mul(self.one_of)
    }
}
