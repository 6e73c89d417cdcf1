//! Rules: the first line of a file states its purpose, a file has one concept, and a `mod.rs` has none.

use super::tokens::tokens;
use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

/// Maximum number of lines per file, including tests.
const MOST_LINES: usize = 500;

/// The test prints the names of files with at least this number of lines.
const MANY_LINES: usize = 400;

fn misshapen(file: &SourceFile) -> Vec<Violation> {
    let mut found = Vec::new();
    if !file.text.starts_with("//!") {
        found.push(Violation::at(file, 1, "does not begin with `//!` and a sentence on what the file is"));
    }
    let lines = file.text.lines().count();
    if lines > MOST_LINES {
        found.push(Violation::of(file, format!("{lines} lines")));
    }
    let function = tokens(&file.text).into_iter().find(|token| token.text == "fn");
    if let Some(function) = function.filter(|_| file.path.ends_with("/mod.rs")) {
        found.push(Violation::at(file, function.line, "a function in a `mod.rs`"));
    }
    found
}

#[test]
fn files_have_a_header_and_one_concept() {
    let tree = Tree::read();
    let files = tree.rust_files_below("");
    for file in &files {
        let lines = file.text.lines().count();
        if (MANY_LINES + 1..=MOST_LINES).contains(&lines) {
            println!("{}: {lines} lines, soon too long: tests can move to tests.rs", file.path);
        }
    }
    let violations: Vec<_> = files.into_iter().flat_map(misshapen).collect();
    assert_none(
        &violations,
        "a file of more than 500 lines moves its tests to tests.rs or is two concepts; `mod.rs` is a table of contents: docs, `mod` lines, \
         re-exports",
    );
}

#[test]
fn file_without_header_is_caught() {
    assert_found(
        &misshapen(&SourceFile::new("a/src/b.rs", "// Not a header.\n")),
        &["1: does not begin with `//!` and a sentence on what the file is"],
    );
}

#[test]
fn long_file_is_caught() {
    let text = |lines: usize| format!("//! Long.\n{}", "\n".repeat(lines - 1));
    assert_found(&misshapen(&SourceFile::new("a/src/b.rs", &text(500))), &[]);
    assert_found(&misshapen(&SourceFile::new("a/src/b.rs", &text(501))), &["501 lines"]);
}

#[test]
fn logic_in_a_table_of_contents_is_caught() {
    let text = "//! Contents; `fn` in words is fine.\nmod b;\n\nfn logic() {}\n";
    assert_found(&misshapen(&SourceFile::new("a/src/b/mod.rs", text)), &["4: a function in a `mod.rs`"]);
    assert_found(&misshapen(&SourceFile::new("a/src/b.rs", text)), &[]);
}
