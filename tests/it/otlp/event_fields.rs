//! The fields of an event of `--events`, in the form of attributes.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The fields that have a value, by their path.
pub(super) fn flat(event: &Map<String, Value>) -> BTreeMap<String, Value> {
    let mut fields = BTreeMap::new();
    let mut rest: Vec<(String, Value)> = event.iter().map(|(name, value)| (format!("watchtap.{name}"), value.clone())).collect();
    while let Some((path, value)) = rest.pop() {
        match value {
            Value::Object(inner) => rest.extend(inner.into_iter().map(|(name, value)| (format!("{path}.{name}"), value))),
            Value::Null => {}
            value @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                fields.insert(path, without_null(value));
            }
        }
    }
    fields
}

/// The same without fields of objects that are `null`.
fn without_null(value: Value) -> Value {
    match value {
        Value::Array(elements) => elements.into_iter().map(without_null).collect(),
        Value::Object(fields) => {
            fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name, without_null(value))).collect()
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}
