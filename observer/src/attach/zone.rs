//! The time zone of an attached terminal, as a POSIX `TZ` string (POSIX.1-2024, XBD 8.3).
//!
//! The run draws the times, and may have no time zone database: the image of the sidecar has none. So the attached process describes
//! its zone as it is in the year from now on. In other years, a change to summer time may be some days off.

use std::fmt::Write as _;

use jiff::tz::{TimeZone, TimeZoneTransition};
use jiff::{SignedDuration, Timestamp, Zoned};

/// Maximum length of the text. Longer ones have names of zones that no system uses.
const LONGEST: usize = 128;

/// A zone with a change at this distance or later counts as one without changes.
const YEAR: SignedDuration = SignedDuration::from_hours(366 * 24);

/// The zone as text.
pub(super) fn to_text(zone: &TimeZone, now: Timestamp) -> Option<String> {
    let info = zone.to_offset_info(now);
    let mut text = String::new();
    push_name(info.abbreviation(), info.offset().seconds(), &mut text)?;
    let changes: Vec<TimeZoneTransition<'_>> =
        zone.following(now).take_while(|change| change.timestamp().duration_since(now) < YEAR).take(2).collect();
    let [next, back] = &changes[..] else { return Some(text) };
    // The present offset stands where standard time does, also in summer. Names and offsets are explicit, so a reader sees the same.
    push_name(next.abbreviation(), next.offset().seconds(), &mut text)?;
    push_change(next.timestamp(), info.offset().seconds(), &mut text)?;
    push_change(back.timestamp(), next.offset().seconds(), &mut text)?;
    Some(text)
}

/// The zone of a text that another process sent.
pub(super) fn of_text(text: &str) -> Option<TimeZone> {
    if text.len() > LONGEST { None } else { TimeZone::posix(text).ok() }
}

/// Appends `<CET>-1:00:00`. The sign is that of POSIX: positive in the west.
fn push_name(name: &str, seconds: i32, text: &mut String) -> Option<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'-';
    // Three is the minimum of POSIX.
    let name = if name.len() >= 3 && name.len() <= 16 && name.bytes().all(is_plain) { name } else { "LOCAL" };
    let sign = if seconds > 0 { "-" } else { "" };
    let seconds = seconds.unsigned_abs();
    write!(text, "<{name}>{sign}{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60).ok()
}

/// Appends `,J88/2:00:00`: the day of the year, without a leap day, and the time before the change.
fn push_change(at: Timestamp, seconds_before: i32, text: &mut String) -> Option<()> {
    let offset = jiff::tz::Offset::from_seconds(seconds_before).ok()?;
    let local: Zoned = at.to_zoned(TimeZone::fixed(offset));
    let is_after_leap_day = local.date().in_leap_year() && local.date().month() > 2;
    let day = local.day_of_year() - i16::from(is_after_leap_day);
    let time = local.time();
    write!(text, ",J{day}/{}:{:02}:{:02}", time.hour(), time.minute(), time.second()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zone_survives_as_text_within_a_year() {
        for rule in ["CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0", "AEST-10AEDT,M10.1.0,M4.1.0/3", "<+0545>-5:45", "UTC0"]
        {
            let zone = TimeZone::posix(rule).unwrap();
            for month in 1..=12 {
                let now = jiff::civil::date(2026, month, 15).to_zoned(TimeZone::UTC).unwrap().timestamp();
                let text = to_text(&zone, now).unwrap();
                let read = of_text(&text).unwrap_or_else(|| panic!("{text}"));
                for hours in (0..360 * 24).step_by(5) {
                    let at = now + SignedDuration::from_hours(hours);
                    let (one, other) = (zone.to_offset_info(at), read.to_offset_info(at));
                    let shown = |info: &jiff::tz::TimeZoneOffsetInfo<'_>| (info.offset(), info.abbreviation().to_owned());
                    assert_eq!(shown(&one), shown(&other), "{rule} as {text} at {at}");
                }
            }
        }
    }

    #[test]
    fn text_that_is_no_zone_is_unknown() {
        for text in ["", "x", "CET-1CEST,M3.5.0", "<\u{1b}[2J>1", &"A".repeat(1 << 20)] {
            assert!(of_text(text).is_none(), "{text:.20}");
        }
    }
}
