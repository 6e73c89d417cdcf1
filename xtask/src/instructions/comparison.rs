//! Compares the counts of two commits, and decides whether the increases are acceptable.

use std::fmt;

use super::acceptance::{Acceptance, TRAILER};

/// Maximum increase without acceptance, in percent. Repeated counts are equal, so this margin is for small changes and not for
/// noise.
const MOST: f64 = 3.0;

/// The counts of one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) region: &'static str,
    pub(crate) base: u64,
    pub(crate) head: u64,
}

/// The counts of all regions, and the increases that commit messages accept. `Display` writes a table and the failures.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) counted: Vec<Counted>,
    pub(crate) accepted: Vec<Acceptance>,
}

#[derive(Debug, PartialEq)]
enum Verdict<'a> {
    Fine,
    Accepted(&'a Acceptance),
    TooMany,
}

impl Counted {
    /// The increase in percent; negative for a decrease.
    fn percent(&self) -> f64 {
        // The order of these operations makes integer percentages exact.
        (float(self.head) - float(self.base)) * 100.0 / float(self.base)
    }
}

impl Comparison {
    pub(crate) fn is_success(&self) -> bool {
        self.counted.iter().all(|counted| self.verdict(counted) != Verdict::TooMany)
    }

    /// Decides about one region. If several commits accept an increase of it, the largest number counts.
    fn verdict(&self, counted: &Counted) -> Verdict<'_> {
        if counted.percent() <= MOST {
            return Verdict::Fine;
        }
        let of_region = self.accepted.iter().filter(|accepted| accepted.region == counted.region);
        let largest = of_region.max_by(|one, other| one.percent.total_cmp(&other.percent));
        largest.filter(|accepted| counted.percent() <= accepted.percent).map_or(Verdict::TooMany, Verdict::Accepted)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<8}  {:>14}  {:>14}  {:>9}", "REGION", "BASE", "HEAD", "CHANGE")?;
        for counted in &self.counted {
            let Counted { region, base, head } = counted;
            writeln!(f, "{region:<8}  {base:>14}  {head:>14}  {:>+7.2} %", counted.percent())?;
        }
        for counted in &self.counted {
            let (region, percent) = (counted.region, counted.percent());
            match self.verdict(counted) {
                Verdict::Fine => {}
                Verdict::Accepted(accepted) => writeln!(f, "{region}: accepted: {}", accepted.reason)?,
                Verdict::TooMany => writeln!(
                    f,
                    "failure: {region} executes {percent:.2} % more instructions, and at most {MOST} % pass; save them, or accept them in \
                     the commit message with its reason: `{TRAILER}: {region} +{:.0} %: reason`",
                    percent.ceil()
                )?,
            }
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
const fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_of_at_most_three_percent_passes() {
        assert!(comparison(103_000, &[]).is_success());
        assert!(!comparison(103_001, &[]).is_success());
        assert!(comparison(50_000, &[]).is_success());
    }

    #[test]
    fn trailer_accepts_its_region_up_to_its_number() {
        assert!(comparison(105_000, &["decode +5 %: reason"]).is_success());
        assert!(!comparison(105_001, &["decode +5 %: reason"]).is_success());
        assert!(!comparison(105_000, &["forward +5 %: reason"]).is_success());
        assert!(comparison(106_000, &["decode +4 %: one", "decode +6 %: another"]).is_success());
    }

    #[test]
    fn table_is_followed_by_failures_and_acceptance_instructions() {
        let expected = "\
REGION              BASE            HEAD     CHANGE
decode            100000          104500    +4.50 %
failure: decode executes 4.50 % more instructions, and at most 3 % pass; save them, or accept them in the commit message with its \
reason: `Instructions-accepted: decode +5 %: reason`
";
        assert_eq!(comparison(104_500, &[]).to_string(), expected);
    }

    #[test]
    fn reason_of_an_acceptance_is_printed() {
        let text = comparison(104_500, &["decode +5 %: names are longer"]).to_string();
        assert_eq!(text.lines().last(), Some("decode: accepted: names are longer"));
    }

    fn comparison(head: u64, trailers: &[&str]) -> Comparison {
        let accepted = trailers.iter().map(|text| text.parse().unwrap()).collect();
        Comparison { counted: vec![Counted { region: "decode", base: 100_000, head }], accepted }
    }
}
