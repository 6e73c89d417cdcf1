//! Rule: the tests that a document names exist.
//!
//! A test is named in code font as cargo names it, with its target before it: `it::proxy::ends::reset_of_upstream_is_forwarded`. A
//! `*` in place of the name means all tests of that module.

use super::tokens::{Token, tokens};
use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

const TARGETS: [&str; 2] = ["it::", "cluster::"];

fn unknown_tests(document: &SourceFile, files: &[SourceFile]) -> Vec<Violation> {
    let unknown = citations(&document.text).filter(|(_, test)| !exists(test, files));
    unknown.map(|(line, test)| Violation::at(document, line, format!("no test {test}"))).collect()
}

/// The cited tests, each with its line, counted from 1.
fn citations(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).flat_map(|(number, line)| {
        let spans = line.split('`').skip(1).step_by(2);
        spans.filter(|span| TARGETS.iter().any(|target| span.starts_with(target))).map(move |span| (number, span))
    })
}

fn exists(test: &str, files: &[SourceFile]) -> bool {
    let Some((module, name)) = test.rsplit_once("::") else { return false };
    let below = format!("tests/{}", module.replace("::", "/"));
    let places = [format!("{below}.rs"), format!("{below}/mod.rs")];
    let mut tests = files.iter().filter(|file| places.contains(&file.path)).flat_map(|file| tests_of(&tokens(&file.text)));
    tests.any(|found| name == "*" || name == found)
}

/// The names of functions with an attribute that ends in `test`, as in `#[test]` and `#[tokio::test(flavor = "…")]`.
fn tests_of<'a>(tokens: &[Token<'a>]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut is_test = false;
    let mut depth = 0_usize;
    for window in tokens.windows(3) {
        let [before, token, after] = window else { continue };
        match token.text {
            "[" if before.text == "#" || depth > 0 => depth += 1,
            "]" if depth > 0 => depth -= 1,
            "test" if depth == 1 && matches!(after.text, "]" | "(") => is_test = true,
            "fn" if depth == 0 => {
                if is_test {
                    found.push(after.text);
                }
                is_test = false;
            }
            _ => {}
        }
    }
    found
}

#[test]
fn tests_cited_in_documents_exist() {
    let tree = Tree::read();
    let documents: Vec<&SourceFile> = tree.files().iter().filter(|file| file.is_markdown()).collect();
    assert!(documents.iter().any(|document| citations(&document.text).next().is_some()), "no document names a test any more");
    let violations: Vec<_> = documents.into_iter().flat_map(|document| unknown_tests(document, tree.files())).collect();
    assert_none(&violations, "name the test that shows it now; if none does, the document promises what nobody checks");
}

#[test]
fn cited_names_without_a_test_are_caught() {
    let files = [
        SourceFile::new(
            "tests/it/proxy/ends.rs",
            "#[test]\nfn a() {}\nfn helper() {}\n#[tokio::test(flavor = \"x\")]\nasync fn b() {}",
        ),
        SourceFile::new("tests/it/demo/mod.rs", "fn a() {}"),
    ];
    let text = "`it::proxy::ends::a` and `it::proxy::ends::b`\n`it::proxy::ends::helper` `it::proxy::ends::*`\n`it::demo::*`, `it::gone::a`, it::b";
    assert_found(
        &unknown_tests(&SourceFile::new("docs/a.md", text), &files),
        &["2: no test it::proxy::ends::helper", "3: no test it::demo::*", "3: no test it::gone::a"],
    );
}
