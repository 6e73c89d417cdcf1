//! A number that is typed in a filter: `1000`, `1.5MB`, `10s`.

use super::filter_key::{Measure, NumberKey};

/// Billionths in one.
const ONE: u128 = 1_000_000_000;

/// Maximum number of digits before the point, and after it. More are refused, so that no number overflows.
const MOST_DIGITS: usize = 15;

/// A number in billionths of a count, a byte or a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Amount(u128);

/// The units of bytes and the units of time, with their sizes in billionths. Case does not matter in units of bytes.
const BYTES: [(&str, u128); 5] =
    [("B", ONE), ("kB", 1_000 * ONE), ("MB", 1_000_000 * ONE), ("GB", 1_000_000_000 * ONE), ("TB", 1_000_000_000_000 * ONE)];
const TIMES: [(&str, u128); 6] = [("µs", 1_000), ("us", 1_000), ("ms", 1_000_000), ("s", ONE), ("m", 60 * ONE), ("h", 3_600 * ONE)];

impl Amount {
    /// The number of a cell, in a column where `per_one` units make one count, byte or second.
    pub(super) fn of(number: u64, per_one: u64) -> Self {
        Self(u128::from(number) * ONE / u128::from(per_one.max(1)))
    }

    /// Reads `text` as a number for `key`, or returns the problem. Without a unit it is a count, bytes or seconds.
    pub(super) fn parse(text: &str, key: NumberKey) -> Result<Self, String> {
        let end = text.find(|character: char| !(character.is_ascii_digit() || character == '.' || character == ','));
        let (number, unit) = text.split_at(end.unwrap_or(text.len()));
        let size = if unit.is_empty() { Some(ONE) } else { size(unit, key.measure()) };
        let size = size.ok_or_else(|| format!("{unit} is not a unit of {}; {}", key.as_str(), units(key.measure())))?;
        let billionths = decimal(number).ok_or_else(|| {
            if text.is_empty() { format!("a number is missing after {}", key.as_str()) } else { format!("{text} is not a number") }
        })?;
        Ok(Self(billionths * size / ONE))
    }
}

fn size(unit: &str, measure: Measure) -> Option<u128> {
    let found = match measure {
        Measure::Plain => None,
        Measure::Bytes => BYTES.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)),
        Measure::Duration => TIMES.into_iter().find(|(name, _)| *name == unit),
    };
    found.map(|(_, size)| size)
}

const fn units(measure: Measure) -> &'static str {
    match measure {
        Measure::Plain => "it has none",
        Measure::Bytes => "use B, kB, MB, GB or TB",
        Measure::Duration => "use us, ms, s, m or h",
    }
}

/// Reads `1,204.5` as billionths.
fn decimal(text: &str) -> Option<u128> {
    let text = text.replace(',', "");
    let (before, behind) = text.split_once('.').unwrap_or((&text, ""));
    let has_digits = !before.is_empty() || !behind.is_empty();
    if !has_digits || before.len() > MOST_DIGITS || behind.len() > MOST_DIGITS {
        return None;
    }
    let number = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<u128>().ok() };
    let fraction: String = behind.chars().chain("000000000".chars()).take(9).collect();
    Some(number(before)? * ONE + number(&fraction)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_the_units_of_their_column() {
        for (text, key, number, per_one) in [
            ("1000", NumberKey::Items, 1_000, 1),
            ("1,204", NumberKey::Items, 1_204, 1),
            ("0.5", NumberKey::Rate, 500, 1_000),
            ("1.5MB", NumberKey::Bytes, 1_500_000, 1),
            ("14kb", NumberKey::Bytes, 14_000, 1),
            ("812", NumberKey::Bytes, 812, 1),
            ("310us", NumberKey::FirstByte, 310, 1_000_000),
            ("3ms", NumberKey::Total, 3_000, 1_000_000),
            ("2m", NumberKey::InState, 120_000_000_000, 1_000_000_000),
            ("7", NumberKey::InState, 7_000_000_000, 1_000_000_000),
        ] {
            assert_eq!(Amount::parse(text, key), Ok(Amount::of(number, per_one)), "{text}");
        }
    }

    #[test]
    fn unreadable_numbers_are_refused_with_the_reason() {
        for (text, key, problem) in [
            ("", NumberKey::Items, "a number is missing after objects"),
            ("many", NumberKey::Items, "many is not a unit of objects; it has none"),
            ("1MB", NumberKey::Relists, "MB is not a unit of relists; it has none"),
            ("1s", NumberKey::Bytes, "s is not a unit of bytes; use B, kB, MB, GB or TB"),
            ("1kB", NumberKey::Total, "kB is not a unit of total; use us, ms, s, m or h"),
            ("1.2.3", NumberKey::Items, "1.2.3 is not a number"),
            (".", NumberKey::Items, ". is not a number"),
            ("1234567890123456", NumberKey::Items, "1234567890123456 is not a number"),
        ] {
            assert_eq!(Amount::parse(text, key), Err(problem.to_owned()), "{text}");
        }
    }
}
