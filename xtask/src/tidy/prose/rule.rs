//! Finds the violations in a passage: long sentences, clauses as subjects, retired words, and docstrings that repeat a name.

use std::collections::BTreeSet;

use super::exceptions::{FILES, PASSAGES};
use super::passages::{Kind, Passage, passages};
use super::retired::{retired, stands_in};
use super::sentences::sentences;
use crate::tidy::tree::{SourceFile, Tree};
use crate::tidy::violation::{Violation, assert_found, assert_none};

/// Maximum number of words in a sentence.
const LONGEST: usize = 25;

/// First words of sentences with a clause as the subject, unless the sentence is a question.
const CLAUSES: [&str; 7] = ["What", "Who", "Whoever", "Whom", "Whose", "Whatever", "Of"];

/// Words in a docstring that add no meaning to a name.
const FILLERS: [&str; 21] = [
    "a", "an", "the", "of", "its", "it", "this", "that", "which", "is", "are", "in", "for", "to", "all", "one", "by", "with", "on",
    "and", "from",
];

fn violations(file: &SourceFile, retired: &[String]) -> Vec<Violation> {
    let is_excepted =
        |passage: &Passage| PASSAGES.iter().any(|(path, words, _reason)| file.path == *path && passage.text.contains(words));
    let passages = passages(file);
    let held = passages.iter().filter(|passage| !is_excepted(passage));
    held.flat_map(|passage| {
        let wrong = wrong(passage, retired);
        wrong.into_iter().map(|what| Violation::at(file, passage.line, what)).collect::<Vec<_>>()
    })
    .collect()
}

fn wrong(passage: &Passage, retired: &[String]) -> Vec<String> {
    let mut wrong = Vec::new();
    let sentences = sentences(&passage.text);
    for sentence in &sentences {
        let lower = sentence.to_lowercase();
        let found = retired.iter().filter(|word| stands_in(&lower, word));
        wrong.extend(found.map(|word| format!("`{word}` is retired: {sentence}")));
        if passage.kind == Kind::Comment {
            continue;
        }
        let words = sentence.split_whitespace().count();
        if words > LONGEST {
            wrong.push(format!("{words} words: {sentence}"));
        }
        if has_clause_as_subject(sentence) {
            wrong.push(format!("a clause is the subject: {sentence}"));
        }
    }
    if let (Kind::Docstring(item), [only]) = (&passage.kind, sentences.as_slice())
        && repeats(only, name(item))
    {
        wrong.push(format!("repeats the name: {only}"));
    }
    wrong
}

fn has_clause_as_subject(sentence: &str) -> bool {
    let mut words = sentence.split_whitespace();
    let first = words.next().unwrap_or_default();
    let is_of_which = first != "Of" || matches!(words.next(), Some("which" | "what"));
    CLAUSES.contains(&first) && is_of_which && !sentence.ends_with('?')
}

/// The name of the item, field or variant that a line begins.
fn name(item: &str) -> &str {
    let keywords = ["pub", "const", "async", "unsafe", "fn", "struct", "enum", "trait", "type", "mod", "static"];
    let words = item.split(|character: char| !(character.is_alphanumeric() || character == '_'));
    let visibility = ["crate", "super", "in"];
    words.filter(|word| !word.is_empty()).find(|word| !keywords.contains(word) && !visibility.contains(word)).unwrap_or_default()
}

fn repeats(sentence: &str, name: &str) -> bool {
    let said: BTreeSet<String> = words_of(sentence).filter(|word| !FILLERS.contains(&word.as_str())).collect();
    let named: BTreeSet<String> = words_of(name).collect();
    !said.is_empty() && said.iter().all(|word| named.contains(word) || named.contains(word.trim_end_matches('s')))
}

/// The words of a text in lower case. Names such as `LastSeen`, `last_seen` and `LAST_SEEN` are split into words.
pub(super) fn words_of(text: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in text.chars() {
        if !character.is_alphanumeric() || (character.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        was_lower = character.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| character.is_alphanumeric()) {
            word.extend(character.to_lowercase());
        }
    }
    words.into_iter().filter(|word| !word.is_empty())
}

#[test]
fn prose_is_plain() {
    let tree = Tree::read();
    let retired = retired(&tree.file("docs/glossary.md").text);
    let is_excepted = |file: &&SourceFile| FILES.iter().any(|(path, _reason)| file.path.starts_with(path));
    let files = tree.files().iter().filter(|file| file.is_markdown() || file.is_rust()).filter(|file| !is_excepted(file));
    let violations: Vec<Violation> = files.flat_map(|file| violations(file, &retired)).collect();
    assert_none(
        &violations,
        "rewrite the sentence: subject, verb, object, at most 25 words, in the terms of docs/glossary.md; a docstring adds something to the \
         name; what is right as it is stands in xtask/src/tidy/prose/exceptions.rs with its reason",
    );
}

#[test]
fn exceptions_are_still_needed() {
    let tree = Tree::read();
    for (path, reason) in FILES {
        assert!(tree.files().iter().any(|file| file.path.starts_with(path)), "{path} is gone: {reason}");
    }
    let retired = retired(&tree.file("docs/glossary.md").text);
    for (path, words, reason) in PASSAGES {
        let found = passages(tree.file(path)).into_iter().filter(|passage| passage.text.contains(words));
        assert!(found.into_iter().any(|passage| !wrong(&passage, &retired).is_empty()), "{path}: {words}: {reason}");
    }
}

#[test]
fn wrong_prose_is_caught() {
    let retired = ["told".to_owned(), "go on".to_owned()];
    let long = "/// ".to_owned() + &"word ".repeat(26);
    let text = format!(
        "{long}\nfn a() {{}}\n\n/// What was told is right.\nstruct B {{\n    /// The last time seen.\n    pub(crate) last_seen_time: u64,\n}}\n// They go on.\n"
    );
    let sentence = "word ".repeat(26);
    let sentence = sentence.trim_end();
    assert_found(
        &violations(&SourceFile::new("a.rs", &text), &retired),
        &[
            &format!("1: 26 words: {sentence}"),
            "4: `told` is retired: What was told is right.",
            "4: a clause is the subject: What was told is right.",
            "6: repeats the name: The last time seen.",
            "9: `go on` is retired: They go on.",
        ],
    );
}

#[test]
fn questions_and_facts_are_fine() {
    let text =
        "//! What is a list? A request for all objects.\n\n/// In seconds; `None` before the first one.\nconst LIMIT: u8 = 1;\n";
    assert_found(&violations(&SourceFile::new("a.rs", text), &["told".to_owned()]), &[]);
}
