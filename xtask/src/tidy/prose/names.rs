//! Rule: no item has a name with a word that docs/glossary.md retires. This includes tests, whose names are sentences.

use super::exceptions::{FILES, NAMES};
use super::retired::{retired, stands_in};
use super::rule::words_of;
use crate::tidy::tokens::tokens;
use crate::tidy::tree::{SourceFile, Tree};
use crate::tidy::violation::{Violation, assert_found, assert_none};

/// Keywords that precede the name of an item.
const KEYWORDS: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "mod", "const", "static"];

fn violations(file: &SourceFile, retired: &[String]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (name, line) in names(file).into_iter().filter(|(name, _)| !NAMES.iter().any(|(excepted, _reason)| excepted == name)) {
        let words = words_of(name).collect::<Vec<_>>().join(" ");
        let found = retired.iter().filter(|word| stands_in(&words, word));
        violations.extend(found.map(|word| Violation::at(file, line, format!("`{word}` is retired: {name}"))));
    }
    violations
}

/// The names of all items, with their lines.
fn names(file: &SourceFile) -> Vec<(&str, usize)> {
    let tokens = tokens(&file.text);
    let named = tokens.windows(2).filter_map(|two| match two {
        [keyword, name] if KEYWORDS.contains(&keyword.text) => Some((name.text, name.line)),
        _ => None,
    });
    named.collect()
}

#[test]
fn names_are_in_the_terms_of_the_glossary() {
    let tree = Tree::read();
    let retired = retired(&tree.file("docs/glossary.md").text);
    let is_excepted = |file: &&SourceFile| FILES.iter().any(|(path, _reason)| file.path.starts_with(path));
    let files = tree.files().iter().filter(|file| file.is_rust()).filter(|file| !is_excepted(file));
    let violations: Vec<Violation> = files.flat_map(|file| violations(file, &retired)).collect();
    assert_none(
        &violations,
        "rename it in the terms of docs/glossary.md; a name that is right stands in xtask/src/tidy/prose/exceptions.rs",
    );
}

#[test]
fn excepted_names_exist() {
    let tree = Tree::read();
    for (excepted, reason) in NAMES {
        let mut names = tree.files().iter().filter(|file| file.is_rust()).flat_map(names);
        assert!(names.any(|(name, _)| name == excepted), "{excepted} is gone: {reason}");
    }
}

#[test]
fn retired_words_in_names_are_caught() {
    let text = "    pub(crate) fn it_is_told() {}\nstruct GoOn;\nconst UNTOLD: u8 = 1;\n// fn told\nlet told = 1;\n";
    assert_found(
        &violations(&SourceFile::new("a.rs", text), &["told".to_owned(), "go on".to_owned()]),
        &["1: `told` is retired: it_is_told", "2: `go on` is retired: GoOn"],
    );
}
