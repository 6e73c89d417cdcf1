//! Reading of lines, for the tests of all forms.

use std::time::Duration;

use crate::logs::{LogClock, LogLine};
use crate::time::Timestamp;

/// The clock of lines of 2024, in UTC.
pub(super) fn clock() -> LogClock {
    LogClock::of_year(2024, 0)
}

#[track_caller]
pub(super) fn read(line: &str) -> LogLine {
    LogLine::read(line.as_bytes(), &clock()).unwrap_or_else(|| panic!("not understood: {line}"))
}

#[track_caller]
pub(super) fn time(text: &str) -> Option<Timestamp> {
    Some(Timestamp::from_rfc3339(text).unwrap())
}

pub(super) fn micros(micros: u64) -> Option<Duration> {
    Some(Duration::from_micros(micros))
}
