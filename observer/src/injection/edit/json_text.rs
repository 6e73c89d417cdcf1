//! Values as JSON, in the style of the document.

use serde_json::Value;

use super::style::{Flow, Style};
use super::yaml_text;

/// Maximum length of a mapping on one line. A volume of the sidecar fits, the sidecar does not.
const FITS: usize = 340;

/// The same for a list of mappings.
const LIST_FITS: usize = 110;

/// A value for a flow collection. Its first line continues one that begins with `indentation`.
pub(super) fn flow(value: &Value, indentation: &str, style: &Style) -> String {
    match &style.flow {
        Flow::Yaml => yaml_text::flow(value),
        Flow::Compact { space } => compact(value, space),
        Flow::Lines { unit } => lines(value, indentation, unit, style.line_break),
    }
}

/// A key for a flow collection, with its colon.
pub(super) fn key(key: &str, style: &Style) -> String {
    match &style.flow {
        Flow::Yaml => format!("{}: ", yaml_text::text(key)),
        Flow::Compact { space } => format!("{}:{space}", Value::from(key)),
        Flow::Lines { .. } => format!("{}: ", Value::from(key)),
    }
}

fn compact(value: &Value, space: &str) -> String {
    match value {
        Value::Object(map) => {
            let members = map.iter().map(|(key, value)| format!("{}:{space}{}", Value::from(key.as_str()), compact(value, space)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(&format!(",{space}")))
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| compact(item, space));
            format!("[{}]", items.collect::<Vec<_>>().join(&format!(",{space}")))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

/// JSON for a reader of the difference: an item on one line where it fits, and not each value on a line of its own.
fn lines(value: &Value, indentation: &str, unit: &str, line_break: &str) -> String {
    let inner = format!("{indentation}{unit}");
    let line = compact(value, " ");
    let (parts, [open, close]): (Vec<String>, _) = match value {
        Value::Array(items) if line.len() > LIST_FITS && items.iter().any(Value::is_object) => {
            (items.iter().map(|item| lines(item, &inner, unit, line_break)).collect(), ["[", "]"])
        }
        Value::Object(map) if line.len() > FITS && map.len() > 1 => {
            let member = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), lines(value, &inner, unit, line_break))
            };
            (map.iter().map(member).collect(), ["{", "}"])
        }
        Value::Object(_) | Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return line,
    };
    let separator = format!(",{line_break}{inner}");
    format!("{open}{line_break}{inner}{}{line_break}{indentation}{close}", parts.join(&separator))
}
