//! Numbers for people, each with a unit.

use std::time::Duration;

use super::Amount;

/// `1,704`; `?` for an unknown number.
#[must_use]
pub fn count(number: impl Into<Amount>) -> String {
    let Some(number) = number.into().known() else { return "?".to_owned() };
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 list`, `3 lists`, `? lists`.
#[must_use]
pub fn counted(number: impl Into<Amount>, noun: &str) -> String {
    counted_as(number, noun, &format!("{noun}s"))
}

/// A number with a noun that has an irregular plural: `1 watch`, `3 watches`.
#[must_use]
pub fn counted_as(number: impl Into<Amount>, one: &str, many: &str) -> String {
    let number = number.into();
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// `812 B`, `14 kB`, `2.1 MB`, `? B`: decimal multiples, two significant digits below ten.
#[must_use]
pub fn bytes(bytes: impl Into<Amount>) -> String {
    let Some(bytes) = bytes.into().known() else { return "? B".to_owned() };
    scaled(bytes, &[("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000)])
}

/// A time in microseconds: `310 µs`, `4.0 ms`, `3.0 s`, `4 m 50 s`.
#[must_use]
pub fn microseconds(microseconds: u64) -> String {
    match microseconds {
        0..60_000_000 => scaled(microseconds, &[("µs", 1), ("ms", 1_000), ("s", 1_000_000)]),
        longer => length(Duration::from_micros(longer)),
    }
}

/// The length of a run or a watch: `9.0 s`, `4 m 50 s`, `2 h 5 m`.
#[must_use]
pub fn length(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, _) => microseconds(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)),
        (0, minutes, seconds) => format!("{minutes} m {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} m"),
    }
}

/// Scales to the largest unit that leaves at least 1, with a decimal below 10 except in the smallest unit.
fn scaled(number: u64, units: &[(&str, u64)]) -> String {
    let (name, size) = units.iter().rev().copied().find(|(_, size)| number >= *size).unwrap_or(("", 1));
    let name = if name.is_empty() { units.first().map_or("", |(name, _)| name) } else { name };
    let tenths = (u128::from(number) * 10 + u128::from(size) / 2) / u128::from(size);
    if size == 1 || tenths >= 100 {
        format!("{} {name}", (tenths + 5) / 10)
    } else {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_formatted_for_reading() {
        assert_eq!([0, 7, 999, 1_000, 1_234_567].map(|number: u64| count(number)), ["0", "7", "999", "1,000", "1,234,567"]);
        assert_eq!((counted(1, "list"), counted(1_200, "list")), ("1 list".to_owned(), "1,200 lists".to_owned()));
        assert_eq!([1, 2].map(|number| counted_as(number, "watch", "watches")), ["1 watch", "2 watches"]);
        assert_eq!(
            [0, 812, 1_000, 14_020, 2_149_000].map(|number: u64| bytes(number)),
            ["0 B", "812 B", "1.0 kB", "14 kB", "2.1 MB"]
        );
        assert_eq!([0, 310, 4_000, 41_900, 3_000_000].map(microseconds), ["0 µs", "310 µs", "4.0 ms", "42 ms", "3.0 s"]);
        let lengths = [9, 290, 7_500].map(|seconds| length(Duration::from_secs(seconds)));
        assert_eq!(lengths, ["9.0 s", "4 m 50 s", "2 h 5 m"]);
    }
}
