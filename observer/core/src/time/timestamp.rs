//! Points in time, as taps stamp them.

use std::fmt;
use std::time::{Duration, UNIX_EPOCH};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment of a run: nanoseconds since the Unix epoch, by the wall clock as it was set when the run began.
///
/// A tap derives it from one reading of the wall clock and from a clock that cannot be set. So it never goes backwards within a
/// run, and differences are elapsed time. If the machine's wall clock has been set since, the stamp also holds the difference,
/// which affects only the display. The core only receives timestamps.
///
/// As text, also in JSON, it is RFC 3339 in UTC with nanoseconds, by the wall clock of that moment:
/// `2026-01-31T12:00:01.204000000Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    nanos: u64,
    /// Nanoseconds by which the wall clock was ahead of `nanos`, negative if it was behind.
    wall_ahead: i64,
}

impl Timestamp {
    /// The point `nanos` nanoseconds after the Unix epoch.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self { nanos, wall_ahead: 0 }
    }

    /// Reads a time in UTC, as RFC 3339 writes it; `None` for other text and for times outside 1970 to 2554.
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let since_epoch = humantime::parse_rfc3339(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(since_epoch.as_nanos()).ok().map(Self::from_nanos)
    }

    /// Nanoseconds since the Unix epoch, by the wall clock as it was set when the run began.
    pub const fn as_nanos(self) -> u64 {
        self.nanos
    }

    /// Nanoseconds by which the wall clock was ahead of [`Self::as_nanos`]: how far it has been set forward since the run began.
    pub const fn wall_ahead(self) -> i64 {
        self.wall_ahead
    }

    /// Nanoseconds since the Unix epoch, by the wall clock of that moment.
    pub const fn wall_nanos(self) -> u64 {
        self.nanos.saturating_add_signed(self.wall_ahead)
    }

    /// The moment that has the wall clock's time of this one, as logs of other programs have it.
    #[must_use]
    pub const fn of_wall_clock(self) -> Self {
        Self::from_nanos(self.wall_nanos())
    }

    /// The same moment, with the wall clock `nanos` ahead.
    #[must_use]
    pub const fn with_wall_ahead(self, nanos: i64) -> Self {
        Self { nanos: self.nanos, wall_ahead: nanos }
    }

    /// The same moment, displayed by the wall clock of `other`.
    #[must_use]
    pub const fn by_clock_of(self, other: Self) -> Self {
        self.with_wall_ahead(other.wall_ahead)
    }

    /// The time from `earlier` to `self`; zero if `earlier` is the later one.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos.saturating_sub(earlier.nanos))
    }

    /// The point `duration` later, or the last representable one.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self { nanos: self.nanos.saturating_add(nanos), ..self }
    }

    /// The point `duration` earlier, or the first representable one.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self { nanos: self.nanos.saturating_sub(nanos), ..self }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // 2^64 nanoseconds end in the year 2554, which both std and the formatter support.
        let shown = Duration::from_nanos(self.wall_nanos());
        write!(formatter, "{}", humantime::format_rfc3339_nanos(UNIX_EPOCH + shown))
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
        Self::from_rfc3339(&text).ok_or_else(|| D::Error::custom("not a time of RFC 3339 in UTC, from 1970 to 2554"))
    }
}

/// Writes the stamp of an observation, for `#[serde(flatten, serialize_with = "…")]`: `at` is the moment of the run. Beside it,
/// `wall_ahead_nanos` holds the change of the wall clock, unless it is 0.
pub(crate) mod recorded {
    use serde::{Serialize, Serializer};

    use super::Timestamp;

    #[derive(Serialize)]
    struct Recorded {
        at: Timestamp,
        #[serde(skip_serializing_if = "is_zero")]
        wall_ahead_nanos: i64,
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    const fn is_zero(nanos: &i64) -> bool {
        *nanos == 0
    }

    pub(crate) fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        Recorded { at: at.with_wall_ahead(0), wall_ahead_nanos: at.wall_ahead }.serialize(serializer)
    }
}

/// A stamp in a capture that shares the clock of its observation: only the moment of the run.
pub(crate) mod recorded_beside {
    use serde::{Serialize, Serializer};

    use super::Timestamp;

    pub(crate) fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        at.with_wall_ahead(0).serialize(serializer)
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

    #[test]
    fn wall_clock_offset_changes_display_but_not_differences() {
        const HOUR: i64 = 3_600_000_000_000;
        let early = Timestamp::from_nanos(1_769_860_801_204_000_001);
        let late = early.plus(Duration::from_secs(2)).with_wall_ahead(-HOUR);
        assert_eq!(late.to_string(), "2026-01-31T11:00:03.204000001Z");
        assert!(late > early);
        assert_eq!(late.since(early), Duration::from_secs(2));
        assert_eq!(late.plus(Duration::from_secs(1)).to_string(), "2026-01-31T11:00:04.204000001Z");
    }
}
