//! The year and the zone of log lines that state neither.

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::log_files::LogZone;

/// The first and the last year in which all days have a time: seconds since the Unix epoch, as nanoseconds in 64 bits.
const YEARS: std::ops::RangeInclusive<u16> = 1970..=2553;
/// The largest offset from UTC in use, of Kiribati's Line Islands.
const MOST_MINUTES: i32 = 14 * 60;

/// The zone of logs, as far as flags give it.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct LogZoneFlags {
    /// Year of log lines without one, such as those of klog [default: the year in which the file was changed last]
    #[arg(long, value_name = "YEAR", value_parser = year)]
    year: Option<u16>,

    /// Offset from UTC of log lines without one, such as those of klog: +02:00, or -07:30 [default: +00:00]
    #[arg(long, value_name = "±HH:MM", value_parser = offset, allow_hyphen_values = true)]
    utc_offset: Option<i32>,
}

impl LogZoneFlags {
    /// The zone that they give.
    pub(crate) const fn zone(self) -> LogZone {
        LogZone { year: self.year, utc_offset_seconds: self.utc_offset }
    }

    /// The name of the first flag that is given.
    pub(crate) const fn given(self) -> Option<&'static str> {
        match (self.year, self.utc_offset) {
            (Some(_), _) => Some("--year"),
            (None, Some(_)) => Some("--utc-offset"),
            (None, None) => None,
        }
    }
}

fn year(text: &str) -> Result<u16> {
    let year: u16 = text.parse().context("a year has four digits, such as 2026")?;
    ensure!(YEARS.contains(&year), "use a year from {} to {}", YEARS.start(), YEARS.end());
    Ok(year)
}

/// Reads `+HH:MM` or `-HH:MM` as seconds.
fn offset(text: &str) -> Result<i32> {
    let (sign, digits) = match (text.strip_prefix('+'), text.strip_prefix(['-', '\u{2212}'])) {
        (Some(digits), _) => (1, digits),
        (None, Some(digits)) => (-1, digits),
        (None, None) => bail!("an offset begins with + or -, as in +02:00"),
    };
    let two = |digits: &str| (digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok());
    let parts = digits.split_once(':').and_then(|(hours, minutes)| Some((two(hours)??, two(minutes)??)));
    let (hours, minutes): (i32, i32) = parts.context("an offset has two digits for hours and two for minutes, as in +02:00")?;
    let total = hours * 60 + minutes;
    ensure!(minutes < 60, "an hour has 60 minutes, so an offset ends with :59 at most");
    ensure!(total <= MOST_MINUTES, "an offset is at most 14:00");
    Ok(sign * total * 60)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        flags: LogZoneFlags,
    }

    fn zone(arguments: &[&str]) -> Result<LogZone, String> {
        Line::try_parse_from([&["read"], arguments].concat()).map(|line| line.flags.zone()).map_err(|error| error.to_string())
    }

    #[test]
    fn years_and_offsets_are_read() {
        let of = |year, utc_offset_seconds| Ok(LogZone { year, utc_offset_seconds });
        assert_eq!(zone(&[]), of(None, None));
        assert_eq!(zone(&["--year", "2024", "--utc-offset", "+05:30"]), of(Some(2024), Some(19_800)));
        assert_eq!(zone(&["--utc-offset", "-08:00"]), of(None, Some(-28_800)));
        assert_eq!(zone(&["--utc-offset", "\u{2212}08:00"]), of(None, Some(-28_800)));
        assert_eq!(zone(&["--utc-offset=+00:00"]), of(None, Some(0)));
    }

    #[test]
    fn errors_name_the_flag_and_the_form() {
        for (flag, value, reason) in [
            ("--year", "24", "use a year from 1970 to 2553"),
            ("--year", "9999", "use a year from 1970 to 2553"),
            ("--year", "now", "four digits"),
            ("--utc-offset", "2", "begins with + or -"),
            ("--utc-offset", "CET", "begins with + or -"),
            ("--utc-offset", "+2:00", "two digits for hours"),
            ("--utc-offset", "+0200", "two digits for hours"),
            ("--utc-offset", "+02:60", ":59 at most"),
            ("--utc-offset", "-14:01", "at most 14:00"),
            ("--utc-offset", "+é:00", "two digits for hours"),
            ("--utc-offset", "", "begins with + or -"),
        ] {
            let error = zone(&[&format!("{flag}={value}")]).unwrap_err();
            assert!(error.contains(flag) && error.contains(reason), "{flag}={value}: {error}");
        }
    }
}
