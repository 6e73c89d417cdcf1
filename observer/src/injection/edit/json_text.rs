//! Values as JSON, in the style of the document.

use serde::Serialize as _;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::style::{Flow, Style};
use super::yaml_text;

/// A value for a flow collection. Its first line continues one that begins with `indentation`.
pub(super) fn flow(value: &Value, indentation: &str, style: &Style) -> String {
    match &style.flow {
        Flow::Yaml => yaml_text::flow(value),
        Flow::Compact { space } => compact(value, space),
        Flow::Lines { unit } => pretty(value, unit).replace('\n', &format!("{}{indentation}", style.line_break)),
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

fn pretty(value: &Value, unit: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit.as_bytes());
    // Writing to a vector does not fail.
    let _infallible = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
    String::from_utf8_lossy(&bytes).into_owned()
}
