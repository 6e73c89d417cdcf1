//! The paths of a resource and their operations. kubectl finds there the kind of a resource, the formats of its patches, and
//! whether the server validates fields.

use serde_json::{Map, Value, json};

use super::super::resource::Resource;

const PATCHES: [&str; 3] =
    ["application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json"];

/// All paths of a resource, with their operations.
pub(super) fn of(resource: &Resource) -> Vec<(String, Value)> {
    let root = if resource.group.is_empty() { "/api" } else { "/apis" };
    let root = format!("{root}/{}", resource.api_version());
    let collection = if resource.namespaced {
        format!("{root}/namespaces/{{namespace}}/{}", resource.name)
    } else {
        format!("{root}/{}", resource.name)
    };
    let object = format!("{collection}/{{name}}");
    let mut paths = vec![
        (collection, operations(resource, &[("get", "list"), ("post", "post"), ("delete", "deletecollection")])),
        (object, operations(resource, &[("get", "get"), ("put", "put"), ("patch", "patch"), ("delete", "delete")])),
    ];
    if resource.namespaced {
        paths.push((format!("{root}/{}", resource.name), operations(resource, &[("get", "list")])));
    }
    paths
}

/// Operations by method. The second word is the name of the action in `x-kubernetes-action`.
fn operations(resource: &Resource, methods: &[(&str, &str)]) -> Value {
    let served = methods.iter().filter(|(_, action)| *action != "deletecollection" || resource.verbs.contains(action));
    let operations: Map<String, Value> =
        served.map(|(method, action)| ((*method).to_owned(), operation(resource, method, action))).collect();
    Value::Object(operations)
}

fn operation(resource: &Resource, method: &str, action: &str) -> Value {
    let object = json!({"schema": {"$ref": format!("#/components/schemas/{}", resource.schema())}});
    let mut operation = json!({
        "operationId": format!("{action}{}{}", resource.group, resource.kind),
        "responses": {"200": {"description": "OK", "content": {"application/json": object}}},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
    });
    if action == "list" {
        operation["responses"]["200"]["content"] = json!({"application/json": {"schema": {"type": "object"}}});
    }
    if matches!(method, "post" | "put" | "patch") {
        operation["parameters"] = ["dryRun", "fieldManager", "fieldValidation"].into_iter().map(parameter).collect();
        let formats: Map<String, Value> = match method {
            "patch" => PATCHES.iter().map(|format| ((*format).to_owned(), json!({"schema": {"type": "object"}}))).collect(),
            _ => Map::from_iter([("application/json".to_owned(), object)]),
        };
        operation["requestBody"] = json!({"required": true, "content": formats});
    }
    operation
}

fn parameter(name: &str) -> Value {
    json!({"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": true}})
}
