//! Rule: docs/semantics.md has each section that comments cite, and defines each identifier of a rule, a proof and a relist cause.
//!
//! If the name of another document is before the section sign on the same line, the section belongs to that document.

use std::collections::BTreeSet;

use super::tree::{SourceFile, Tree};
use super::violation::{Violation, assert_found, assert_none};

const BOOK: &str = "docs/semantics.md";
const OTHER_DOCUMENTS: [&str; 3] = ["RFC ", "YAML ", "OIDC "];

/// The numbers of the headings.
fn sections(book: &str) -> BTreeSet<&str> {
    let headings = book.lines().filter(|line| line.starts_with('#')).filter_map(|line| line.split_whitespace().nth(1));
    headings.filter(|number| number.starts_with(|first: char| first.is_ascii_digit())).collect()
}

fn missing_sections(file: &SourceFile, book: &str) -> Vec<Violation> {
    let sections = sections(book);
    let cited = (1..).zip(file.text.lines()).flat_map(|(line, text)| citations(text).map(move |number| (line, number)));
    let missing = cited.filter(|(_, number)| !sections.contains(number));
    missing.map(|(line, number)| Violation::at(file, line, format!("{BOOK} has no section {number}"))).collect()
}

/// The numbers after the section signs of a line.
fn citations(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices('§').filter_map(|(at, sign)| {
        let (before, after) = line.split_at(at);
        let number = after.strip_prefix(sign)?;
        let end = number.find(|part: char| !(part.is_ascii_digit() || part == '.')).unwrap_or(number.len());
        let number = number.get(..end)?.trim_end_matches('.');
        let is_ours = !OTHER_DOCUMENTS.iter().any(|name| before.contains(name));
        (is_ours && !number.is_empty()).then_some(number)
    })
}

/// The identifiers of rules and proofs. In the code, each is followed by the sections that define it.
fn identifiers(file: &SourceFile) -> Vec<(usize, &str)> {
    let before_sections = |text| -> Option<&str> {
        let (before, _) = str::split_once(text, "\", \"§")?;
        before.rsplit_once('"').map(|(_, identifier)| identifier)
    };
    (1..).zip(file.text.lines()).filter_map(|(line, text)| Some((line, before_sections(text)?))).collect()
}

/// The identifiers of relist causes. If an identifier has two parts, each part is in the list.
fn causes(file: &SourceFile) -> Vec<(usize, &str)> {
    let is_part = |part: char| part.is_ascii_lowercase() || part.is_ascii_digit() || part == '-';
    let is_identifier = |text: &&str| text.contains('-') && text.chars().all(is_part);
    (1..)
        .zip(file.text.lines())
        .filter(|(_, text)| text.contains("=>"))
        .flat_map(|(line, text)| {
            text.split('"').skip(1).step_by(2).filter(is_identifier).map(move |found| (line, found)).collect::<Vec<_>>()
        })
        .collect()
}

fn undefined<'a>(file: &SourceFile, identifiers: impl IntoIterator<Item = (usize, &'a str)>, book: &str) -> Vec<Violation> {
    let defines = |identifier: &str| ["`", "/"].iter().any(|before| book.contains(&format!("{before}{identifier}`")));
    let missing = identifiers.into_iter().filter(|(_, identifier)| !defines(identifier));
    missing.map(|(line, identifier)| Violation::at(file, line, format!("{BOOK} does not define `{identifier}`"))).collect()
}

#[test]
fn sections_that_are_cited_exist() {
    let tree = Tree::read();
    let book = &tree.file(BOOK).text;
    let violations: Vec<Violation> = tree
        .rust_files()
        .into_iter()
        .filter(|file| !file.path.starts_with("xtask/"))
        .flat_map(|file| missing_sections(file, book))
        .collect();
    assert_none(&violations, "cite a section of docs/semantics.md, or name the other document on the same line");
}

#[test]
fn rules_proofs_and_causes_are_defined() {
    let tree = Tree::read();
    let book = &tree.file(BOOK).text;
    let rules: Vec<(&SourceFile, Vec<(usize, &str)>)> =
        tree.rust_files_below("observer/core/src/routing/").into_iter().map(|file| (file, identifiers(file))).collect();
    let number: usize = rules.iter().map(|(_, found)| found.len()).sum();
    assert!(number > 90, "{number} rules and proofs are found: has their form changed?");
    let cause = tree.file("observer/core/src/reflector/cause.rs");
    assert!(causes(cause).len() > 15, "{:?}", causes(cause));
    let violations: Vec<Violation> = rules
        .into_iter()
        .flat_map(|(file, found)| undefined(file, found, book))
        .chain(undefined(cause, causes(cause), book))
        .collect();
    assert_none(&violations, "add the rule to docs/semantics.md: versions, upstream source, and a row of the index");
}

#[test]
fn missing_sections_and_identifiers_are_caught() {
    let book = "## 1 Lists\n\n### 1.3 Tables\n\n| `list-a` | `expired/by-b` |\n";
    let text = "// §1.3, §1.4 and RFC 9113 §5.1\nA = \"list-a\", \"§1.3\", B;\nC = \"list-c\", \"§1\", B;\n=> \"by-b\"\n";
    let file = SourceFile::new("a.rs", text);
    assert_found(&missing_sections(&file, book), &["1: docs/semantics.md has no section 1.4"]);
    assert_found(&undefined(&file, identifiers(&file), book), &["3: docs/semantics.md does not define `list-c`"]);
    assert_found(&undefined(&file, [(4, "by-b")], book), &[]);
}
