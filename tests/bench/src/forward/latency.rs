//! Latencies of single operations.

use std::time::Duration;

/// Latencies of one sample, at most [`Latencies::MOST`] of them.
#[derive(Debug, Default)]
pub(super) struct Latencies(Vec<Duration>);

impl Latencies {
    /// Later ones are dropped; no sample has so many.
    const MOST: usize = 1 << 20;

    pub(super) fn push(&mut self, latency: Duration) {
        if self.0.len() < Self::MOST {
            self.0.push(latency);
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        other.0.into_iter().for_each(|latency| self.push(latency));
    }

    /// The 99th percentile; `None` if there are fewer than 100.
    pub(super) fn p99(&mut self) -> Option<Duration> {
        let at = self.0.len() / 100 * 99;
        (at > 0).then(|| *self.0.select_nth_unstable(at).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p99_exceeds_99_percent_of_the_latencies() {
        let mut latencies = Latencies::default();
        (0..1_000).rev().for_each(|milliseconds| latencies.push(Duration::from_millis(milliseconds)));
        assert_eq!(latencies.p99(), Some(Duration::from_millis(990)));
    }

    #[test]
    fn single_operation_has_no_p99() {
        let mut latencies = Latencies::default();
        latencies.push(Duration::from_secs(1));
        assert_eq!(latencies.p99(), None);
    }
}
