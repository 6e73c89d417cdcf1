//! Reading of lines, for the tests of all forms.

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
    let time = Timestamp::from_rfc3339(text);
    assert!(time.is_some(), "{text}");
    time
}
