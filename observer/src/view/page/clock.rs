//! The zone of the times on the page.

use jiff::tz::TimeZone;
use observer_core::time::Timestamp;

use crate::view::quantity;

/// Shows times in UTC, or in the zone of the machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// The zone of the machine; `None` if it is unknown.
    local: Option<TimeZone>,
    is_local: bool,
}

impl Clock {
    /// A clock in UTC, which can change to `local`.
    pub(super) const fn with_zone(local: TimeZone) -> Self {
        Self { local: Some(local), is_local: false }
    }

    /// Changes between UTC and the zone of the machine; `false` if that zone is unknown.
    pub(super) const fn toggle(&mut self) -> bool {
        self.is_local = !self.is_local && self.local.is_some();
        self.local.is_some()
    }

    /// `12:00:01.204`.
    pub(super) fn time_of_day(&self, at: Timestamp) -> String {
        self.format("%H:%M:%S%.3f", at).unwrap_or_else(|| quantity::time_of_day(at))
    }

    /// The name of the zone at this time, with its offset: `UTC`, `CEST +02:00`.
    pub(super) fn zone(&self, at: Timestamp) -> String {
        self.format("%Z %:z", at).unwrap_or_else(|| "UTC".to_owned())
    }

    /// `None` in UTC, and for times outside the range of the calendar.
    fn format(&self, format: &str, at: Timestamp) -> Option<String> {
        let zone = self.local.as_ref().filter(|_| self.is_local)?;
        Some(moment(at)?.to_zoned(zone.clone()).strftime(format).to_string())
    }
}

/// `20260131T120001Z`: a time in UTC, for the name of a file.
pub(super) fn in_a_name(at: Timestamp) -> String {
    moment(at).unwrap_or_default().strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// `None` for times outside the range of the calendar.
fn moment(at: Timestamp) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_nanosecond(i128::from(at.as_nanos()) + i128::from(at.wall_ahead())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-31 12:00:01.204 UTC.
    const WINTER: Timestamp = Timestamp::from_nanos(1_769_860_801_204_000_000);
    const HALF_A_YEAR: u64 = 181 * 86_400 * 1_000_000_000;

    #[test]
    fn times_are_in_utc_until_the_zone_is_changed() {
        let mut clock = Clock::with_zone(TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap());
        let summer = Timestamp::from_nanos(WINTER.as_nanos() + HALF_A_YEAR);
        assert_eq!((clock.time_of_day(WINTER), clock.zone(WINTER)), ("12:00:01.204".to_owned(), "UTC".to_owned()));
        assert!(clock.toggle());
        assert_eq!((clock.time_of_day(WINTER), clock.zone(WINTER)), ("13:00:01.204".to_owned(), "CET +01:00".to_owned()));
        assert_eq!((clock.time_of_day(summer), clock.zone(summer)), ("14:00:01.204".to_owned(), "CEST +02:00".to_owned()));
        assert!(clock.toggle());
        assert_eq!(clock.zone(WINTER), "UTC");
    }

    #[test]
    fn local_time_follows_a_wall_clock_that_was_set() {
        let mut clock = Clock::with_zone(TimeZone::UTC);
        clock.toggle();
        assert_eq!(clock.time_of_day(WINTER.with_wall_ahead(1_000_000_000)), "12:00:02.204");
    }

    #[test]
    fn time_in_a_name_is_in_utc() {
        assert_eq!(in_a_name(WINTER), "20260131T120001Z");
    }

    #[test]
    fn unknown_zone_leaves_times_in_utc() {
        let mut clock = Clock::default();
        assert!(!clock.toggle());
        assert_eq!(clock.zone(WINTER), "UTC");
    }
}
