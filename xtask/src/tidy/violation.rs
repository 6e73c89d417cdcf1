//! A violation of a rule, and the assertions on lists of violations.

use std::fmt;

use super::tree::SourceFile;

/// A violation in the file `path`. `what` describes it. `line` is `None` if it does not belong to a single line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    path: String,
    line: Option<usize>,
    what: String,
}

impl Violation {
    pub(crate) fn at(file: &SourceFile, line: usize, what: impl Into<String>) -> Self {
        Self { path: file.path.clone(), line: Some(line), what: what.into() }
    }

    pub(crate) fn of(file: &SourceFile, what: impl Into<String>) -> Self {
        Self { path: file.path.clone(), line: None, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.what),
            None => write!(f, "{}: {}", self.path, self.what),
        }
    }
}

/// Asserts that there are no violations. The panic message contains all of them, and the `remedy`.
#[track_caller]
pub(crate) fn assert_none(violations: &[Violation], remedy: &str) {
    let list: Vec<String> = violations.iter().map(Violation::to_string).collect();
    assert!(list.is_empty(), "\n\n{}\n\n{remedy}\n", list.join("\n"));
}

/// Asserts that exactly these violations are found, in the form `line: what`, or `what` without a line.
#[track_caller]
pub(crate) fn assert_found(violations: &[Violation], expected: &[&str]) {
    let found: Vec<String> = violations
        .iter()
        .map(|violation| violation.line.map_or_else(|| violation.what.clone(), |line| format!("{line}: {}", violation.what)))
        .collect();
    assert_eq!(found, expected);
}
