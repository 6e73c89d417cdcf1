//! The filter of rows.

use super::amount::Amount;
use super::column::Column;
use super::filter_key::{FilterKey, NumberKey};
use super::filter_parser::alternatives;
use super::row::Row;

/// The typed terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    text: String,
    /// One of these must match. Each has terms that must all match.
    alternatives: Vec<Vec<Term>>,
}

/// A condition on rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub is_negated: bool,
    pub test: Test,
}

/// A condition without its negation. Texts are in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// A plain word, which matches anywhere in a row.
    Anywhere(String),
    /// `client:NAME`.
    Fact(FilterKey, String),
    /// `objects>1000`.
    Number(NumberKey, Comparison, Amount),
}

/// How a number is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    AtLeast,
    AtMost,
    More,
    Less,
    Equal,
}

/// The facts and columns of a table that filters can name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answers {
    pub facts: &'static [FilterKey],
    pub columns: &'static [Column],
}

impl Filter {
    /// Parses the typed text, or returns the problem with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        Ok(Self { text: text.trim().to_owned(), alternatives: alternatives(text)? })
    }

    /// A term for a fact, as it would be typed; `None` for a text that cannot be typed.
    pub(super) fn term(key: FilterKey, text: &str) -> Option<String> {
        let quote = if text.contains(char::is_whitespace) { "\"" } else { "" };
        (!text.contains('"')).then(|| format!("{}:{quote}{text}{quote}", key.as_str()))
    }

    /// The text as it was typed.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches every row.
    pub(super) const fn is_empty(&self) -> bool {
        self.alternatives.is_empty()
    }

    /// Whether it matches a row. Terms with names that the row's table does not have are ignored.
    pub(super) fn fits(&self, row: &Row, answers: Answers) -> bool {
        let is_known = |term: &&Term| term.is_known(answers);
        let mut alternatives = self.alternatives.iter().filter(|terms| terms.iter().any(|term| is_known(&term))).peekable();
        let fits = |terms: &Vec<Term>| terms.iter().filter(is_known).all(|term| term.fits(row, answers));
        alternatives.peek().is_none() || alternatives.any(fits)
    }

    /// The names in the filter that are ignored, because the table does not have them.
    pub(super) fn passed_over(&self, answers: Answers) -> Vec<&'static str> {
        let unknown = self.alternatives.iter().flatten().filter(|term| !term.is_known(answers));
        let mut names: Vec<&'static str> = Vec::new();
        for name in unknown.filter_map(Term::name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

impl Term {
    fn name(&self) -> Option<&'static str> {
        match &self.test {
            Test::Anywhere(_) => None,
            Test::Fact(key, _) => Some(key.as_str()),
            Test::Number(key, _, _) => Some(key.as_str()),
        }
    }

    fn is_known(&self, answers: Answers) -> bool {
        match &self.test {
            Test::Anywhere(_) => true,
            Test::Fact(key, _) => answers.facts.contains(key),
            Test::Number(key, _, _) => answers.columns.iter().any(|column| column.has(*key)),
        }
    }

    fn fits(&self, row: &Row, answers: Answers) -> bool {
        let fits = match &self.test {
            Test::Anywhere(word) => {
                let facts = row.facts.iter().map(|(_, text)| text);
                row.cells.iter().map(|cell| &cell.text).chain(facts).any(|text| holds(text, word))
            }
            Test::Fact(key, word) => row.facts.iter().any(|(fact, text)| fact == key && holds(text, word)),
            // A row without the number matches neither the comparison nor its negation.
            Test::Number(key, comparison, amount) => match number(row, *key, answers.columns) {
                Some(number) => comparison.holds(number, *amount),
                None => return false,
            },
        };
        fits != self.is_negated
    }
}

fn holds(text: &str, word: &str) -> bool {
    text.to_lowercase().contains(word)
}

/// The number of a row in the column `key`; `None` if it is unknown.
fn number(row: &Row, key: NumberKey, columns: &[Column]) -> Option<Amount> {
    let mut cells = columns.iter().zip(&row.cells);
    cells.find_map(|(column, cell)| Some(Amount::of(cell.number_if_known()?, column.per_one(key)?)))
}

