//! Reads the retired words in docs/glossary.md, and finds them in text.

/// The heading above the table.
const HEADING: &str = "## Retired words";

/// The retired words and phrases, in lower case.
pub(super) fn retired(glossary: &str) -> Vec<String> {
    let (_, table) = glossary.split_once(HEADING).expect("the glossary has a table of retired words");
    let rows = table.lines().filter_map(|line| line.strip_prefix('|')).skip(2);
    let words = rows.filter_map(|row| row.split('|').next()).flat_map(|cell| cell.split(','));
    words.map(|word| word.trim().to_lowercase()).filter(|word| !word.is_empty()).collect()
}

/// Whether `text` contains `phrase` as complete words. Both must be in lower case.
pub(super) fn stands_in(text: &str, phrase: &str) -> bool {
    let is_part = |character: Option<char>| character.is_some_and(|character| character.is_alphanumeric() || character == '_');
    text.match_indices(phrase).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + phrase.len()..).and_then(|after| after.chars().next());
        !is_part(before) && !is_part(after)
    })
}

#[test]
fn retired_words_are_read_and_matched_as_words() {
    let glossary =
        "## A\n\n| x | y |\n\n## Retired words\n\n| Retired | Use |\n|---|---|\n| go on, told | resume |\n| whole | all |\n";
    assert_eq!(retired(glossary), ["go on", "told", "whole"]);
    assert!(stands_in("it was told, once", "told") && !stands_in("untold and told_to", "told"));
}
