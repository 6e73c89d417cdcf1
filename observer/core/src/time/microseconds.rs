//! Durations as numbers.

use std::time::Duration;

/// The duration in microseconds, rounded down; records hold all durations in this unit.
pub fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
