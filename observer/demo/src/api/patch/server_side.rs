//! Server-side apply, without schemas: fields are merged, and a manager's fields that it no longer applies are removed.
//!
//! `metadata.managedFields` has one entry for each manager that applied, in the form `FieldsV1` of 1.34
//! (sigs.k8s.io/structured-merge-diff). It differs from a real server's in these ways:
//!
//! - A list is one field, which is replaced. A real server merges lists of some types, such as finalizers and conditions.
//! - Only server-side applies have entries. Creations, updates and other patches own no fields, and do not change entries.
//! - There are no conflicts: a manager that applies a field always takes it over, with or without `force`.
//! - Bodies are JSON, which is also YAML. All clients that were tried send JSON.

use serde_json::{Map, Value, json};

use super::error::Error;

/// The media type of an apply, whose body is JSON here.
pub const MEDIA_TYPE: &str = "application/apply-patch+yaml";

/// The field of `metadata` that lists the owners of fields.
const MANAGED: &str = "managedFields";

/// Metadata that identifies the object, and that no manager owns.
pub(crate) const IDENTITY: &[&str] = &["name", "namespace", "uid", "resourceVersion"];

/// The client that applies.
#[derive(Clone, Copy, Debug)]
pub struct Manager<'m> {
    /// The parameter `fieldManager`.
    pub name: &'m str,
    /// The subresource of the request; empty for the object itself.
    pub subresource: &'m str,
    /// The time of the request, in RFC 3339.
    pub now: &'m str,
}

/// Parses the object that a client applies.
///
/// # Errors
/// 400 if it is not a JSON object or has managed fields of its own, 422 without a field manager.
pub fn parse(manager: &str, body: &[u8]) -> Result<Map<String, Value>, Error> {
    if manager.is_empty() {
        let message = "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch";
        return Err(Error::unprocessable(message));
    }
    let applied: Map<String, Value> = serde_json::from_slice(body)
        .map_err(|error| Error::bad_request(format!("error decoding JSON, the only form that the demo reads: {error}")))?;
    match applied.get("metadata").and_then(|metadata| metadata.get(MANAGED)) {
        None | Some(Value::Null) => Ok(applied),
        Some(_) => Err(Error::bad_request("metadata.managedFields must be nil")),
    }
}

/// Returns the object after `manager` has applied `applied` to it. It is equal to `object` if nothing changes.
#[must_use]
pub fn apply(object: &Map<String, Value>, applied: &Map<String, Value>, manager: Manager<'_>) -> Map<String, Value> {
    let owned = fields(applied);
    let entries = entries(object);
    let (mine, others): (Vec<&Value>, Vec<&Value>) = entries.iter().partition(|entry| is_of(entry, manager));
    let before = mine.first().and_then(|entry| entry.get("fieldsV1")).and_then(Value::as_object);
    let mut merged = object.clone();
    if let Some(before) = before {
        let kept: Vec<&Map<String, Value>> =
            others.iter().filter_map(|entry| entry.get("fieldsV1")?.as_object()).chain([&owned]).collect();
        remove(&mut merged, before, &kept);
    }
    merge(&mut merged, applied);
    let is_same = before == Some(&owned) && merged == *object;
    if !is_same {
        let entry = entry(applied, &owned, manager);
        let entries: Vec<Value> = others.into_iter().cloned().chain([entry]).collect();
        if let Some(metadata) = merged.entry("metadata").or_insert_with(|| json!({})).as_object_mut() {
            metadata.insert(MANAGED.to_owned(), entries.into());
        }
    }
    merged
}

fn entries(object: &Map<String, Value>) -> Vec<Value> {
    let entries = object.get("metadata").and_then(|metadata| metadata.get(MANAGED)).and_then(Value::as_array);
    entries.cloned().unwrap_or_default()
}

fn is_of(entry: &Value, manager: Manager<'_>) -> bool {
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    text("manager") == manager.name && text("subresource") == manager.subresource
}

fn entry(applied: &Map<String, Value>, owned: &Map<String, Value>, manager: Manager<'_>) -> Value {
    let mut entry = json!({
        "manager": manager.name,
        "operation": "Apply",
        "apiVersion": applied.get("apiVersion"),
        "time": manager.now,
        "fieldsType": "FieldsV1",
        "fieldsV1": owned,
    });
    if !manager.subresource.is_empty() {
        entry["subresource"] = manager.subresource.into();
    }
    entry
}

