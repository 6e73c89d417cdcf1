//! Parses the output of Rust's test harness: the `test result:` line at the end of each test binary.

use std::ops::AddAssign;

/// The numbers of passed, failed and ignored tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) ignored: usize,
}

impl Tally {
    /// The counts of a line such as `test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.00s`
    /// (rust-lang/rust, `library/test/src/formatters/pretty.rs`); `None` for any other line.
    pub(crate) fn of_line(line: &str) -> Option<Self> {
        let (_verdict, counts) = line.trim_end().strip_prefix("test result: ")?.split_once(". ")?;
        let count = |word: &str| -> Option<usize> {
            let mut pairs = counts.split("; ").filter_map(|part| part.split_once(' '));
            pairs.find(|(_number, name)| *name == word)?.0.parse().ok()
        };
        Some(Self { passed: count("passed")?, failed: count("failed")?, ignored: count("ignored")? })
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_are_counted() {
        let ok = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s\n";
        assert_eq!(Tally::of_line(ok), Some(Tally { passed: 12, failed: 0, ignored: 1 }));
        let failed = "test result: FAILED. 7 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 61.20s";
        assert_eq!(Tally::of_line(failed), Some(Tally { passed: 7, failed: 2, ignored: 0 }));
    }

    #[test]
    fn other_lines_count_nothing() {
        for line in ["", "running 3 tests", "test result is unknown", "test a::b ... ok", "test result: ok. many passed; 0 failed"]
        {
            assert_eq!(Tally::of_line(line), None, "{line}");
        }
    }

    #[test]
    fn tallies_of_several_binaries_add_up() {
        let mut sum = Tally { passed: 1, failed: 2, ignored: 3 };
        sum += Tally { passed: 10, failed: 20, ignored: 30 };
        assert_eq!(sum, Tally { passed: 11, failed: 22, ignored: 33 });
    }
}
