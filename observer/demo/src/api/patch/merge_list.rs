//! The part of strategic merge patch for lists: elements by their merge key, and the order of the result.
//!
//! Elements in the patch take the order of the patch (or of its `$setElementOrder`), other elements that of the original. The two
//! are then merged as sorted runs, by their place in the original.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::error::Error;
use super::merge_fields::MergeField;
use super::strategic::{self, DIRECTIVE};

/// Bytes of an element that an error's message quotes.
const MAX_QUOTED: usize = 200;

/// Merges or replaces a list, according to the table of fields. A field that is not in the table is replaced.
pub(super) fn merge(original: Vec<Value>, patch: Vec<Value>, field: Option<&'static MergeField>) -> Result<Vec<Value>, Error> {
    let Some(field) = field.filter(|field| field.merges()) else {
        return Ok(patch.into_iter().filter_map(strategic::cleaned).collect());
    };
    check_alike(&original, &patch)?;
    match field.merge_key {
        Some(key) => merge_objects(original, patch, key, field),
        None => Ok(merge_scalars(original, &patch)),
    }
}

/// Like [`merge`], with an order that the patch gives for its own elements.
pub(super) fn merge_ordered(
    original: Option<Vec<Value>>,
    patch: Option<Vec<Value>>,
    order: &[Value],
    field: Option<&'static MergeField>,
) -> Result<Vec<Value>, Error> {
    let key = Key(field.and_then(|field| field.merge_key));
    check_order(patch.as_deref().unwrap_or_default(), order, key)?;
    let places = places(original.as_deref().unwrap_or_default(), key);
    let merged = match (original, patch) {
        (Some(original), Some(patch)) => merge(original, patch, field)?,
        (Some(original), None) => original,
        (None, patch) => patch.into_iter().flatten().filter_map(strategic::cleaned).collect(),
    };
    in_order(merged, order, &places, key)
}

/// `$deleteFromPrimitiveList`: removes values equal to one of `deleted`.
pub(super) fn delete_scalars(list: &mut Vec<Value>, deleted: &[Value]) {
    let deleted: HashSet<String> = deleted.iter().map(Value::to_string).collect();
    list.retain(|value| !deleted.contains(&value.to_string()));
}

pub(super) fn list_of(value: Value) -> Result<Vec<Value>, Error> {
    match value {
        Value::Array(list) => Ok(list),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => Err(not_a_list(&other)),
    }
}

pub(super) fn not_a_list(value: &Value) -> Error {
    Error::internal(format!("expected a list, but received {}", quoted(value)))
}

pub(super) fn unknown_directive(directive: &Value, of: &Map<String, Value>) -> Error {
    Error::internal(format!("unknown patch type: {} in map: {}", quoted(directive), quoted(of)))
}

/// Either all elements are objects, or none is; and no list contains a list.
fn check_alike(original: &[Value], patch: &[Value]) -> Result<(), Error> {
    let mut all = original.iter().chain(patch);
    let Some(first) = all.next() else { return Ok(()) };
    if first.is_array() {
        return Err(Error::unprocessable("lists of lists are not supported"));
    }
    match all.find(|other| std::mem::discriminant(*other) != std::mem::discriminant(first)) {
        Some(other) => {
            Err(Error::internal(format!("list element types are not identical: {} and {}", quoted(first), quoted(other))))
        }
        None => Ok(()),
    }
}

fn merge_scalars(original: Vec<Value>, patch: &[Value]) -> Vec<Value> {
    let key = Key(None);
    let places = places(&original, key);
    let mut seen = HashSet::new();
    let both = original.into_iter().chain(patch.iter().cloned());
    let merged: Vec<Value> = both.filter(|value| seen.insert(value.to_string())).collect();
    in_order_of(merged, &self::places(patch, key), &places, |value| key.of(value))
}

fn merge_objects(
    original: Vec<Value>,
    patch: Vec<Value>,
    merge_key: &'static str,
    field: &'static MergeField,
) -> Result<Vec<Value>, Error> {
    let key = Key(Some(merge_key));
    let (mut merged, patch) = after_directives(original, patch, merge_key)?;
    let before = places(&merged, key);
    let mut at = before.clone();
    let mut order = HashMap::new();
    for element in patch {
        let (Some(name), Value::Object(change)) = (key.of(&element), element) else {
            return Err(Error::internal("an element of the patch is not an object"));
        };
        let next = order.len();
        order.entry(name.clone()).or_insert(next);
        match at.get(&name).and_then(|place| merged.get_mut(*place)) {
            Some(place) => {
                let Value::Object(found) = place.take() else {
                    return Err(Error::internal("an element of the list is not an object"));
                };
                *place = Value::Object(strategic::merge(found, change, field.of)?);
            }
            None => {
                if let Some(element) = strategic::cleaned(Value::Object(change)) {
                    at.insert(name, merged.len());
                    merged.push(element);
                }
            }
        }
    }
    if let Some(element) = merged.iter().find(|element| key.of(element).is_none()) {
        return Err(no_merge_key(element, merge_key));
    }
    Ok(in_order_of(merged, &order, &before, |element| key.of(element)))
}

