//! Rule: no item has a name with a word that docs/glossary.md retires. Names of tests are read as sentences.

use super::exceptions::{FILES, NAMES};
use super::retired::{retired, stands_in};
use crate::tidy::tree::{SourceFile, Tree};
use crate::tidy::violation::{Violation, assert_found, assert_none};

/// Keywords that an item's name follows.
const KEYWORDS: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "mod", "const", "static"];

fn violations(file: &SourceFile, retired: &[String]) -> Vec<Violation> {
    let lines = file.text.lines().zip(1..);
    let named = lines.filter_map(|(line, number)| name(line).map(|name| (name, number)));
    let wrong = named.filter(|(name, _)| !NAMES.iter().any(|(excepted, _reason)| excepted == name));
    wrong
        .flat_map(|(name, number)| {
            let words = words(name);
            let found = retired.iter().filter(move |word| stands_in(&words, word));
            found.map(move |word| Violation::at(file, number, format!("`{word}` is retired: {name}"))).collect::<Vec<_>>()
        })
        .collect()
}

/// The name of the item that begins in this line.
fn name(line: &str) -> Option<&str> {
    let code = line.trim_start();
    if code.starts_with("//") {
        return None;
    }
    let mut words = code.split_whitespace().skip_while(|word| !KEYWORDS.contains(word)).skip_while(|word| KEYWORDS.contains(word));
    let name = words.next()?;
    let end = name.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(name.len());
    name.get(..end).filter(|name| !name.is_empty())
}

/// `LastSeen` and `last_seen` as `last seen`.
fn words(name: &str) -> String {
    let mut words = String::new();
    let mut was_lower = false;
    for character in name.chars() {
        if character == '_' || (character.is_uppercase() && was_lower) {
            words.push(' ');
        }
        words.extend(character.to_lowercase().filter(|character| *character != '_'));
        was_lower = character.is_lowercase();
    }
    words
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
        let mut lines = tree.files().iter().filter(|file| file.is_rust()).flat_map(|file| file.text.lines());
        assert!(lines.any(|line| name(line) == Some(excepted)), "{excepted} is gone: {reason}");
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
