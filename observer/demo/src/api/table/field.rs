//! Reads an object by JSON pointer. A missing field, or one of another type, is empty or zero, as in Go's structs.

use serde_json::{Map, Value};

pub(super) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Like [`text`], with a replacement for an empty text.
pub(super) fn text_or<'a>(object: &'a Value, pointer: &str, empty: &'a str) -> &'a str {
    match text(object, pointer) {
        "" => empty,
        text => text,
    }
}

pub(super) fn integer(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

pub(super) fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn map<'a>(object: &'a Value, pointer: &str) -> Option<&'a Map<String, Value>> {
    object.pointer(pointer).and_then(Value::as_object)
}

/// The number of entries of an object or a list.
pub(super) fn count(object: &Value, pointer: &str) -> usize {
    map(object, pointer).map_or_else(|| list(object, pointer).len(), Map::len)
}

/// Whether a condition of this type has the status `True`; the first one of the type counts.
pub(super) fn condition(object: &Value, condition_type: &str) -> bool {
    let found = list(object, "/status/conditions").iter().find(|condition| text(condition, "/type") == condition_type);
    found.is_some_and(|condition| text(condition, "/status") == "True")
}
