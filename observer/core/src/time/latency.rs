//! A distribution of request durations, in a few kilobytes.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::microseconds;

/// A distribution of durations, from 1 µs to 24 h with two significant digits; longer ones count as 24 h.
///
/// Memory is allocated with the first duration, and depends on the longest: 4 KiB up to 16 ms, 16 KiB for 24 h. Each table row has
/// one, and most rows are of quick requests.
#[derive(Debug, Default)]
pub(crate) struct Latency(Option<Histogram<u32>>);

impl Latency {
    const MAX_US: u64 = 24 * 60 * 60 * 1_000_000;
    const DIGITS: u8 = 2;

    pub(crate) fn record(&mut self, duration: Option<Duration>) {
        let Some(duration) = duration else { return };
        if self.0.is_none() {
            // The digits are within the library's limits, so this does not fail; otherwise nothing would be recorded.
            self.0 = Histogram::new(Self::DIGITS).ok();
        }
        let value = microseconds(duration).clamp(1, Self::MAX_US);
        if let Some(histogram) = &mut self.0
            && histogram.record(value).is_err()
        {
            // The histogram could not grow, although it can grow far beyond our limit.
            histogram.saturating_record(value);
        }
    }

    /// Adds all durations of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        let Some(more) = &other.0 else { return };
        match &mut self.0 {
            // Both accept values up to 24 h, so there is room for all.
            Some(histogram) => drop(histogram.add(more)),
            None => self.0 = Some(more.clone()),
        }
    }

    /// The median in microseconds; `None` before the first duration.
    pub(crate) fn median_us(&self) -> Option<u64> {
        let histogram = self.0.as_ref().filter(|histogram| !histogram.is_empty())?;
        Some(histogram.value_at_quantile(0.5))
    }

    /// The smallest value that at least this share (0 to 1) of the durations does not exceed, in microseconds; 0 before the first
    /// duration.
    pub(crate) fn quantile_us(&self, share: f64) -> u64 {
        self.0.as_ref().filter(|histogram| !histogram.is_empty()).map_or(0, |histogram| histogram.value_at_quantile(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_has_two_digits_from_a_microsecond_to_a_day() {
        for (durations, expected) in [
            (&[][..], None),
            (&[Duration::ZERO], Some(1)),
            (&[Duration::from_micros(7)], Some(7)),
            (&[Duration::from_millis(1), Duration::from_millis(10), Duration::from_hours(2)], Some(10_047)),
            (&[Duration::from_hours(1000)], Some(86_436_216_831)),
        ] {
            let mut latency = Latency::default();
            for duration in durations {
                latency.record(Some(*duration));
            }
            assert_eq!(latency.median_us(), expected, "{durations:?}");
        }
    }

    #[test]
    fn merged_latencies_hold_the_durations_of_both() {
        let of = |micros: &[u64]| {
            let mut latency = Latency::default();
            for micros in micros {
                latency.record(Some(Duration::from_micros(*micros)));
            }
            latency
        };
        let mut sum = Latency::default();
        sum.merge(&of(&[]));
        assert_eq!(sum.median_us(), None);
        sum.merge(&of(&[2, 2]));
        sum.merge(&of(&[9, 100_000_000, 9]));
        assert_eq!(sum.median_us(), Some(9));
    }

    #[test]
    fn histogram_memory_is_small_for_fast_requests_and_bounded() {
        let buckets = |duration| {
            let mut latency = Latency::default();
            latency.record(duration);
            latency.0.map_or(0, |histogram| histogram.distinct_values())
        };
        assert_eq!(buckets(None), 0);
        assert_eq!(buckets(Some(Duration::from_millis(16))), 1024);
        assert_eq!(buckets(Some(Duration::MAX)), buckets(Some(Duration::from_hours(24))));
        assert!(buckets(Some(Duration::MAX)) <= 4096);
    }
}
