//! JSON as attributes of OTLP.
//!
//! The fields of objects become attributes with dots in their names. Arrays, whose elements have no name of their own, stay
//! arrays. A field that is `null` is left out, like one that is absent.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue, KeyValueList};
use serde_json::{Map, Number, Value as Json};

/// The fields of `object` as attributes, named `PREFIX.FIELD.FIELD`.
pub(super) fn attributes(prefix: &str, object: &Map<String, Json>) -> Vec<KeyValue> {
    let mut attributes = Vec::new();
    flatten(prefix, object, &mut attributes);
    attributes
}

fn flatten(prefix: &str, object: &Map<String, Json>, attributes: &mut Vec<KeyValue>) {
    for (name, value) in object {
        let key = format!("{prefix}.{name}");
        match value {
            Json::Object(inner) => flatten(&key, inner, attributes),
            Json::Null => {}
            value @ (Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_)) => {
                attributes.push(KeyValue { key, value: Some(any(value)), ..KeyValue::default() });
            }
        }
    }
}

/// Makes a value of a text.
pub(super) fn text(text: impl Into<String>) -> AnyValue {
    AnyValue { value: Some(Value::StringValue(text.into())) }
}

/// Makes a value of a number.
pub(super) fn int(number: u64) -> AnyValue {
    AnyValue { value: Some(of_number(&number.into())) }
}

fn any(json: &Json) -> AnyValue {
    let value = match json {
        Json::Null => None,
        Json::Bool(truth) => Some(Value::BoolValue(*truth)),
        Json::Number(number) => Some(of_number(number)),
        Json::String(text) => Some(Value::StringValue(text.clone())),
        Json::Array(elements) => Some(Value::ArrayValue(ArrayValue { values: elements.iter().map(any).collect() })),
        Json::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            let values = fields.map(|(key, value)| KeyValue { key: key.clone(), value: Some(any(value)), ..KeyValue::default() });
            Some(Value::KvlistValue(KeyValueList { values: values.collect() }))
        }
    };
    AnyValue { value }
}

/// OTLP has no unsigned numbers: those above 2^63 become text, which loses nothing.
fn of_number(number: &Number) -> Value {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(signed), _, _) => Value::IntValue(signed),
        (None, None, Some(fraction)) => Value::DoubleValue(fraction),
        (None, Some(_), _) | (None, None, None) => Value::StringValue(number.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_flattened_and_arrays_kept() {
        let json = json!({"a": {"b": 1, "c": {"d": "x"}}, "e": null, "f": [true, {"g": 2, "h": null}], "i": 0.5, "j": u64::MAX});
        let attributes = attributes("watchtap", json.as_object().unwrap());
        let shown = |name: &str| attributes.iter().find(|one| one.key == name).and_then(|one| one.value.clone()?.value);
        assert_eq!(
            attributes.iter().map(|one| one.key.as_str()).collect::<Vec<_>>(),
            ["watchtap.a.b", "watchtap.a.c.d", "watchtap.f", "watchtap.i", "watchtap.j"]
        );
        assert_eq!(shown("watchtap.a.b"), Some(Value::IntValue(1)));
        assert_eq!(shown("watchtap.a.c.d"), Some(Value::StringValue("x".to_owned())));
        assert_eq!(shown("watchtap.i"), Some(Value::DoubleValue(0.5)));
        assert_eq!(shown("watchtap.j"), Some(Value::StringValue(u64::MAX.to_string())));
        let inner =
            KeyValue { key: "g".to_owned(), value: Some(AnyValue { value: Some(Value::IntValue(2)) }), ..KeyValue::default() };
        let list = AnyValue { value: Some(Value::KvlistValue(KeyValueList { values: vec![inner] })) };
        let truth = AnyValue { value: Some(Value::BoolValue(true)) };
        assert_eq!(shown("watchtap.f"), Some(Value::ArrayValue(ArrayValue { values: vec![truth, list] })));
    }
}
