//! Times of log lines, which may lack the year and the zone.

use std::time::Duration;

use crate::time::Timestamp;

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
/// A line this number of days after the reference date belongs to the year before.
const HALF_A_YEAR: i64 = 183;
/// Number of years that are searched for a date. A 29 February can be eight years ago.
const YEARS: i64 = 8;

/// The year and the zone of the lines that state neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogClock {
    /// Days since the Unix epoch of the reference date, by the clock of the lines.
    reference: i64,
    /// Number of days after the reference up to which a line belongs to the following year.
    later: i64,
    utc_offset_seconds: i32,
}

impl LogClock {
    /// The clock of lines that were written in `year`, with the zone's offset from UTC in seconds, east is positive.
    pub fn of_year(year: u16, utc_offset_seconds: i32) -> Self {
        Self { reference: days(i64::from(year.clamp(1970, 2554)), 12, 31), later: 0, utc_offset_seconds }
    }

    /// The clock of a log that ends at about `reference`, for example the time of its file's last change.
    ///
    /// A line has the year of the reference. If that is more than half a year after the reference, it has the year before. So a log
    /// may extend over New Year. One day after the reference, it may be the following year: the zone may be unknown.
    pub fn until(reference: Timestamp, utc_offset_seconds: i32) -> Self {
        let seconds = i64::try_from(reference.as_nanos() / 1_000_000_000).unwrap_or(i64::MAX);
        let local = seconds.saturating_add(i64::from(utc_offset_seconds));
        Self { reference: local.div_euclid(SECONDS_PER_DAY), later: 1, utc_offset_seconds }
    }

    /// The clock of a line that was written at about this time, in the same zone.
    pub(in crate::logs) fn at_about(self, at: Timestamp) -> Self {
        Self::until(at, self.utc_offset_seconds)
    }

    /// The moment of a date without a year. `None` if there is no such date.
    fn resolve(self, month: u8, day: u8, time_of_day: Duration) -> Option<Timestamp> {
        let newest = year(self.reference);
        let years = (newest - YEARS..=newest + 1).rev();
        let mut dates = years.filter(|year| is_date(*year, month, day)).map(|year| (year, days(year, month, day)));
        let most = |year| if year > newest { self.later } else { HALF_A_YEAR };
        let (_, date) = dates.find(|(year, date)| date - self.reference <= most(*year))?;
        self.moment(date, time_of_day)
    }

    /// The moment of a time of a day, by the clock of the lines.
    fn moment(self, date: i64, time_of_day: Duration) -> Option<Timestamp> {
        let seconds = date.checked_mul(SECONDS_PER_DAY)?.checked_sub(i64::from(self.utc_offset_seconds))?;
        let nanos = i128::from(seconds) * NANOS_PER_SECOND + i128::try_from(time_of_day.as_nanos()).ok()?;
        u64::try_from(nanos).ok().map(Timestamp::from_nanos)
    }
}

/// A time as a line states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::logs) enum Stamp {
    /// With its year and its zone.
    Complete(Timestamp),
    /// The header of klog's text form has neither (kubernetes/klog `internal/buffer/buffer.go`, v2.130.1).
    Yearless { month: u8, day: u8, time_of_day: Duration },
}

impl Stamp {
    /// Reads `mmdd hh:mm:ss.uuuuuu`.
    pub(super) fn of_klog(text: &str) -> Option<Self> {
        let (date, time) = text.split_once(' ')?;
        if date.len() != 4 {
            return None;
        }
        Some(Self::Yearless { month: number(date.get(..2)?)?, day: number(date.get(2..)?)?, time_of_day: time_of_day(time)? })
    }

    /// The moment, if its date exists.
    pub(in crate::logs) fn resolve(self, clock: &LogClock) -> Option<Timestamp> {
        match self {
            Self::Complete(at) => Some(at),
            Self::Yearless { month, day, time_of_day } => clock.resolve(month, day, time_of_day),
        }
    }
}

/// Reads a time as RFC 3339 writes it, in any zone; also with the offset `+0800`, as zap writes it.
pub(in crate::logs) fn zoned(text: &str) -> Option<Timestamp> {
    if text.ends_with('Z') {
        return Timestamp::from_rfc3339(text);
    }
    let sign = text.rfind(['+', '-'])?;
    let (time, zone) = text.split_at(sign);
    let offset = offset(zone)?;
    let at = Timestamp::from_rfc3339(&format!("{time}Z"))?;
    let nanos = i128::from(at.as_nanos()) - i128::from(offset) * NANOS_PER_SECOND;
    u64::try_from(nanos).ok().map(Timestamp::from_nanos)
}

/// Reads `YYYY-MM-DD` and `hh:mm:ss.fraction` of the zone of the lines.
pub(in crate::logs) fn local(date: &str, time: &str, clock: &LogClock) -> Option<Timestamp> {
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (number::<i64>(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?);
    let date = is_date(year, month, day).then(|| days(year, month, day))?;
    clock.moment(date, time_of_day(time)?)
}

/// Reads `DD-Mon-YYYY hh:mm:ss.fraction` of the zone of the lines.
pub(in crate::logs) fn day_and_month_name(text: &str, clock: &LogClock) -> Option<Timestamp> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (date, time) = text.split_once(' ')?;
    let mut parts = date.splitn(3, '-');
    let (day, name, year) = (number(parts.next()?)?, parts.next()?, number::<i64>(parts.next()?)?);
    let month = u8::try_from(MONTHS.iter().position(|month| *month == name)? + 1).ok()?;
    let date = is_date(year, month, day).then(|| days(year, month, day))?;
    clock.moment(date, time_of_day(time)?)
}

/// Reads `hh:mm:ss` with or without a fraction.
fn time_of_day(text: &str) -> Option<Duration> {
    let mut parts = text.splitn(3, ':');
    let (hours, minutes, seconds): (u64, u64, &str) = (number(parts.next()?)?, number(parts.next()?)?, parts.next()?);
    let (seconds, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let seconds: u64 = number(seconds)?;
    if hours > 23 || minutes > 59 || seconds > 60 || fraction.len() > 9 {
        return None;
    }
    let scale = 10_u64.pow(9 - u32::try_from(fraction.len()).ok()?);
    let nanos = number::<u64>(fraction)? * scale;
    Some(Duration::from_secs(hours * 3600 + minutes * 60 + seconds) + Duration::from_nanos(nanos))
}

/// `+hh:mm` or `+hhmm` in seconds.
fn offset(zone: &str) -> Option<i64> {
    let digits: String = zone.get(1..)?.chars().filter(|character| *character != ':').collect();
    if digits.len() != 4 {
        return None;
    }
    let seconds = number::<i64>(digits.get(..2)?)? * 3600 + number::<i64>(digits.get(2..)?)? * 60;
    Some(if zone.starts_with('-') { -seconds } else { seconds })
}

/// A number of digits alone, at most nine.
fn number<N: std::str::FromStr>(text: &str) -> Option<N> {
    let is_number = (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn is_date(year: i64, month: u8, day: u8) -> bool {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _other => 0,
    };
    (1970..=2554).contains(&year) && (1..=longest).contains(&day)
}

/// Days from the Unix epoch to a date of the Gregorian calendar. A year begins with March here, so that its leap day is the last one.
fn days(year: i64, month: u8, day: u8) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (i64::from(month) + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The year of a day.
fn year(date: i64) -> i64 {
    let estimate = 1970 + date.div_euclid(366);
    let mut years = estimate..=estimate.saturating_add(3);
    years.rfind(|year| days(*year, 1, 1) <= date).unwrap_or(estimate)
}
