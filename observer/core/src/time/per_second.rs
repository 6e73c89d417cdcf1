//! A rate as plain data.

use std::fmt;

use serde::{Serialize, Serializer};

/// Occurrences per second, to a thousandth; a number in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PerSecond {
    thousandths: u64,
}

impl PerSecond {
    /// Rounds to a thousandth. A negative rate and NaN give zero.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates, and NaN becomes 0")]
    pub fn rounded(per_second: f64) -> Self {
        Self { thousandths: (per_second * 1_000.0).round() as u64 }
    }

    /// Occurrences in a thousand seconds.
    pub const fn thousandths(self) -> u64 {
        self.thousandths
    }

    /// Whether the rate rounds to zero: below half a thousandth.
    pub const fn is_none(&self) -> bool {
        self.thousandths == 0
    }
}

impl fmt::Display for PerSecond {
    /// Two digits below ten, integers above.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = self.thousandths.saturating_add(50) / 100;
        match tenths {
            0 => formatter.write_str(if self.is_none() { "0" } else { "<0.1" }),
            1..100 => write!(formatter, "{}.{}", tenths / 10, tenths % 10),
            _ => write!(formatter, "{}", self.thousandths.saturating_add(500) / 1_000),
        }
    }
}

impl Serialize for PerSecond {
    #[expect(clippy::cast_precision_loss, reason = "a rate is no count")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.thousandths as f64 / 1_000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_rounded_for_display_and_json() {
        for (rate, text, json) in [
            (0.0, "0", "0.0"),
            (f64::NAN, "0", "0.0"),
            (-1.0, "0", "0.0"),
            (0.004, "<0.1", "0.004"),
            (0.05, "0.1", "0.05"),
            (9.94, "9.9", "9.94"),
            (9.96, "10", "9.96"),
            (211.5, "212", "211.5"),
        ] {
            let rate = PerSecond::rounded(rate);
            assert_eq!((rate.to_string().as_str(), serde_json::to_string(&rate).unwrap().as_str()), (text, json));
        }
    }
}
