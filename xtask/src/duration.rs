//! Parses durations with a unit on the command line.

use std::time::Duration;

/// Parses a number with its unit: `30s`, `10m`, `1h`.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let explained = || format!("{text:?} is no duration: write a number and s, m or h, such as 30s, 10m or 1h");
    let digits = text.find(|character: char| !character.is_ascii_digit()).ok_or_else(explained)?;
    let (number, unit) = text.split_at(digits);
    let seconds_each = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(explained()),
    };
    let number: u64 = number.parse().map_err(|_no_number| explained())?;
    match number.checked_mul(seconds_each) {
        None => Err(explained()),
        Some(0) => Err(String::from("a run of no length finds nothing")),
        Some(seconds) => Ok(Duration::from_secs(seconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_and_unit_are_read() {
        for (text, seconds) in [("30s", 30), ("10m", 600), ("1h", 3600)] {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn invalid_durations_are_explained() {
        for text in ["", "10", "m", "-1s", "1.5h", "10 m", "1h30m", "99999999999999999h", "99999999999999999999s"] {
            let error = parse(text).unwrap_err();
            assert_eq!(error, format!("{text:?} is no duration: write a number and s, m or h, such as 30s, 10m or 1h"));
        }
        assert!(parse("0s").unwrap_err().starts_with("a run of no length"));
    }
}
