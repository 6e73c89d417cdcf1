//! Durations, counted in fixed buckets.

use std::time::Duration;

use crate::time::microseconds;

/// The largest number of buckets, with the one that has no bound.
pub(super) const MOST_BUCKETS: usize = 12;

/// Durations, counted by bucket, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    buckets: [u64; MOST_BUCKETS],
    sum_us: u64,
}

impl Histogram {
    /// Adds a duration. `bounds` are those of its family.
    pub(super) fn add(&mut self, bounds: &[u64], duration: Duration) {
        let duration = microseconds(duration);
        let bucket = bounds.iter().take(MOST_BUCKETS - 1).take_while(|bound| **bound < duration).count();
        if let Some(count) = self.buckets.get_mut(bucket) {
            *count = count.saturating_add(1);
        }
        self.sum_us = self.sum_us.saturating_add(duration);
    }

    /// The number of durations in each bucket, without those in lower ones. A family with fewer buckets has zeros at the end.
    pub const fn buckets(&self) -> &[u64] {
        &self.buckets
    }

    /// The number of all durations.
    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The sum of all durations, in microseconds.
    pub const fn sum_us(&self) -> u64 {
        self.sum_us
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_of_a_bucket_is_in_it() {
        let mut histogram = Histogram::default();
        for micros in [0, 5, 6, 10, 11, 1_000_000] {
            histogram.add(&[5, 10], Duration::from_micros(micros));
        }
        assert_eq!(histogram.buckets().get(..3), Some(&[2, 2, 2][..]));
        assert_eq!((histogram.count(), histogram.sum_us()), (6, 1_000_032));
    }

    #[test]
    fn longest_duration_saturates_the_sum() {
        let mut histogram = Histogram::default();
        histogram.add(&[5], Duration::MAX);
        histogram.add(&[5], Duration::MAX);
        assert_eq!((histogram.count(), histogram.sum_us()), (2, u64::MAX));
    }
}
