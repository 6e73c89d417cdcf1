//! One sample of a page of `/metrics`.

use std::borrow::Cow;

/// A line of the form `name{label="value",…} number`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'l> {
    /// The metric's name.
    pub name: &'l str,
    /// The number.
    pub value: f64,
    /// The text between the braces; every label in it has been checked.
    labels: &'l str,
}

impl<'l> Sample<'l> {
    /// Reads a line; `None` if it is not a sample. A timestamp and an exemplar after the number are skipped.
    pub(super) fn read(line: &'l str) -> Option<Self> {
        let name_end = line.find(|character: char| character == '{' || character.is_ascii_whitespace())?;
        let (name, rest) = line.split_at(name_end);
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(inside) => inside.split_at(end_of_labels(inside)?),
            None => ("", rest),
        };
        let number = rest.trim_start_matches('}').split_ascii_whitespace().next()?;
        (!name.is_empty()).then_some(Self { name, value: number.parse().ok()?, labels })
    }

    /// The value of a label, unescaped; `None` if the sample does not have it.
    pub fn label(&self, name: &str) -> Option<Cow<'l, str>> {
        let mut rest = self.labels;
        while let Some((label, value, behind)) = first_label(rest) {
            if label == name {
                return Some(unescaped(value));
            }
            rest = behind;
        }
        None
    }
}

/// Offset of the closing brace; `None` if a label before it is malformed.
fn end_of_labels(text: &str) -> Option<usize> {
    let mut rest = text;
    while !rest.trim_start_matches([' ', ',']).starts_with('}') {
        (_, _, rest) = first_label(rest)?;
    }
    Some(text.len() - rest.trim_start_matches([' ', ',']).len())
}

/// A label's name, its value as written, and the rest of the text.
fn first_label(text: &str) -> Option<(&str, &str, &str)> {
    let (name, quoted) = text.trim_start_matches([' ', ',']).split_once("=\"")?;
    let mut escaped = false;
    let end = quoted.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    Some((name.trim_end(), quoted.get(..end)?, quoted.get(end + 1..)?))
}

fn unescaped(value: &str) -> Cow<'_, str> {
    if !value.contains('\\') {
        return Cow::Borrowed(value);
    }
    let mut characters = value.chars();
    let mut text = String::with_capacity(value.len());
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.extend(characters.next().map(|escaped| if escaped == 'n' { '\n' } else { escaped })),
            plain => text.push(plain),
        }
    }
    Cow::Owned(text)
}
