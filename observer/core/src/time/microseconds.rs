//! Lengths of time as numbers.

use std::time::Duration;

/// Whole microseconds, as all durations in records are.
pub fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
