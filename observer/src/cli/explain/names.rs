//! The names that `watchtap explain` takes, for completion in shells and for hints.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use observer_core::observer::FindingKind;
use observer_core::reflector::cause_names;
use observer_core::routing::{all_proofs, all_rules};

/// Largest number of names in a hint.
const MOST_NEAR: usize = 3;

/// All names: rules, proofs, causes of relists, kinds of findings. Some causes and findings have the same name.
pub(super) fn names() -> impl Iterator<Item = String> {
    let rules = all_rules().map(|rule| rule.id.to_string());
    let proofs = all_proofs().map(|proof| proof.id.to_string());
    let findings = FindingKind::ALL.iter().map(ToString::to_string);
    rules.chain(proofs).chain(cause_names()).chain(findings)
}

/// Accepts any text. Shells complete the names.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnyWithNames;

impl TypedValueParser for AnyWithNames {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let mut all: Vec<String> = names().collect();
        all.sort();
        all.dedup();
        Some(Box::new(all.into_iter().map(PossibleValue::new)))
    }
}

/// The `known` texts nearest to `word`: those with few different letters, otherwise those that share a word with it.
pub(super) fn nearest(word: &str, known: impl IntoIterator<Item = String>) -> Vec<String> {
    let word = word.to_ascii_lowercase();
    let most = 1 + word.chars().count() / 4;
    let mut by_letters: Vec<(usize, String)> = Vec::new();
    let mut by_words: Vec<String> = Vec::new();
    for known in known {
        let distance = strsim::damerau_levenshtein(&word, &known.to_ascii_lowercase());
        if distance <= most {
            by_letters.push((distance, known));
        } else if shares_a_word(&known, &word) {
            by_words.push(known);
        }
    }
    by_letters.sort();
    let best = by_letters.first().map_or(0, |(distance, _)| *distance);
    let near: Vec<String> = by_letters.into_iter().filter(|(distance, _)| *distance == best).map(|(_, known)| known).collect();
    let mut found = if near.is_empty() { by_words } else { near };
    found.dedup();
    found.truncate(MOST_NEAR);
    found
}

fn shares_a_word(known: &str, word: &str) -> bool {
    let parts = |text| str::split(text, ['-', '/', '.']).filter(|part| part.len() > 3);
    parts(known).any(|part| parts(word).any(|other| other == part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_names_are_found() {
        for (word, expected) in [
            ("list-unset-consistnt", vec!["list-unset-consistent"]),
            ("Deaf-Wacth", vec!["deaf-watch"]),
            ("expird", vec!["expired"]),
            ("deaf", vec!["deaf-watch"]),
            ("no-bookmark", vec!["no-bookmarks"]),
            ("zzzzzz", vec![]),
        ] {
            assert_eq!(nearest(word, names()), expected, "{word}");
        }
        assert_eq!(nearest("list-unset", names()).len(), MOST_NEAR);
    }
}
