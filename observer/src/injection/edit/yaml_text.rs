//! Values as YAML: in braces where they fit on one line, otherwise in lines.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::style::Style;

/// Maximum length of a value in braces or brackets.
const FITS: usize = 110;

/// Maximum length of a line of words, such as arguments, with its indentation.
const WIDTH: usize = 120;

/// Words that YAML 1.1 reads as another type than text.
const RESERVED: [&str; 12] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "~"];

/// The lines of a collection whose keys or dashes begin in this column. A line break precedes each of them.
pub(super) fn lines(collection: &Value, column: usize, style: &Style) -> String {
    let mut lines = Lines { text: String::new(), style };
    match collection {
        Value::Object(map) => lines.map(map, column, None),
        Value::Array(items) => items.iter().for_each(|item| lines.item(item, column)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    lines.text
}

struct Lines<'s> {
    text: String,
    style: &'s Style,
}

impl Lines<'_> {
    /// Writes a mapping. In a list, its first key follows the dash, which begins in this column.
    fn map(&mut self, map: &Map<String, Value>, column: usize, mut dash: Option<usize>) {
        for (key, value) in map {
            match dash.take() {
                Some(dash) => self.begin(dash, "- "),
                None => self.begin(column, ""),
            }
            self.text.push_str(&text(key));
            self.text.push(':');
            self.value(value, column);
        }
    }

    fn value(&mut self, value: &Value, column: usize) {
        let before = self.text.len();
        match value {
            // Lists of mappings are easier to compare in lines.
            Value::Array(items) if items.iter().any(Value::is_object) => {
                for item in items {
                    self.item(item, column + self.style.list_offset);
                }
            }
            Value::Array(words) => self.words(words, column),
            Value::Object(map) => {
                self.text.push(' ');
                if !push_flow(value, &mut self.text, before + FITS) {
                    self.text.truncate(before);
                    self.map(map, column + self.style.map_offset, None);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.text.push(' ');
                self.text.push_str(&flow(value));
            }
        }
    }

    /// Writes words in brackets. A full line ends before a flag, so that the flag and its value stay together.
    fn words(&mut self, words: &[Value], column: usize) {
        let words: Vec<String> = words.iter().map(flow).collect();
        self.text.push_str(" [");
        for (place, word) in words.iter().enumerate() {
            if place > 0 {
                let with_its_value = word.len() + words.get(place + 1).map_or(0, |next| ", ".len() + next.len());
                let line = self.text.len() - self.text.rfind('\n').unwrap_or(0);
                self.text.push(',');
                if word.starts_with("--") && line + with_its_value > WIDTH {
                    self.begin(column + self.style.map_offset, "");
                } else {
                    self.text.push(' ');
                }
            }
            self.text.push_str(word);
        }
        self.text.push(']');
    }

    fn item(&mut self, item: &Value, column: usize) {
        let before = self.text.len();
        self.begin(column, "- ");
        let most = if item.is_object() { self.text.len() + FITS } else { usize::MAX };
        if let (false, Value::Object(map)) = (push_flow(item, &mut self.text, most), item) {
            self.text.truncate(before);
            self.map(map, column + 2, Some(column));
        }
    }

    fn begin(&mut self, column: usize, with: &str) {
        self.text.push_str(self.style.line_break);
        self.text.extend(std::iter::repeat_n(' ', column));
        self.text.push_str(with);
    }
}

/// A value on one line.
pub(super) fn flow(value: &Value) -> String {
    let mut out = String::new();
    push_flow(value, &mut out, usize::MAX);
    out
}

/// Appends a value on one line, unless the text then has more than `most` bytes: then it ends somewhere, and the result is `false`.
fn push_flow(value: &Value, out: &mut String, most: usize) -> bool {
    match value {
        Value::Object(map) => {
            out.push('{');
            for (place, (key, value)) in map.iter().enumerate() {
                out.push_str(if place > 0 { ", " } else { "" });
                out.push_str(&text(key));
                out.push_str(": ");
                if !push_flow(value, out, most) {
                    return false;
                }
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                out.push_str(if place > 0 { ", " } else { "" });
                if !push_flow(item, out, most) {
                    return false;
                }
            }
            out.push(']');
        }
        Value::String(string) => out.push_str(&text(string)),
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
    }
    out.len() <= most
}

/// Text that every parser reads as this text. Quotes are left out only where no version of YAML needs them.
pub(super) fn text(string: &str) -> Cow<'_, str> {
    if is_quantity(string) || is_plain_word(string) {
        return Cow::Borrowed(string);
    }
    let is_json = string.starts_with('{') && string.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    Cow::Owned(if is_json { format!("'{}'", string.replace('\'', "''")) } else { Value::from(string).to_string() })
}

/// Such as `10m` and `128Mi`, which no version of YAML reads as a number.
fn is_quantity(string: &str) -> bool {
    let unit = string.trim_start_matches(|digit: char| digit.is_ascii_digit());
    unit.len() < string.len() && matches!(unit, "m" | "Ki" | "Mi" | "Gi")
}

fn is_plain_word(string: &str) -> bool {
    let begins_plain = |first: u8| first.is_ascii_alphabetic() || first == b'/';
    let is_flag = string.starts_with("--") && !string.starts_with("---");
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:@".contains(&byte);
    let is_reserved = || RESERVED.iter().any(|word| word.eq_ignore_ascii_case(string));
    (is_flag || string.bytes().next().is_some_and(begins_plain))
        && string.bytes().all(is_safe)
        && !string.ends_with(':')
        && !is_reserved()
}
