//! Parses the output of Rust's test harness: the `test result:` line at the end of each test binary, and the output of failed tests
//! before it (rust-lang/rust, `library/test/src/formatters/pretty.rs`).

use std::fmt;
use std::ops::AddAssign;

/// Maximum number of lines of a failed test's message that are repeated.
const MOST_LINES: usize = 8;
/// Maximum number of characters of such a line.
const LONGEST_LINE: usize = 300;

/// The numbers of passed, failed and ignored tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) ignored: usize,
}

impl Tally {
    /// The counts of a line such as `test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.00s`;
    /// `None` for any other line.
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

/// A failed test, with the message of its first panic or its error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    test: String,
    message: Vec<String>,
}

impl fmt::Display for Failure {
    /// The name and the message, in one line: logs are read by lines, and shortened by them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.test, self.message.join(" | "))
    }
}

/// Collects the failed tests of an output.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    found: Vec<Failure>,
    place: Place,
}

/// Where the next line is.
#[derive(Debug, Default, PartialEq, Eq)]
enum Place {
    /// Not in the output of a failed test, or behind its message.
    #[default]
    Elsewhere,
    /// Before the message.
    Before,
    /// The next line belongs to the message, unless it ends it.
    Message,
}

impl Failures {
    /// Takes the next line of the output.
    pub(crate) fn take(&mut self, line: &str) {
        let line = line.trim_end();
        if let Some(test) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            self.found.push(Failure { test: test.to_owned(), message: Vec::new() });
            self.place = Place::Before;
            return;
        }
        let Some(failure) = self.found.last_mut() else { return };
        let is_begin = line.starts_with("Error: ") || (line.starts_with("thread '") && line.contains("panicked at "));
        let is_end = line == "stack backtrace:" || line.starts_with("note: run with `RUST_BACKTRACE") || line == "failures:";
        match self.place {
            Place::Before if is_begin => self.place = Place::Message,
            Place::Message if is_end || failure.message.len() == MOST_LINES => self.place = Place::Elsewhere,
            Place::Elsewhere | Place::Before | Place::Message => {}
        }
        if self.place == Place::Message && !line.is_empty() {
            failure.message.push(line.chars().take(LONGEST_LINE).collect());
        }
    }

    /// The failed tests so far.
    pub(crate) fn into_found(self) -> Vec<Failure> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_tests_are_found_with_the_begin_of_their_messages() {
        let output = "running 3 tests
test a ... FAILED

failures:

---- a::b stdout ----
seed 7

thread 'a::b' (12) panicked at tests/a.rs:3:5:
left is not right

stack backtrace:
   0: core::panicking::panic_fmt

---- c stdout ----
Error: no such file

---- d stdout ----
thread 'd' (13) panicked at tests/d.rs:1:1:
1
2
3
4
5
6
7
8
9

failures:
    a::b
    c
    d

test result: FAILED. 0 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        let mut failures = Failures::default();
        output.lines().for_each(|line| failures.take(line));
        let found: Vec<String> = failures.into_found().iter().map(Failure::to_string).collect();
        let expected = [
            "a::b: thread 'a::b' (12) panicked at tests/a.rs:3:5: | left is not right",
            "c: Error: no such file",
            "d: thread 'd' (13) panicked at tests/d.rs:1:1: | 1 | 2 | 3 | 4 | 5 | 6 | 7",
        ];
        assert_eq!(found, expected);
    }

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
