//! The Table itself: of a list, of one object, or of a watch event.

use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::super::accept;
use super::super::resource::Resource;
use super::{cells, columns, field, pod};

/// The part of its object that each row contains: the query parameter `includeObject`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeObject {
    /// The metadata only, as a `PartialObjectMetadata`.
    #[default]
    Metadata,
    /// The complete object.
    Object,
    /// No object.
    None,
}

impl IncludeObject {
    /// Parses the query parameter's value; empty means the default.
    ///
    /// # Errors
    /// The message of the API server's 400 answer.
    pub fn parse(value: &str) -> Result<Self, String> {
        match value {
            "" | "Metadata" => Ok(Self::Metadata),
            "Object" => Ok(Self::Object),
            "None" => Ok(Self::None),
            other => Err(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be 'Metadata', 'Object', 'None', or empty"
            )),
        }
    }
}

/// Whether the first clause of the `Accept` field that can be served requests a Table of `meta.k8s.io/v1`.
///
/// Clauses that request other conversions are skipped, such as `PartialObjectMetadata` or the Table's beta.
#[must_use]
pub fn requested(accept: &str) -> bool {
    let first = accept::clauses(accept).into_iter().filter(accept::Clause::takes_json).find_map(|clause| match clause.target() {
        None => Some(false),
        Some(("meta.k8s.io", "v1", "Table")) => Some(true),
        Some(_) => None,
    });
    first.unwrap_or(false)
}

/// The Table of a list, with one row per item. It keeps the list's revision, continue token and remaining count.
#[must_use]
pub fn of_list(resource: &Resource, list: &Value, include: IncludeObject, now: SystemTime) -> Value {
    let rows: Vec<Value> = field::list(list, "/items").iter().map(|object| row(resource, object, include, now)).collect();
    table(list, &["resourceVersion", "continue", "remainingItemCount"], &definitions(resource), &rows)
}

/// The Table of one object.
#[must_use]
pub fn of_object(resource: &Resource, object: &Value, include: IncludeObject, now: SystemTime) -> Value {
    table(object, &["resourceVersion"], &definitions(resource), &[row(resource, object, include, now)])
}

/// The Table of a watch event after the first. It omits the columns, which are known by then.
#[must_use]
pub fn of_watched(resource: &Resource, object: &Value, include: IncludeObject, now: SystemTime) -> Value {
    table(object, &["resourceVersion"], &Value::Null, &[row(resource, object, include, now)])
}

fn table(source: &Value, kept: &[&str], definitions: &Value, rows: &[Value]) -> Value {
    let metadata = field::map(source, "/metadata").into_iter().flatten().filter(|(name, _)| kept.contains(&name.as_str()));
    let metadata: Map<String, Value> = metadata.map(|(name, value)| (name.clone(), value.clone())).collect();
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": rows,
    })
}

fn definitions(resource: &Resource) -> Value {
    columns::of(resource).iter().map(|column| column.definition()).collect()
}

fn row(resource: &Resource, object: &Value, include: IncludeObject, now: SystemTime) -> Value {
    let mut row = Map::from_iter([("cells".to_owned(), json!(cells::of(resource, object, now)))]);
    if resource.kind == "Pod"
        && let Some(conditions) = pod::row_conditions(object)
    {
        row.insert("conditions".to_owned(), conditions);
    }
    let included = match include {
        IncludeObject::None => Value::Null,
        IncludeObject::Metadata => json!({
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": object["metadata"],
        }),
        IncludeObject::Object => with_kind(resource, object),
    };
    row.insert("object".to_owned(), included);
    Value::Object(row)
}

/// Items of a list have no kind, but need one outside of it.
fn with_kind(resource: &Resource, object: &Value) -> Value {
    let mut whole =
        Map::from_iter([("kind".to_owned(), json!(resource.kind)), ("apiVersion".to_owned(), json!(resource.api_version()))]);
    whole.extend(object.as_object().cloned().unwrap_or_default());
    Value::Object(whole)
}
