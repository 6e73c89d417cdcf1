//! The clock that stamps observations.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use observer_core::time::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// Includes suspended time and cannot be set: `CLOCK_BOOTTIME` of `clock_gettime(2)`.
#[cfg(target_os = "linux")]
const STEADY: ClockId = ClockId::Boottime;
/// Includes suspended time on Apple's systems, too.
#[cfg(not(target_os = "linux"))]
const STEADY: ClockId = ClockId::Monotonic;

/// Stamps show a step of the wall clock only if it has at least this size, in nanoseconds.
const LEAST_STEP: u64 = 10 * MILLISECOND;
/// Maximum time between the readings of the two clocks, in nanoseconds; a slower pair is read again.
const LONGEST_READING: u64 = MILLISECOND;
/// In nanoseconds.
const MILLISECOND: u64 = 1_000_000;
/// Maximum number of times that the two clocks are read for one reading; a busy machine may need several.
const READINGS: usize = 4;

/// The time of one reading of the wall clock, plus the time that has passed since then. So the clock never goes backwards within a
/// run. If the wall clock is set during the run, stamps carry the difference for display.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Reading,
}

/// The machine's clocks at one moment.
#[derive(Clone, Copy, Debug)]
struct Reading {
    /// Nanoseconds since boot, including suspended time.
    steady: u64,
    /// Nanoseconds since the Unix epoch.
    wall: u64,
}

impl Clock {
    /// A clock that starts now. All taps of a run share one, so that their stamps are comparable.
    pub fn start() -> Self {
        Self { start: Reading::now() }
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        self.stamp(Reading::now())
    }

    fn stamp(&self, now: Reading) -> Timestamp {
        let passed = now.steady.saturating_sub(self.start.steady);
        let expected = self.start.wall.saturating_add(passed);
        let by = step(now.wall.abs_diff(expected));
        let ahead = if now.wall >= expected { by } else { -by };
        Timestamp::from_nanos(expected).with_wall_ahead(ahead)
    }
}

/// Returns the step of the wall clock in nanoseconds, rounded to milliseconds; 0 below [`LEAST_STEP`]. The two clocks are not read
/// at the same instant, and stamps after one step must all show the same number.
fn step(difference: u64) -> i64 {
    let whole = difference.saturating_add(MILLISECOND / 2) / MILLISECOND * MILLISECOND;
    if difference < LEAST_STEP { 0 } else { i64::try_from(whole).unwrap_or(i64::MAX) }
}

impl Reading {
    fn now() -> Self {
        let mut readings = std::iter::repeat_with(Self::attempt).take(READINGS);
        let (mut closest, mut shortest) = readings.next().unwrap_or_else(Self::attempt);
        while shortest > LONGEST_READING
            && let Some((reading, took)) = readings.next()
        {
            if took < shortest {
                (closest, shortest) = (reading, took);
            }
        }
        closest
    }

    /// One reading, and the nanoseconds it took.
    fn attempt() -> (Self, u64) {
        let before = steady();
        let wall = nanos(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        (Self { steady: before, wall }, steady().saturating_sub(before))
    }
}

fn steady() -> u64 {
    nanos(Duration::try_from(clock_gettime(STEADY)).unwrap_or_default())
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1000 * MILLISECOND;
    const HOUR: u64 = 3600 * SECOND;
    /// 2026-01-31T12:00:00Z in nanoseconds since the Unix epoch.
    const NOON: u64 = 1_769_860_800 * SECOND;
    const START: Reading = Reading { steady: 50 * SECOND, wall: NOON };

    #[test]
    fn suspended_time_counts_as_elapsed_and_is_shown() {
        let now = stamp(HOUR, HOUR);
        assert_eq!((now.to_string().as_str(), passed(now)), ("2026-01-31T13:00:00.000000000Z", HOUR));
    }

    #[test]
    fn wall_clock_step_is_shown_but_adds_no_time() {
        let clock = Clock { start: START };
        for (wall, shown) in [(NOON - HOUR, "2026-01-31T11:00:00.000000000Z"), (NOON + HOUR * 2, "2026-01-31T14:00:00.000000000Z")]
        {
            let now = clock.stamp(Reading { steady: START.steady + 2 * SECOND, wall });
            assert_eq!((now.to_string().as_str(), passed(now)), (shown, 2 * SECOND));
        }
    }

    #[test]
    fn delay_between_two_clock_reads_is_not_a_step() {
        let (steady, later) = (2 * SECOND, 2 * SECOND + 900_000);
        assert_eq!(stamp(steady, later).wall_ahead(), 0);
        let hour_ahead = stamp(steady, later + HOUR).wall_ahead();
        assert_eq!(hour_ahead, stamp(steady, steady + HOUR).wall_ahead() + 1_000_000, "it is rounded to milliseconds");
        assert_eq!(stamp(steady, steady + HOUR + 400_000).wall_ahead(), 3_600_000_000_000);
    }

    #[test]
    fn clock_of_this_machine_shows_its_wall_clock() {
        let clock = Clock::start();
        let (now, wall) = (clock.now(), SystemTime::now().duration_since(UNIX_EPOCH).unwrap());
        assert!(Timestamp::default().plus(wall).since(now) < Duration::from_secs(10), "{now}");
        assert!(clock.now() >= now);
    }

    /// The stamp after these times on the clocks of a run that began at noon.
    fn stamp(steady: u64, wall: u64) -> Timestamp {
        Clock { start: START }.stamp(Reading { steady: START.steady + steady, wall: START.wall + wall })
    }

    fn passed(now: Timestamp) -> u64 {
        now.as_nanos() - NOON
    }
}
