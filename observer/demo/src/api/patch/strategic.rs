//! The part of strategic merge patch for objects: directives, and fields one by one.
//!
//! It differs from upstream in two ways. A field that the demo's table does not know is merged if it is an object and replaced if
//! it is a list; the API server refuses it. Deletions from lists of scalars come after all additions, where Go's maps leave the
//! order to chance.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::error::Error;
use super::merge_fields::MergeType;
use super::merge_list;

pub(super) const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList/";
const SET_ELEMENT_ORDER: &str = "$setElementOrder/";

/// A JSON object.
type Object = Map<String, Value>;

/// Merges `patch` into `original`; `fields` states which of its lists are merged by key.
///
/// Recurses as deep as the patch, whose depth the parser bounds.
pub(super) fn merge(original: Object, mut patch: Object, fields: Option<&'static MergeType>) -> Result<Object, Error> {
    if let Some(directive) = patch.shift_remove(DIRECTIVE) {
        return replaced_or_deleted(&directive, patch);
    }
    let mut merged = retained(original, &mut patch)?;
    let Parts { ordered, deletions, mut changes } = parts(patch)?;
    // If a list has an order, its changes are applied here too.
    for (name, order) in &ordered {
        let change = changes.get_mut(name).map(Value::take);
        if let Some(list) = ordered_list(merged.get_mut(name), change, order, name, fields)? {
            merged.insert(name.clone(), list);
        }
    }
    let mut gone = HashSet::new();
    for (name, change) in changes.into_iter().filter(|(name, _)| !ordered.contains_key(name)) {
        match merged_field(merged.get_mut(&name).map(Value::take), change, &name, fields)? {
            Some(value) => drop(merged.insert(name, value)),
            None => drop(gone.insert(name)),
        }
    }
    for (name, deleted) in deletions {
        if let Some(Value::Array(list)) = merged.get_mut(&name) {
            merge_list::delete_scalars(list, &deleted);
        }
    }
    // In one pass: removing single fields in order is quadratic.
    merged.retain(|name, _| !gone.contains(name));
    Ok(merged)
}

/// The part of a patch's value that remains if the original has no such value: no nulls in objects, and no directives.
///
/// `None` if the value itself is a directive.
pub(super) fn cleaned(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) => {
            if fields.contains_key(DIRECTIVE) {
                return None;
            }
            let kept = fields.into_iter().filter(|(name, value)| !value.is_null() && !is_directive(name));
            Some(Value::Object(kept.filter_map(|(name, value)| Some((name, cleaned(value)?))).collect()))
        }
        Value::Array(elements) => Some(Value::Array(elements.into_iter().filter_map(cleaned).collect())),
        scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => Some(scalar),
    }
}

fn replaced_or_deleted(directive: &Value, patch: Object) -> Result<Object, Error> {
    match directive.as_str() {
        Some("replace") => match cleaned(Value::Object(patch)) {
            Some(Value::Object(patch)) => Ok(patch),
            _ => Ok(Object::new()),
        },
        Some("delete") => Ok(Object::new()),
        _ => Err(merge_list::unknown_directive(directive, &patch)),
    }
}

/// `$retainKeys`: removes fields of the original that are not in the list.
fn retained(mut original: Object, patch: &mut Object) -> Result<Object, Error> {
    let Some(keys) = patch.shift_remove(RETAIN_KEYS) else { return Ok(original) };
    let malformed = || Error::bad_request("invalid patch format of retainKeys");
    let Value::Array(keys) = keys else { return Err(malformed()) };
    let keys: BTreeSet<&str> = keys.iter().filter_map(Value::as_str).collect();
    let stray = patch.iter().any(|(name, value)| !value.is_null() && !is_directive(name) && !keys.contains(name.as_str()));
    if stray {
        return Err(malformed());
    }
    original.retain(|name, _| keys.contains(name.as_str()));
    Ok(original)
}

/// The parts of a patch; directives by the name of their list.
#[derive(Default)]
struct Parts {
    ordered: Object,
    deletions: Vec<(String, Vec<Value>)>,
    changes: Object,
}

fn parts(patch: Object) -> Result<Parts, Error> {
    let mut parts = Parts::default();
    for (name, value) in patch {
        if let Some(list) = name.strip_prefix(SET_ELEMENT_ORDER) {
            if !value.is_array() {
                return Err(merge_list::not_a_list(&value));
            }
            parts.ordered.insert(list.to_owned(), value);
        } else if let Some(list) = name.strip_prefix(DELETE_FROM_PRIMITIVE_LIST) {
            // The API server ignores a directive that is not a list.
            if let Value::Array(values) = value {
                parts.deletions.push((list.to_owned(), values));
            }
        } else {
            parts.changes.insert(name, value);
        }
    }
    Ok(parts)
}

fn is_directive(name: &str) -> bool {
    name == RETAIN_KEYS || name.starts_with(SET_ELEMENT_ORDER) || name.starts_with(DELETE_FROM_PRIMITIVE_LIST)
}

/// A list whose order the patch gives; `None` if neither side has the list.
fn ordered_list(
    original: Option<&mut Value>,
    change: Option<Value>,
    order: &Value,
    name: &str,
    fields: Option<&'static MergeType>,
) -> Result<Option<Value>, Error> {
    let original = original.map(Value::take).filter(|value| !value.is_null()).map(merge_list::list_of).transpose()?;
    let change = change.map(merge_list::list_of).transpose()?;
    if original.is_none() && change.is_none() {
        return Ok(None);
    }
    let order = order.as_array().map(Vec::as_slice).unwrap_or_default();
    let field = fields.and_then(|fields| fields.field(name));
    merge_list::merge_ordered(original, change, order, field).map(|list| Some(Value::Array(list)))
}

/// The new value of one field; `None` if it is removed.
fn merged_field(
    original: Option<Value>,
    change: Value,
    name: &str,
    fields: Option<&'static MergeType>,
) -> Result<Option<Value>, Error> {
    let field = fields.and_then(|fields| fields.field(name));
    match (original, change) {
        (_, Value::Null) => Ok(None),
        (Some(Value::Object(original)), Value::Object(patch)) => {
            merge(original, patch, field.and_then(|field| field.of)).map(|object| Some(Value::Object(object)))
        }
        (Some(Value::Array(original)), Value::Array(patch)) => {
            merge_list::merge(original, patch, field).map(|list| Some(Value::Array(list)))
        }
        (_, change) => Ok(cleaned(change)),
    }
}
