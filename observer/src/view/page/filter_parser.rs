//! Reads the text of a filter.

use super::amount::Amount;
use super::filter::{Comparison, Term, Test};
use super::filter_key::{FilterKey, NumberKey};

/// A word of the text, with its place.
#[derive(Debug)]
struct Word {
    /// The number of its first character, from 1.
    at: usize,
    /// Without quotes.
    text: String,
    /// The bytes of `text` before the first quote. Only these can be an operator.
    open: usize,
}

/// The alternatives of a filter, each with the terms that must all match; otherwise the problem with the text and its place.
pub(super) fn alternatives(text: &str) -> Result<Vec<Vec<Term>>, String> {
    let mut alternatives: Vec<Vec<Term>> = Vec::new();
    let mut terms: Vec<Term> = Vec::new();
    // The operator that still needs a term.
    let mut operator: Option<Word> = None;
    let mut is_negated = false;
    for word in words(text) {
        if word.is("OR") && operator.is_none() {
            if terms.is_empty() {
                return Err(problem(word.at, "OR needs a term before it"));
            }
            alternatives.push(std::mem::take(&mut terms));
            operator = Some(word);
        } else if word.is("NOT") && !is_negated {
            (is_negated, operator) = (true, Some(word));
        } else if word.is("OR") || word.is("NOT") {
            break;
        } else {
            terms.push(term(&word, is_negated)?);
            (is_negated, operator) = (false, None);
        }
    }
    if let Some(word) = operator {
        return Err(problem(word.at, &format!("{} needs a term after it", word.text)));
    }
    alternatives.push(terms);
    Ok(alternatives.into_iter().filter(|terms| !terms.is_empty()).collect())
}

/// Splits at spaces that are not between quotes. A quote at the end may be missing, since the text is being typed.
fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut current: Option<Word> = None;
    let mut is_quoted = false;
    for (index, character) in text.chars().enumerate() {
        if character.is_whitespace() && !is_quoted {
            words.extend(current.take());
            continue;
        }
        let word = current.get_or_insert_with(|| Word { at: index + 1, text: String::new(), open: usize::MAX });
        if character == '"' {
            is_quoted = !is_quoted;
            word.open = word.open.min(word.text.len());
        } else {
            word.text.push(character);
        }
    }
    words.extend(current);
    words
}

fn term(word: &Word, is_negated: bool) -> Result<Term, String> {
    let positive = (word.at, word.open(), word.text.as_str());
    let negative = word.open().strip_prefix('-').zip(word.text.strip_prefix('-'));
    let (at, open, text) = negative.map_or(positive, |(open, text)| (word.at + 1, open, text));
    if negative.is_some() && text.is_empty() {
        return Err(problem(word.at, "- needs a term after it"));
    }
    Ok(Term { is_negated: is_negated != negative.is_some(), test: condition(at, open, text)? })
}

/// Reads the term `text`. Only `open`, the part before the first quote, may contain an operator.
fn condition(at: usize, open: &str, text: &str) -> Result<Test, String> {
    let plain = || Ok(Test::Anywhere(text.to_lowercase()));
    let Some(place) = open.find([':', '<', '>', '=']).filter(|place| *place > 0) else { return plain() };
    let (name, rest) = text.split_at(place);
    if let Some(value) = rest.strip_prefix(':') {
        let key = FilterKey::of(name).ok_or_else(|| unknown(at, "filter", name, text, &FilterKey::ALL.map(FilterKey::as_str)))?;
        return Ok(Test::Fact(key, value.to_lowercase()));
    }
    let Some((comparison, sign)) = Comparison::ALL.into_iter().find(|(_, sign)| rest.starts_with(sign)) else { return plain() };
    match NumberKey::of(name) {
        Some(key) => {
            let value = rest.strip_prefix(sign).unwrap_or_default();
            let amount = Amount::parse(value, key).map_err(|what| problem(at + name.chars().count() + sign.len(), &what))?;
            Ok(Test::Number(key, comparison, amount))
        }
        // `limit=500` is a word of requests, not a comparison.
        None if comparison == Comparison::Equal => plain(),
        None => Err(unknown(at, "number", name, text, &NumberKey::ALL.map(NumberKey::as_str))),
    }
}

fn unknown(at: usize, what: &str, name: &str, word: &str, known: &[&str]) -> String {
    problem(at, &format!("no {what} is named {name}; use one of {} (or write \"{word}\")", known.join(", ")))
}

fn problem(at: usize, what: &str) -> String {
    format!("character {at}: {what}")
}

impl Word {
    /// The part before the first quote.
    fn open(&self) -> &str {
        self.text.get(..self.open).unwrap_or(&self.text)
    }

    /// Whether it is `operator`, without quotes.
    fn is(&self, operator: &str) -> bool {
        self.open() == operator && self.text == operator
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_name_their_place() {
        for (text, problem) in [
            (
                "client:a pod:x",
                "character 10: no filter is named pod; use one of client, resource, scope, state, cause, verb, served, rule, kind (or write \"pod:x\")",
            ),
            (
                "-pod:x",
                "character 2: no filter is named pod; use one of client, resource, scope, state, cause, verb, served, rule, kind (or write \"pod:x\")",
            ),
            ("pods OR", "character 6: OR needs a term after it"),
            ("pods OR OR x", "character 6: OR needs a term after it"),
            ("OR pods", "character 1: OR needs a term before it"),
            ("pods NOT", "character 6: NOT needs a term after it"),
            ("pods OR NOT", "character 9: NOT needs a term after it"),
            ("pods -", "character 6: - needs a term after it"),
            ("pods relists>", "character 14: a number is missing after relists"),
            ("pods relists>=x", "character 15: x is not a unit of relists; it has none"),
            ("bytes>1s", "character 7: s is not a unit of bytes; use B, kB, MB, GB or TB"),
        ] {
            assert_eq!(alternatives(text), Err(problem.to_owned()), "{text}");
        }
    }

    #[test]
    fn unknown_number_lists_the_known_ones() {
        let problem = alternatives("pods size>3").unwrap_err();
        assert!(problem.starts_with("character 6: no number is named size; use one of relists, resumes, objects, "), "{problem}");
        assert!(problem.ends_with(" (or write \"size>3\")"), "{problem}");
    }

    #[test]
    fn quotes_make_plain_words() {
        let word = |text: &str| vec![vec![Term { is_negated: false, test: Test::Anywhere(text.to_owned()) }]];
        for (text, expected) in [
            ("\"system:node\"", "system:node"),
            ("\"system:node", "system:node"),
            ("\"two words\"", "two words"),
            ("\"OR\"", "or"),
            ("\"-x\"", "-x"),
            ("\"relists>3\"", "relists>3"),
            ("limit=500", "limit=500"),
            ("RV=N", "rv=n"),
            (">5", ">5"),
        ] {
            assert_eq!(alternatives(text), Ok(word(expected)), "{text}");
        }
        let fact = Term { is_negated: true, test: Test::Fact(FilterKey::Client, "a b".to_owned()) };
        assert_eq!(alternatives("-client:\"A b\""), Ok(vec![vec![fact]]));
    }
}
