//! Rule: SECURITY.md names exactly the files that may contain unsafe code.

use super::tokens::tokens;
use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

/// The start of the paragraph that names these files.
const PARAGRAPH: &str = "**Unsafe code**";

/// The line that permits unsafe code in a file, or in the crate whose root it is.
fn permission(file: &SourceFile) -> Option<usize> {
    let tokens = tokens(&file.text);
    let permitted = tokens
        .windows(3)
        .find(|three| matches!(three[0].text, "allow" | "expect") && three[1].text == "(" && three[2].text == "unsafe_code");
    permitted.map(|three| three[0].line)
}

/// The files named in the paragraph.
fn named(claims: &SourceFile) -> Vec<&str> {
    let paragraph = claims.text.split("\n\n").find(|paragraph| paragraph.starts_with(PARAGRAPH)).unwrap_or_default();
    paragraph.split('`').skip(1).step_by(2).filter(|quoted| SourceFile::new(quoted, "").is_rust()).collect()
}

fn differences(files: &[SourceFile], claims: &SourceFile) -> Vec<Violation> {
    let named = named(claims);
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        match (permission(file), named.contains(&file.path.as_str())) {
            (Some(line), false) => violations.push(Violation::at(file, line, "may have unsafe code".to_owned())),
            (None, true) => violations.push(Violation::at(file, 1, "has no unsafe code".to_owned())),
            (Some(_), true) | (None, false) => {}
        }
    }
    violations
}

#[test]
fn files_with_unsafe_code_match_security_md() {
    let tree = Tree::read();
    let claims = tree.file("SECURITY.md");
    assert!(!named(claims).is_empty(), "SECURITY.md has no paragraph that begins with {PARAGRAPH}");
    assert_none(&differences(tree.files(), claims), "do without, or correct the list in SECURITY.md");
}

#[test]
fn unlisted_unsafe_files_are_caught() {
    let unsafe_file = |path| SourceFile::new(path, "//! Asks.\n\n#![expect(unsafe_code, reason = \"r\")]\n");
    let files = [unsafe_file("a/one.rs"), unsafe_file("a/two.rs"), SourceFile::new("a/three.rs", "#![forbid(unsafe_code)]")];
    let claims =
        SourceFile::new("SECURITY.md", "None elsewhere.\n\n**Unsafe code** is in `a/one.rs` and\n`a/three.rs`.\n\nAnd `a/two.rs`.");
    assert_found(&differences(&files, &claims), &["3: may have unsafe code", "1: has no unsafe code"]);
}