/// Carries out `$patch: delete` and `$patch: replace` in a list's patch, and removes them.
fn after_directives(original: Vec<Value>, patch: Vec<Value>, merge_key: &'static str) -> Result<(Vec<Value>, Vec<Value>), Error> {
    let key = Key(Some(merge_key));
    let (mut kept, mut deleted, mut replace) = (Vec::new(), HashSet::new(), false);
    for element in patch {
        let directive = element.get(DIRECTIVE);
        match directive.map(Value::as_str) {
            Some(Some("replace")) => replace = true,
            Some(Some("merge")) => return Err(Error::internal("merging lists cannot yet be specified in the patch")),
            Some(Some("delete")) => {
                deleted.insert(key.of(&element).ok_or_else(|| no_merge_key(&element, merge_key))?);
            }
            Some(_) => {
                let of = element.as_object().cloned().unwrap_or_default();
                return Err(unknown_directive(directive.unwrap_or(&Value::Null), &of));
            }
            None if key.of(&element).is_none() && !replace => return Err(no_merge_key(&element, merge_key)),
            None => kept.push(element),
        }
    }
    let original = if replace { Vec::new() } else { original };
    let left = original.into_iter().filter(|element| key.of(element).is_none_or(|name| !deleted.contains(&name)));
    Ok((left.collect(), kept))
}

fn no_merge_key(element: &Value, merge_key: &str) -> Error {
    Error::internal(format!("map: {} does not contain declared merge key: {merge_key}", quoted(element)))
}

/// The elements of a patch must be in the order that the patch itself gives.
fn check_order(patch: &[Value], order: &[Value], key: Key) -> Result<(), Error> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut order = order.iter().map(|element| key.of(element));
    for element in patch.iter().filter(|element| element.get(DIRECTIVE).is_none()) {
        let name = key.of(element);
        if !order.any(|other| other == name) {
            let message = format!("the order in the patch does not match its $setElementOrder list, at {}", quoted(element));
            return Err(Error::internal(message));
        }
    }
    Ok(())
}

fn in_order(merged: Vec<Value>, order: &[Value], before: &HashMap<String, usize>, key: Key) -> Result<Vec<Value>, Error> {
    if let (Some(merge_key), Some(element)) = (key.0, merged.iter().chain(order).find(|element| key.of(element).is_none())) {
        return Err(no_merge_key(element, merge_key));
    }
    Ok(in_order_of(merged, &places(order, key), before, |element| key.of(element)))
}

/// Sorts the elements in `order` by it, the rest by `before`, and merges the two by `before`.
fn in_order_of(
    merged: Vec<Value>,
    order: &HashMap<String, usize>,
    before: &HashMap<String, usize>,
    name: impl Fn(&Value) -> Option<String>,
) -> Vec<Value> {
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for element in merged {
        let name = name(&element).unwrap_or_default();
        let stood = before.get(&name).copied();
        match order.get(&name) {
            Some(place) => named.push((*place, stood, element)),
            None => others.push((stood.unwrap_or(usize::MAX), stood, element)),
        }
    }
    named.sort_by_key(|(place, ..)| *place);
    others.sort_by_key(|(place, ..)| *place);
    let mut sorted = Vec::with_capacity(named.len() + others.len());
    let (mut named, mut others) = (named.into_iter().peekable(), others.into_iter().peekable());
    while let (Some((_, right, _)), Some((_, left, _))) = (named.peek(), others.peek()) {
        let left_first = matches!((left, right), (Some(left), Some(right)) if left < right);
        let next = if left_first { others.next() } else { named.next() };
        sorted.extend(next.map(|(_, _, element)| element));
    }
    sorted.extend(named.chain(others).map(|(_, _, element)| element));
    sorted
}

/// Identifies an element: by the text of its merge key, or in a list of scalars by its own text.
#[derive(Clone, Copy)]
struct Key(Option<&'static str>);

impl Key {
    fn of(self, element: &Value) -> Option<String> {
        match self.0 {
            Some(key) => element.get(key).map(Value::to_string),
            None => Some(element.to_string()),
        }
    }
}

/// The first place of each element.
fn places(list: &[Value], key: Key) -> HashMap<String, usize> {
    let mut places = HashMap::new();
    for (place, element) in list.iter().enumerate() {
        if let Some(name) = key.of(element) {
            places.entry(name).or_insert(place);
        }
    }
    places
}

fn quoted(value: impl serde::Serialize) -> String {
    let mut text = serde_json::to_string(&value).unwrap_or_default();
    if text.len() > MAX_QUOTED {
        text.truncate(text.floor_char_boundary(MAX_QUOTED));
        text.push('…');
    }
    text
}
