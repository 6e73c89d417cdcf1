//! Points in time, as the taps stamp them.

use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Nanoseconds since the Unix epoch.
///
/// A tap derives it from one wall-clock reading and a monotonic clock, so within a run it never goes backwards. The core only
/// receives it. As text, in JSON too, it is RFC 3339 in UTC with nanoseconds: `2026-01-31T12:00:01.204000000Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The point `nanos` nanoseconds after the Unix epoch.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the Unix epoch.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time that passed from `earlier` to `self`; zero when `earlier` is the later one.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The point `duration` later, or the last representable one.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // 2^64 nanoseconds end in the year 2554, which both std and the formatter can take.
        write!(formatter, "{}", humantime::format_rfc3339_nanos(UNIX_EPOCH + Duration::from_nanos(self.0)))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time = humantime::parse_rfc3339(&text).map_err(D::Error::custom)?;
        let since_epoch = time.duration_since(UNIX_EPOCH).map_err(D::Error::custom)?;
        u64::try_from(since_epoch.as_nanos()).map(Self).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_is_rfc_3339_and_loses_nothing() {
        let time = Timestamp::from_nanos(1_769_860_801_204_000_001);
        let json = serde_json::to_string(&time).unwrap();
        assert_eq!(json, r#""2026-01-31T12:00:01.204000001Z""#);
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), time);
        assert_eq!(Timestamp::from_nanos(u64::MAX).to_string(), "2554-07-21T23:34:33.709551615Z");
    }

    #[test]
    fn time_never_runs_backwards_in_differences() {
        let (early, late) = (Timestamp::from_nanos(5), Timestamp::from_nanos(9));
        assert_eq!(late.since(early), Duration::from_nanos(4));
        assert_eq!(early.since(late), Duration::ZERO);
    }
}
