//! Ages as kubectl prints them: two figures, coarser with age (`k8s.io/apimachinery/pkg/util/duration` 0.34).

use std::time::{Duration, SystemTime};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const YEAR: u64 = 365 * DAY;

/// The time since an RFC 3339 time; `<unknown>` without one, `<invalid>` if it is more than a second in the future.
pub(super) fn since(time: Option<&str>, now: SystemTime) -> String {
    match time.and_then(parsed) {
        Some(time) => between(time, now),
        None => "<unknown>".to_owned(),
    }
}

/// The time between two times.
pub(super) fn between(from: SystemTime, to: SystemTime) -> String {
    match to.duration_since(from) {
        Ok(age) => of(age),
        Err(ahead) if ahead.duration() < Duration::from_secs(2) => "0s".to_owned(),
        Err(_) => "<invalid>".to_owned(),
    }
}

/// Parses a time in the API server's format: RFC 3339 in UTC.
pub(super) fn parsed(time: &str) -> Option<SystemTime> {
    humantime::parse_rfc3339(time).ok()
}

fn of(age: Duration) -> String {
    let seconds = age.as_secs();
    let figures = |whole: u64, unit: &str, part: u64, part_unit: &str| match part {
        0 => format!("{whole}{unit}"),
        part => format!("{whole}{unit}{part}{part_unit}"),
    };
    let days = seconds / DAY;
    match seconds {
        0..120 => format!("{seconds}s"),
        120..600 => figures(seconds / MINUTE, "m", seconds % MINUTE, "s"),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => figures(seconds / HOUR, "h", seconds % HOUR / MINUTE, "m"),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => figures(days, "d", seconds % DAY / HOUR, "h"),
        _ if seconds < 2 * YEAR => format!("{days}d"),
        _ if seconds < 8 * YEAR => figures(days / 365, "y", days % 365, "d"),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_two_figures() {
        for (seconds, text) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (599, "9m59s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (10_860, "3h1m"),
            (28_800, "8h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (176_400, "2d1h"),
            (691_200, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR, "2y"),
            (2 * YEAR + DAY, "2y1d"),
            (8 * YEAR + DAY, "8y"),
        ] {
            assert_eq!(of(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn a_time_ahead_is_invalid_but_for_a_second() {
        let now = parsed("2026-01-01T00:00:00Z").unwrap();
        assert_eq!(since(Some("2025-12-31T23:59:50.5Z"), now), "9s");
        assert_eq!(since(Some("2026-01-01T00:00:01Z"), now), "0s");
        assert_eq!(since(Some("2026-01-01T00:00:02Z"), now), "<invalid>");
        assert_eq!(since(Some("yesterday"), now), "<unknown>");
        assert_eq!(since(None, now), "<unknown>");
    }
}
