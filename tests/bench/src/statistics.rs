//! The summary of several measurements of one quantity: median and quartiles.
//!
//! No machine is completely idle. A few disturbed rounds do not change the median, and the quartiles show how much the rounds
//! differ. Two quantities are compared round by round, because a disturbance affects both.

use std::fmt;

use serde::Serialize;

/// Measurements of one quantity, in any unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    /// The lower quartile.
    pub(crate) low: f64,
    /// The upper quartile.
    pub(crate) high: f64,
}

impl Summary {
    /// The summary of `samples`, in any order; `None` if there are none.
    pub(crate) fn of(samples: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut samples: Vec<f64> = samples.into_iter().collect();
        samples.sort_by(f64::total_cmp);
        Some(Self { median: quantile(&samples, 1, 2)?, low: quantile(&samples, 1, 4)?, high: quantile(&samples, 3, 4)? })
    }

    /// The summary of each round's `of` divided by its `to`. Rounds with a missing value or a zero divisor do not count.
    pub(crate) fn of_ratios(of: impl IntoIterator<Item = f64>, to: impl IntoIterator<Item = f64>) -> Option<Self> {
        let rounds = of.into_iter().zip(to).filter(|(_, to)| *to > 0.0);
        Self::of(rounds.map(|(of, to)| of / to))
    }

    /// The same in another unit.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self { median: self.median * factor, low: self.low * factor, high: self.high * factor }
    }
}

/// Formats as `1.23 (1.20–1.31)`, with the requested number of decimals.
impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = formatter.precision().unwrap_or(2);
        write!(formatter, "{:.decimals$} ({:.decimals$}–{:.decimals$})", self.median, self.low, self.high)
    }
}

/// The value below which `numerator / denominator` of the ascending `samples` lie, with linear interpolation (R's type 7).
fn quantile(samples: &[f64], numerator: usize, denominator: usize) -> Option<f64> {
    let steps = samples.len().checked_sub(1)? * numerator;
    let (below, rest) = (steps / denominator, steps % denominator);
    let low = *samples.get(below)?;
    let high = samples.get(below + 1).copied().unwrap_or(low);
    Some(low + (high - low) * fraction(rest, denominator))
}

#[expect(clippy::cast_precision_loss, reason = "both are below five")]
fn fraction(rest: usize, denominator: usize) -> f64 {
    rest as f64 / denominator as f64
}

#[cfg(test)]
mod tests {
    use super::Summary;

    #[test]
    fn median_of_an_odd_count_is_the_middle_sample() {
        assert_eq!(Summary::of([5.0, 1.0, 2.0, 9.0, 4.0]), Some(Summary { median: 4.0, low: 2.0, high: 5.0 }));
    }

    #[test]
    fn median_of_an_even_count_averages_the_middle_two() {
        assert_eq!(Summary::of([4.0, 1.0, 3.0, 2.0]), Some(Summary { median: 2.5, low: 1.75, high: 3.25 }));
    }

    #[test]
    fn single_sample_has_no_spread_and_zero_have_no_summary() {
        assert_eq!(Summary::of([7.0]), Some(Summary { median: 7.0, low: 7.0, high: 7.0 }));
        assert_eq!(Summary::of([]), None);
    }

    #[test]
    fn one_disturbed_round_does_not_move_the_median() {
        let quiet = Summary::of([10.0, 10.0, 10.0, 10.0, 10.0]).unwrap();
        let disturbed = Summary::of([10.0, 10.0, 900.0, 10.0, 10.0]).unwrap();
        assert_eq!(quiet, disturbed);
    }

    #[test]
    fn ratios_compare_the_two_sides_of_each_round() {
        // In the second round, both took three times as long.
        let ratios = Summary::of_ratios([2.0, 6.0, 2.0], [1.0, 3.0, 1.0]).unwrap();
        assert_eq!(ratios, Summary { median: 2.0, low: 2.0, high: 2.0 });
    }

    #[test]
    fn rounds_with_a_zero_or_missing_divisor_are_skipped() {
        assert_eq!(Summary::of_ratios([2.0, 6.0], [0.0, 3.0]), Summary::of([2.0]));
        assert_eq!(Summary::of_ratios([2.0], []), None);
    }

    #[test]
    fn summary_is_printed_with_its_quartiles() {
        let summary = Summary::of([1.0, 2.0, 3.0]).unwrap();
        assert_eq!(format!("{summary:.1}"), "2.0 (1.5–2.5)");
        assert_eq!(format!("{:.0}", summary.scaled(1000.0)), "2000 (1500–2500)");
    }
}
