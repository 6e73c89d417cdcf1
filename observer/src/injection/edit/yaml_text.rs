//! Values as YAML: in lines, as far as they are long, and in braces where they fit on one line.

use serde_json::{Map, Value};

use super::style::Style;

/// Maximum length of a value in braces or brackets.
const FITS: usize = 110;

/// Words that YAML 1.1 reads as another type than text.
const RESERVED: [&str; 12] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "~"];

/// The lines of a mapping whose keys begin in this column.
pub(super) fn map_lines(map: &Map<String, Value>, column: usize, style: &Style) -> Vec<String> {
    map.iter().flat_map(|(key, value)| entry_lines(key, value, column, style)).collect()
}

/// The lines of a list whose dashes begin in this column.
pub(super) fn list_lines(items: &[Value], column: usize, style: &Style) -> Vec<String> {
    items.iter().flat_map(|item| item_lines(item, column, style)).collect()
}

fn entry_lines(key: &str, value: &Value, column: usize, style: &Style) -> Vec<String> {
    let head = format!("{}{}:", " ".repeat(column), text(key));
    let nested = match value {
        Value::Object(map) if !fits(value) => map_lines(map, column + style.map_offset, style),
        // Items of which one is long are on lines of their own.
        Value::Array(items) if !fits(value) || items.iter().any(Value::is_object) => {
            list_lines(items, column + style.list_offset, style)
        }
        small => return vec![format!("{head} {}", flow(small))],
    };
    std::iter::once(head).chain(nested).collect()
}

fn item_lines(item: &Value, column: usize, style: &Style) -> Vec<String> {
    let dash = format!("{}- ", " ".repeat(column));
    let Value::Object(map) = item else { return vec![format!("{dash}{}", flow(item))] };
    if fits(item) {
        return vec![format!("{dash}{}", flow(item))];
    }
    let mut lines = map_lines(map, column + dash.trim_start().len(), style);
    if let Some(first) = lines.first_mut() {
        first.replace_range(..dash.len(), &dash);
    }
    lines
}

fn fits(value: &Value) -> bool {
    flow(value).len() <= FITS
}

/// A value on one line.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let members: Vec<String> = map.iter().map(|(key, value)| format!("{}: {}", text(key), flow(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::String(string) => text(string),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Text that every parser reads as this text. Quotes are left out only where no version of YAML needs them.
pub(super) fn text(string: &str) -> String {
    if is_plain(string) {
        return string.to_owned();
    }
    let is_json = string.starts_with('{') && string.chars().all(|character| (' '..='~').contains(&character));
    if is_json { format!("'{}'", string.replace('\'', "''")) } else { Value::from(string).to_string() }
}

fn is_plain(string: &str) -> bool {
    is_quantity(string) || is_plain_word(string)
}

/// Such as `10m` and `128Mi`, which no version of YAML reads as a number.
fn is_quantity(string: &str) -> bool {
    let unit = string.trim_start_matches(|digit: char| digit.is_ascii_digit());
    unit.len() < string.len() && matches!(unit, "m" | "Ki" | "Mi" | "Gi")
}

fn is_plain_word(string: &str) -> bool {
    let begins = string.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/') || string.starts_with("--");
    let is_safe = |character: char| character.is_ascii_alphanumeric() || "-_./=:".contains(character);
    let is_word = RESERVED.contains(&string.to_ascii_lowercase().as_str());
    begins && !is_word && !string.ends_with(':') && string.chars().all(is_safe) && !string.starts_with("---")
}
