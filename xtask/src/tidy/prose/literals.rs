//! Finds the string literals of the product that users read: messages, help, labels and reasons.

use super::passages::{Kind, Passage};
use crate::tidy::tokens::string_literals;
use crate::tidy::tree::SourceFile;

/// The source folders of the product.
const PRODUCT: [&str; 3] = ["observer/src/", "observer/core/src/", "observer/demo/src/"];
/// Minimum number of words of a literal that counts as prose; shorter ones are keys, labels and paths.
const SHORTEST: usize = 2;

/// The paragraphs of the literals in `file`, without literals that are code, paths or patterns.
pub(super) fn literals(file: &SourceFile) -> Vec<Passage> {
    if !PRODUCT.iter().any(|folder| file.path.starts_with(folder)) || is_a_test(&file.path) {
        return Vec::new();
    }
    let product = file.text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let literals = string_literals(product).into_iter();
    let passages = literals.flat_map(|literal| {
        let text = unquoted(literal.text);
        let paragraphs: Vec<String> = text.split('\n').filter(|text| is_prose(text)).map(str::to_owned).collect();
        paragraphs.into_iter().map(move |text| Passage { line: literal.line, text, kind: Kind::Text })
    });
    passages.collect()
}

fn is_a_test(path: &str) -> bool {
    path.contains("/tests") || path.contains("/hostile/")
}

/// The text of a literal: without quotes, with continued lines joined, and with each format argument as one word.
fn unquoted(literal: &str) -> String {
    let text = literal.trim_start_matches(['b', 'c', 'r']).trim_matches('#');
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '{']) {
        plain.push_str(&rest[..at]);
        let special = &rest[at..];
        rest = if let Some(after) = special.strip_prefix("\\\n") {
            after.trim_start()
        } else if let Some(after) = special.strip_prefix("\\n") {
            plain.push('\n');
            after
        } else if let Some(after) = special.strip_prefix('\\') {
            let escaped = after.chars().next();
            plain.extend(escaped);
            &after[escaped.map_or(0, char::len_utf8)..]
        } else if let Some(after) = special.strip_prefix("{{") {
            plain.push('{');
            after
        } else {
            plain.push('X');
            special.find('}').map_or("", |end| &special[end + 1..])
        };
    }
    plain + rest
}

fn is_prose(text: &str) -> bool {
    let words =
        text.split_whitespace().filter(|word| word.chars().all(|letter| letter.is_alphabetic() || ",.;:!?'’".contains(letter)));
    words.count() >= SHORTEST
}

#[test]
fn literals_are_read_as_printed_lines() {
    let text = "fn a() {\n    say(\"one \\\n         {two} \\\"three\\\"\");\n    b(\"key\");\n    c(\"first line\\nsecond one\");\n}\n\n#[cfg(test)]\nmod tests { \"left out here\" }\n";
    let file = SourceFile::new("observer/src/view/a.rs", text);
    let found: Vec<(usize, String)> = literals(&file).into_iter().map(|passage| (passage.line, passage.text)).collect();
    let expected = [(2, "one X \"three\""), (5, "first line"), (5, "second one")];
    assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    assert!(literals(&SourceFile::new("observer/src/view/tests.rs", text)).is_empty());
}