/// The fields of an applied object as `FieldsV1`, without those that identify it.
fn fields(applied: &Map<String, Value>) -> Map<String, Value> {
    let mut applied = applied.clone();
    applied.retain(|name, _| !matches!(name.as_str(), "apiVersion" | "kind"));
    if let Some(metadata) = applied.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|name, _| !IDENTITY.contains(&name.as_str()));
    }
    applied.retain(|name, value| name != "metadata" || value.as_object().is_none_or(|metadata| !metadata.is_empty()));
    below(&applied)
}

/// The fields of one level and of those below. The recursion is as deep as the object, whose depth the parser bounds.
fn below(object: &Map<String, Value>) -> Map<String, Value> {
    let field =
        |(name, value): (&String, &Value)| (format!("f:{name}"), Value::Object(value.as_object().map(below).unwrap_or_default()));
    object.iter().map(field).collect()
}

/// Removes the fields of `before` that are in none of `kept`. An object that becomes empty is removed, too.
fn remove(object: &mut Map<String, Value>, before: &Map<String, Value>, kept: &[&Map<String, Value>]) {
    for (field, inner) in before {
        let name = field.strip_prefix("f:").unwrap_or(field);
        let kept_inner: Vec<&Map<String, Value>> = kept.iter().filter_map(|kept| kept.get(field)?.as_object()).collect();
        let is_leaf = inner.as_object().is_none_or(Map::is_empty);
        let is_gone = match object.get_mut(name) {
            Some(Value::Object(value)) if !is_leaf => {
                remove(value, inner.as_object().unwrap_or(&Map::new()), &kept_inner);
                value.is_empty() && kept_inner.is_empty()
            }
            Some(_) => kept_inner.is_empty(),
            None => false,
        };
        if is_gone {
            object.remove(name);
        }
    }
}

/// Sets the fields of an applied object: objects are merged, everything else is replaced.
fn merge(object: &mut Map<String, Value>, applied: &Map<String, Value>) {
    for (name, value) in applied {
        match (object.get_mut(name), value) {
            (Some(Value::Object(inner)), Value::Object(applied)) => merge(inner, applied),
            _replaced => drop(object.insert(name.clone(), value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn managers_own_applied_fields_and_release_omitted_ones() {
        let empty = Map::new();
        let first =
            applied("a", &empty, &json!({"metadata": {"name": "x", "labels": {"one": "1"}}, "spec": {"a": 1, "both": [1]}}));
        let second = applied("b", &first, &json!({"metadata": {"name": "x"}, "spec": {"b": {"c": 2}, "both": [2]}}));
        assert_eq!(second["spec"], json!({"a": 1, "both": [2], "b": {"c": 2}}));
        assert_eq!(second["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"], json!({"f:labels": {"f:one": {}}}));
        assert_eq!(second["metadata"]["managedFields"][1]["fieldsV1"], json!({"f:spec": {"f:b": {"f:c": {}}, "f:both": {}}}));
        let third = applied("a", &second, &json!({"metadata": {"name": "x"}}));
        assert_eq!(third["spec"], json!({"both": [2], "b": {"c": 2}}));
        assert_eq!(third["metadata"].get("labels"), None);
    }

    #[test]
    fn reapplying_the_same_object_changes_nothing() {
        let body = json!({"metadata": {"name": "x"}, "spec": {"a": {}}});
        let first = applied("a", &Map::new(), &body);
        let later = Manager { name: "a", subresource: "", now: "later" };
        assert_eq!(apply(&first, body.as_object().unwrap(), later), first);
    }

    #[test]
    fn subresource_has_its_own_managed_fields_entry() {
        let first = applied("a", &Map::new(), &json!({"spec": {"a": 1}}));
        let status = Manager { name: "a", subresource: "status", now: "t" };
        let both = apply(&first, json!({"status": {"ready": true}}).as_object().unwrap(), status);
        assert_eq!((&both["spec"], &both["status"]), (&json!({"a": 1}), &json!({"ready": true})));
        assert_eq!(both["metadata"]["managedFields"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn apply_requires_a_manager_and_rejects_managed_fields() {
        assert_eq!(parse("", b"{}").unwrap_err().status, 422);
        assert_eq!(parse("a", b"a: yaml").unwrap_err().status, 400);
        assert_eq!(parse("a", br#"{"metadata": {"managedFields": []}}"#).unwrap_err().status, 400);
        assert!(parse("a", br#"{"metadata": {"managedFields": null}}"#).is_ok());
    }

    fn applied(manager: &str, object: &Map<String, Value>, body: &Value) -> Map<String, Value> {
        apply(object, body.as_object().unwrap(), Manager { name: manager, subresource: "", now: "t" })
    }
}
