//! Field validation: the fields of an object that its type does not have, for `fieldValidation=Strict` and `Warn`.
//!
//! Duplicate fields cannot be detected here, because a parsed object has none. The types are of a newer Kubernetes than the demo
//! follows, so a field added after 1.34 passes.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::super::resource::{Resource, resources};
use super::schemas;

/// Most unknown fields reported, so that the message for a hostile object stays short.
const MAX_TOLD: usize = 20;

static SCHEMAS: LazyLock<Map<String, Value>> = LazyLock::new(|| schemas::used_by(&resources().iter().collect::<Vec<_>>()));

/// Each field that the resource's type does not have, in the API server's words: `unknown field "spec.replica"`; at most 20.
///
/// With `Strict`, kube-apiserver answers 400 with `strict decoding error: ` and these, joined by `, `. With `Warn`, the default, it
/// sends each in a `Warning` header.
#[must_use]
pub fn unknown_fields(resource: &Resource, object: &Value) -> Vec<String> {
    let mut told = Vec::new();
    if let Some(schema) = SCHEMAS.get(&resource.schema()) {
        walk(schema, object, &mut String::new(), &mut told);
    }
    told
}

/// Recurses as deep as the object, whose depth the parser bounds.
fn walk(schema: &Value, value: &Value, path: &mut String, told: &mut Vec<String>) {
    let schema = resolved(schema);
    match value {
        Value::Object(fields) => walk_fields(schema, fields, path, told),
        Value::Array(elements) => {
            let Some(of) = schema.get("items") else { return };
            for (place, element) in elements.iter().enumerate() {
                below(path, &format!("[{place}]"), |path| walk(of, element, path, told));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn walk_fields(schema: &Value, fields: &Map<String, Value>, path: &mut String, told: &mut Vec<String>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let others = schema.get("additionalProperties");
    for (name, value) in fields {
        let segment = if path.is_empty() { name.clone() } else { format!(".{name}") };
        match (properties.and_then(|properties| properties.get(name)).or(others), properties) {
            (Some(schema), _) => below(path, &segment, |path| walk(schema, value, path, told)),
            (None, Some(_)) if told.len() < MAX_TOLD => told.push(format!("unknown field \"{path}{segment}\"")),
            // A type without properties accepts anything, as `managedFields` do.
            (None, _) => {}
        }
    }
}

fn below(path: &mut String, segment: &str, work: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push_str(segment);
    work(path);
    path.truncate(length);
}

/// Follows a reference. A field with attributes of its own wraps its reference in `allOf`.
fn resolved(schema: &Value) -> &Value {
    let reference = schema.get("$ref").or_else(|| schema.pointer("/allOf/0/$ref")).and_then(Value::as_str);
    let name = reference.and_then(|reference| reference.strip_prefix("#/components/schemas/"));
    name.and_then(|name| SCHEMAS.get(name)).unwrap_or(schema)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::find;

    #[test]
    fn fields_that_a_type_does_not_have_are_told_by_their_path() {
        let deployment = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "d", "labels": {"any": "thing"}, "anotations": {}},
            "spec": {
                "replica": 3,
                "template": {"spec": {"containers": [{"name": "a", "resources": {"limits": {"cpu": "1"}}}, {"name": "b", "img": "b:1"}]}},
            },
        });
        let told = unknown_fields(find("apps", "v1", "deployments").unwrap(), &deployment);
        assert_eq!(
            told,
            [
                "unknown field \"metadata.anotations\"",
                "unknown field \"spec.replica\"",
                "unknown field \"spec.template.spec.containers[1].img\""
            ]
        );
    }

    #[test]
    fn free_maps_take_anything() {
        let metadata = json!({"managedFields": [{"manager": "m", "fieldsV1": {"f:data": {"f:k": {}}}}]});
        let configmap = json!({"metadata": metadata, "data": {"a": "1"}, "binaryData": {"b": "eA=="}, "immutable": true});
        assert_eq!(unknown_fields(find("", "v1", "configmaps").unwrap(), &configmap), Vec::<String>::new());
    }

    #[test]
    fn a_hostile_object_makes_no_long_message() {
        let object: Map<String, Value> = (0..10_000).map(|n| (format!("x{n}"), json!({"deep": 1}))).collect();
        assert_eq!(unknown_fields(find("", "v1", "pods").unwrap(), &Value::Object(object)).len(), MAX_TOLD);
    }
}
