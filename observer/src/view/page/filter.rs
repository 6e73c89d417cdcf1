//! The filter of rows.

use super::row::Row;

/// A fact that a filter can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FilterKey {
    Client,
    Resource,
    Scope,
    State,
    Cause,
    Verb,
    Served,
    Rule,
    Kind,
}

/// The typed words, which must all match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    text: String,
    words: Vec<Word>,
}

/// `client:NAME`, or a plain word, which matches anywhere in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    key: Option<FilterKey>,
    /// In lower case.
    text: String,
}

impl FilterKey {
    /// All of them, in the order of the help.
    pub(super) const ALL: [Self; 9] =
        [Self::Client, Self::Resource, Self::Scope, Self::State, Self::Cause, Self::Verb, Self::Served, Self::Rule, Self::Kind];

    /// The word to type.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Resource => "resource",
            Self::Scope => "scope",
            Self::State => "state",
            Self::Cause => "cause",
            Self::Verb => "verb",
            Self::Served => "served",
            Self::Rule => "rule",
            Self::Kind => "kind",
        }
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.as_str() == word)
    }
}

impl Filter {
    /// Parses the typed text, or returns the problem with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let words = text.split_whitespace().map(Word::parse).collect::<Result<_, _>>()?;
        Ok(Self { text: text.trim().to_owned(), words })
    }

    /// The text as it was typed.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches every row.
    pub(super) const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether it matches a row. Words for facts that the row's table does not have are ignored.
    pub(super) fn fits(&self, row: &Row, answered: &[FilterKey]) -> bool {
        self.words.iter().filter(|word| word.key.is_none_or(|key| answered.contains(&key))).all(|word| word.fits(row))
    }

    /// The names of facts that a table does not have, and that are therefore ignored.
    pub(super) fn passed_over(&self, answered: &[FilterKey]) -> Vec<&'static str> {
        let mut keys: Vec<FilterKey> =
            self.words.iter().filter_map(|word| word.key).filter(|key| !answered.contains(key)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().map(FilterKey::as_str).collect()
    }
}

impl Word {
    fn parse(word: &str) -> Result<Self, String> {
        let plain = |text: &str| Self { key: None, text: text.to_lowercase() };
        if let Some(quoted) = word.strip_prefix('"') {
            return Ok(plain(quoted.trim_end_matches('"')));
        }
        let Some((name, text)) = word.split_once(':') else { return Ok(plain(word)) };
        let Some(key) = FilterKey::of(name) else {
            let known: Vec<&str> = FilterKey::ALL.into_iter().map(FilterKey::as_str).collect();
            return Err(format!("no filter is named {name}; use one of {} (or write \"{word}\")", known.join(", ")));
        };
        Ok(Self { key: Some(key), text: text.to_lowercase() })
    }

    fn fits(&self, row: &Row) -> bool {
        let holds = |text: &str| text.to_lowercase().contains(&self.text);
        match self.key {
            Some(key) => row.facts.iter().any(|(fact, text)| *fact == key && holds(text)),
            None => row.cells.iter().any(|cell| holds(&cell.text)) || row.facts.iter().any(|(_, text)| holds(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use observer_core::storm::StormId;

    use super::*;
    use crate::view::page::row::{Cell, RowKey};

    #[test]
    fn all_filter_words_must_match_ignoring_case() {
        for (text, fits) in [
            ("", true),
            ("pods", true),
            ("PODS 17", true),
            ("resource:pods", true),
            ("resource:Pod client:my-", true),
            ("resource:pods client:other", false),
            ("secrets", false),
            ("\"system:node\"", true),
            // The table has no rules.
            ("rule:list-rv0", true),
        ] {
            let filter = Filter::parse(text).unwrap();
            let answered = [FilterKey::Client, FilterKey::Resource];
            assert_eq!(filter.fits(&row(), &answered), fits, "{text}");
        }
    }

    #[test]
    fn unknown_filter_name_error_lists_the_known_ones() {
        let expected = "no filter is named pod; use one of client, resource, scope, state, cause, verb, served, rule, kind (or write \"pod:x\")";
        assert_eq!(Filter::parse("client:a pod:x").unwrap_err(), expected);
    }

    #[test]
    fn filter_keys_unknown_to_a_table_are_reported() {
        let filter = Filter::parse("rule:a pods served:b rule:c").unwrap();
        assert_eq!(filter.passed_over(&[FilterKey::Served]), ["rule"]);
    }

    fn row() -> Row {
        Row {
            key: RowKey::Storm(StormId(1)),
            cells: vec![Cell::words("pods"), Cell::number(17, "17"), Cell::words("system:node:a")],
            facts: vec![(FilterKey::Client, "my-controller/0.3".to_owned()), (FilterKey::Resource, "pods".to_owned())],
        }
    }
}
