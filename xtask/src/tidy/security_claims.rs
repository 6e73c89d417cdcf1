//! Rule: the files and tests that SECURITY.md cites as evidence exist.

use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

/// Violations: missing files and tests. Citations are in backticks: `path`, `path · test`, or `· test` for a test in the previous
/// path.
fn missing(claims: &SourceFile, tree: &[SourceFile]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut latest: Option<&SourceFile> = None;
    for (number, line) in (1..).zip(claims.text.lines()) {
        for quoted in line.split('`').skip(1).step_by(2) {
            let (path, test) = quoted.split_once('·').map_or((quoted, None), |(path, test)| (path.trim(), Some(test.trim())));
            if path.contains('/') && SourceFile::new(path, "").is_rust() {
                latest = tree.iter().find(|file| file.path == path);
                if latest.is_none() {
                    violations.push(Violation::at(claims, number, format!("{path} is not there")));
                }
            }
            let is_there = |test: &str| latest.is_some_and(|file| file.text.contains(&format!("fn {test}(")));
            if let Some(test) = test.filter(|test| !is_there(test)) {
                violations.push(Violation::at(claims, number, format!("there is no test {test}")));
            }
        }
    }
    violations
}

#[test]
fn proofs_of_security_claims_exist() {
    let tree = Tree::read();
    let claims = tree.file("SECURITY.md");
    assert!(claims.text.contains(" · "), "SECURITY.md names no test");
    assert_none(&missing(claims, tree.files()), "name the test that shows the claim now, or take the claim back");
}

#[test]
fn missing_proofs_are_caught() {
    let tree = [SourceFile::new("tests/it/a.rs", "fn holds() {}")];
    let claims = "Sound (`tests/it/a.rs · holds`,\n`· is_gone`), and `tests/it/b.rs`.";
    let claims = SourceFile::new("SECURITY.md", claims);
    assert_found(&missing(&claims, &tree), &["2: there is no test is_gone", "2: tests/it/b.rs is not there"]);
}
