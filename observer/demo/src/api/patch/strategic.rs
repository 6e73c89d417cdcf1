//! Strategic merge patch without schemas.
//!
//! Objects are merged, and directives are applied (`pkg/util/strategicpatch/patch.go` of k8s.io/apimachinery 1.34). A list is
//! merged only if the patch has a `$setElementOrder` for it. The elements of that directive have one field, the merge key. Clients
//! that compute a patch send it. Any other list is replaced; the API server merges some of these lists, because it has their types.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value};

use super::error::Error;

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList/";
const SET_ELEMENT_ORDER: &str = "$setElementOrder/";

/// A JSON object.
type Object = Map<String, Value>;

/// Merges `patch` into `original`. Recurses as deep as the patch, whose depth the parser bounds.
pub(super) fn merge(mut original: Object, mut patch: Object) -> Result<Object, Error> {
    match patch.remove(DIRECTIVE) {
        None => {}
        Some(Value::String(directive)) if directive == "replace" => return Ok(cleaned_object(patch)),
        Some(Value::String(directive)) if directive == "delete" => return Ok(Object::new()),
        Some(other) => return Err(Error::internal(format!("unknown patch type: {other}"))),
    }
    retain(&mut original, &mut patch)?;
    let (directives, changes): (Object, Object) = patch.into_iter().partition(|(name, _)| is_directive(name));
    let order = |name: &str| directives.get(&format!("{SET_ELEMENT_ORDER}{name}")).and_then(Value::as_array);
    let mut gone = HashSet::new();
    for (name, change) in changes {
        let merged = match (original.get_mut(&name).map(Value::take), change) {
            (_, Value::Null) => None,
            (Some(Value::Object(before)), Value::Object(patch)) => Some(Value::Object(merge(before, patch)?)),
            (Some(Value::Array(before)), Value::Array(patch)) => match order(&name).and_then(|order| Key::of(order)) {
                Some(key) => Some(Value::Array(merge_lists(before, patch, &key)?)),
                None => cleaned(Value::Array(patch)),
            },
            (_, change) => cleaned(change),
        };
        match merged {
            Some(value) => drop(original.insert(name, value)),
            None => drop(gone.insert(name)),
        }
    }
    // All fields are removed in one pass, because removing each one by itself would take quadratic time.
    original.retain(|name, _| !gone.contains(name));
    for (directive, values) in &directives {
        let Value::Array(values) = values else { return Err(Error::internal(format!("{directive} is not a list"))) };
        rearrange(&mut original, directive, values);
    }
    Ok(original)
}

/// Applies a directive to a list that is already merged.
fn rearrange(object: &mut Object, directive: &str, values: &[Value]) {
    if let Some(list) = directive.strip_prefix(DELETE_FROM_PRIMITIVE_LIST)
        && let Some(Value::Array(list)) = object.get_mut(list)
    {
        let deleted: HashSet<String> = values.iter().map(Value::to_string).collect();
        list.retain(|value| !deleted.contains(&value.to_string()));
    }
    if let Some(list) = directive.strip_prefix(SET_ELEMENT_ORDER)
        && let (Some(Value::Array(list)), Some(key)) = (object.get_mut(list), Key::of(values))
    {
        let places: HashMap<String, usize> = values.iter().enumerate().map(|(place, value)| (key.text(value), place)).collect();
        // Elements that are not in the client's list keep their order, and follow the others.
        list.sort_by_key(|element| places.get(&key.text(element)).copied().unwrap_or(usize::MAX));
    }
}

/// `$retainKeys`: removes fields of the original that are not in the list.
fn retain(original: &mut Object, patch: &mut Object) -> Result<(), Error> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let malformed = || Error::bad_request("invalid patch format of retainKeys");
    let Value::Array(keys) = keys else { return Err(malformed()) };
    let keys: BTreeSet<&str> = keys.iter().filter_map(Value::as_str).collect();
    if patch.iter().any(|(name, value)| !value.is_null() && !is_directive(name) && !keys.contains(name.as_str())) {
        return Err(malformed());
    }
    original.retain(|name, _| keys.contains(name.as_str()));
    Ok(())
}

fn is_directive(name: &str) -> bool {
    name.starts_with(SET_ELEMENT_ORDER) || name.starts_with(DELETE_FROM_PRIMITIVE_LIST)
}

/// How the elements of a list are identified.
enum Key {
    /// By the value of one field.
    Field(String),
    /// By the element itself, in a list of scalars.
    Element,
}

impl Key {
    /// Returns the key that a `$setElementOrder` implies, or `None`.
    fn of(order: &[Value]) -> Option<Self> {
        match order.first()? {
            Value::Object(fields) if fields.len() == 1 => fields.keys().next().cloned().map(Self::Field),
            Value::String(_) | Value::Number(_) | Value::Bool(_) => Some(Self::Element),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn text(&self, element: &Value) -> String {
        match self {
            Self::Field(name) => element.get(name).map(Value::to_string).unwrap_or_default(),
            Self::Element => element.to_string(),
        }
    }
}

fn merge_lists(original: Vec<Value>, patch: Vec<Value>, key: &Key) -> Result<Vec<Value>, Error> {
    let is_replaced = patch.iter().any(|element| directive(element) == Some("replace"));
    let mut merged = if is_replaced { Vec::new() } else { original };
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, element) in merged.iter().enumerate() {
        places.entry(key.text(element)).or_insert(place);
    }
    let mut deleted = HashSet::new();
    for element in patch.into_iter().filter(|element| directive(element) != Some("replace")) {
        let name = key.text(&element);
        if let Key::Field(field) = key
            && name.is_empty()
        {
            return Err(Error::internal(format!("an element of a list has no merge key {field}")));
        }
        if directive(&element) == Some("delete") {
            deleted.insert(name);
            continue;
        }
        match (places.get(&name).and_then(|place| merged.get_mut(*place)), element) {
            (Some(place), Value::Object(change)) => {
                let before = place.as_object_mut().map(std::mem::take).unwrap_or_default();
                *place = Value::Object(merge(before, change)?);
            }
            (Some(_), _same_scalar) => {}
            (None, element) => {
                places.insert(name, merged.len());
                merged.extend(cleaned(element));
            }
        }
    }
    merged.retain(|element| !deleted.contains(&key.text(element)));
    Ok(merged)
}

fn directive(element: &Value) -> Option<&str> {
    element.get(DIRECTIVE).and_then(Value::as_str)
}

/// The part of a patch's value that remains if the original has no such value: no nulls in objects, and no directives.
///
/// `None` if the value itself is a directive.
fn cleaned(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => None,
        Value::Object(fields) => Some(Value::Object(cleaned_object(fields))),
        Value::Array(elements) => Some(Value::Array(elements.into_iter().filter_map(cleaned).collect())),
        scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => Some(scalar),
    }
}

fn cleaned_object(fields: Object) -> Object {
    let kept = fields.into_iter().filter(|(name, value)| !value.is_null() && name != RETAIN_KEYS && !is_directive(name));
    kept.filter_map(|(name, value)| Some((name, cleaned(value)?))).collect()
}
