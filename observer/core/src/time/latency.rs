//! How long requests took, many of them in a few kilobytes.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::microseconds;

/// A distribution of durations, from 1 µs to 24 h with two significant digits; what is longer counts as 24 h.
///
/// It takes memory from the first duration on, and as much as the longest needs: 4 KiB up to 16 ms, 16 KiB for 24 h. There is one in each row
/// of the tables, and most rows are of quick requests.
#[derive(Debug, Default)]
pub(crate) struct Latency(Option<Histogram<u32>>);

impl Latency {
    const MAX_US: u64 = 24 * 60 * 60 * 1_000_000;
    const DIGITS: u8 = 2;

    pub(crate) fn record(&mut self, duration: Option<Duration>) {
        let Some(duration) = duration else { return };
        if self.0.is_none() {
            // The digits are within the library's limits; without a histogram the median would read 0.
            self.0 = Histogram::new(Self::DIGITS).ok();
        }
        let value = microseconds(duration).clamp(1, Self::MAX_US);
        if let Some(histogram) = &mut self.0
            && histogram.record(value).is_err()
        {
            // It could not grow, which it can up to far more than our limit.
            histogram.saturating_record(value);
        }
    }

    /// The median in microseconds; 0 while there is none.
    pub(crate) fn median_us(&self) -> u64 {
        self.quantile_us(0.5)
    }

    /// What so large a share is not above, in microseconds; 0 while there is none.
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
            (&[][..], 0),
            (&[Duration::ZERO], 1),
            (&[Duration::from_micros(7)], 7),
            (&[Duration::from_millis(1), Duration::from_millis(10), Duration::from_hours(2)], 10_047),
            (&[Duration::from_hours(1000)], 86_436_216_831),
        ] {
            let mut latency = Latency::default();
            for duration in durations {
                latency.record(Some(*duration));
            }
            assert_eq!(latency.median_us(), expected, "{durations:?}");
        }
    }

    #[test]
    fn quick_requests_take_little_memory_and_slow_ones_a_bounded_one() {
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