impl Comparison {
    /// All comparisons with their signs. `>=` comes before `>`, and `<=` before `<`, so that the longer sign is found.
    pub(super) const ALL: [(Self, &'static str); 5] =
        [(Self::AtLeast, ">="), (Self::AtMost, "<="), (Self::More, ">"), (Self::Less, "<"), (Self::Equal, "=")];

    fn holds(self, number: Amount, amount: Amount) -> bool {
        match self {
            Self::AtLeast => number >= amount,
            Self::AtMost => number <= amount,
            Self::More => number > amount,
            Self::Less => number < amount,
            Self::Equal => number == amount,
        }
    }
}

#[cfg(test)]
mod tests {
    use observer_core::storm::StormId;

    use super::*;
    use crate::view::page::row::{Cell, RowKey};

    const ANSWERS: Answers = Answers {
        facts: &[FilterKey::Client, FilterKey::Resource],
        columns: &[
            Column::words("RESOURCE", 8),
            Column::number("RELISTS").counts(NumberKey::Relists),
            Column::words("USER", 8),
            Column::number("BYTES").counts(NumberKey::Bytes),
            Column::number("BEHIND").counts(NumberKey::Behind),
        ],
    };

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
            assert_eq!(fits_row(text), fits, "{text}");
        }
    }

    #[test]
    fn one_alternative_is_enough_and_negated_terms_must_not_match() {
        for (text, fits) in [
            ("secrets OR pods", true),
            ("secrets OR nodes", false),
            ("secrets 17 OR pods 17", true),
            ("secrets OR pods 18", false),
            ("NOT secrets", true),
            ("-pods", false),
            ("-resource:secrets pods", true),
            ("NOT -pods", true),
            ("pods NOT client:my-", false),
            // The table has no rules, so these terms decide nothing.
            ("secrets OR rule:list-rv0", false),
            ("-rule:list-rv0", true),
            ("or", true),
        ] {
            assert_eq!(fits_row(text), fits, "{text}");
        }
    }

    #[test]
    fn numbers_are_compared_by_their_columns() {
        for (text, fits) in [
            ("relists>16", true),
            ("relists>17", false),
            ("relists>=17", true),
            ("relists<17", false),
            ("relists<=17", true),
            ("relists=17", true),
            ("-relists=17", false),
            ("bytes>1MB", true),
            ("bytes>2.1MB", false),
            ("bytes>1MB relists<3 OR bytes>2MB", true),
            // An unknown number matches nothing.
            ("behind<5", false),
            ("-behind<5", false),
            // The table has no such column.
            ("peak>3", true),
        ] {
            assert_eq!(fits_row(text), fits, "{text}");
        }
    }

    #[test]
    fn names_unknown_to_a_table_are_reported() {
        let filter = Filter::parse("rule:a pods served:b rule:c OR peak>3 client:x").unwrap();
        assert_eq!(filter.passed_over(ANSWERS), ["rule", "served", "peak"]);
    }

    #[test]
    fn terms_for_facts_are_quoted_if_necessary() {
        assert_eq!(Filter::term(FilterKey::Client, "my-controller/0.3").as_deref(), Some("client:my-controller/0.3"));
        assert_eq!(Filter::term(FilterKey::Client, "two words").as_deref(), Some("client:\"two words\""));
        assert_eq!(Filter::term(FilterKey::Client, "a\"b"), None);
    }

    fn fits_row(text: &str) -> bool {
        let row = Row {
            key: RowKey::Storm(StormId(1)),
            cells: vec![
                Cell::words("pods"),
                Cell::number(17, "17"),
                Cell::words("system:node:a or b"),
                Cell::number(2_100_000, "2.1 MB"),
                Cell::unknown("?"),
            ],
            facts: vec![(FilterKey::Client, "my-controller/0.3".to_owned()), (FilterKey::Resource, "pods".to_owned())],
        };
        Filter::parse(text).unwrap().fits(&row, ANSWERS)
    }
}
