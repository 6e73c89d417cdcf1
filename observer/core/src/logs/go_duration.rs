//! Durations as Go prints them.

use std::time::Duration;

/// Reads a duration such as `1.5s`, `612.3ms`, `1m2.5s` or `850µs` (Go `time.Duration.String`); `None` for any other text.
pub(super) fn go_duration(text: &str) -> Option<Duration> {
    if text.is_empty() {
        return None;
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit() && character != '.')?;
        let (number, after) = rest.split_at(digits);
        let unit = after.find(|character: char| character.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let seconds = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "µs" | "us" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        total = total.checked_add(Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?)?;
        rest = after;
    }
    Some(total)
}
