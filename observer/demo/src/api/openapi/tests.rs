//! The parts of the documents that kubectl looks for.

use serde_json::{Value, json};

use super::document::{DOCUMENTS, answer};
use super::schemas;
use crate::api::patch::MERGE_TYPES;
use crate::api::{Resource, resources};

#[test]
fn the_index_names_a_document_for_each_group_and_version() {
    let index = answer("/openapi/v3", "").unwrap();
    assert_eq!(index.content_type, "text/plain; charset=utf-8");
    let index: Value = serde_json::from_slice(&index.body).unwrap();
    let paths = index["paths"].as_object().unwrap();
    assert_eq!(paths.keys().collect::<Vec<_>>(), ["api/v1", "apis/apps/v1", "apis/batch/v1", "apis/coordination.k8s.io/v1"]);
    for (name, entry) in paths {
        let url = entry["serverRelativeURL"].as_str().unwrap();
        let (path, hash) = url.split_once("?hash=").unwrap();
        assert_eq!((path, hash.len()), (format!("/openapi/v3/{name}").as_str(), 16));
        assert_eq!(answer(path, "application/json").unwrap().status, 200);
    }
}

#[test]
fn every_reference_leads_somewhere() {
    for name in DOCUMENTS.keys() {
        let document = got(name);
        let schemas = &document["components"]["schemas"];
        let mut references = Vec::new();
        collect_references(&document, &mut references);
        assert!(!references.is_empty());
        for reference in references {
            let schema = reference.strip_prefix("#/components/schemas/").unwrap();
            assert!(schemas.get(schema).is_some(), "{name}: {reference}");
        }
    }
}

#[test]
fn kubectl_finds_kind_and_schema_of_each_resource() {
    for resource in resources() {
        let document = got(&name_of(resource));
        let gvk = json!({"group": resource.group, "version": resource.version, "kind": resource.kind});
        let schema = &document["components"]["schemas"][resource.schema()];
        assert_eq!(schema["x-kubernetes-group-version-kind"], json!([gvk]), "{}", resource.name);
        let paths = document["paths"].as_object().unwrap();
        let patches: Vec<&Value> = paths
            .values()
            .filter_map(|path| path.get("patch"))
            .filter(|patch| patch["x-kubernetes-group-version-kind"] == gvk)
            .collect();
        let [patch] = patches.as_slice() else { panic!("{} has {} patches", resource.name, patches.len()) };
        let parameters = patch["parameters"].as_array().unwrap();
        assert!(parameters.iter().any(|parameter| parameter["name"] == "fieldValidation"), "{}", resource.name);
        assert!(patch["requestBody"]["content"].get("application/strategic-merge-patch+json").is_some());
    }
}

#[test]
fn lists_say_their_merge_keys() {
    let document = got("api/v1");
    let containers = &document["components"]["schemas"]["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"];
    assert_eq!(containers["x-kubernetes-patch-merge-key"], "name");
    assert_eq!(containers["x-kubernetes-patch-strategy"], "merge");
    assert_eq!(containers["items"], json!({"$ref": "#/components/schemas/io.k8s.api.core.v1.Container"}));
    let volumes = &document["components"]["schemas"]["io.k8s.api.core.v1.PodSpec"]["properties"]["volumes"];
    assert_eq!(volumes["x-kubernetes-patch-strategy"], "merge,retainKeys");
}

#[test]
fn every_type_of_the_merge_keys_has_its_schema() {
    let schemas = schemas::used_by(&resources().iter().collect::<Vec<_>>());
    for merge_type in MERGE_TYPES {
        let properties = &schemas[merge_type.schema]["properties"];
        for field in merge_type.fields {
            assert!(properties.get(field.name).is_some(), "{} {}", merge_type.schema, field.name);
        }
    }
}

#[test]
fn protobuf_of_version_3_is_not_acceptable() {
    let protobuf = "application/com.github.proto-openapi.spec.v3@v1.0+protobuf";
    assert_eq!(answer("/openapi/v3/api/v1", protobuf).unwrap().status, 406);
    for path in ["/openapi/v2x", "/openapi/v3x", "/openapi/v3/api", "/openapi", "/openapi/v3/apis/nope/v1"] {
        assert_eq!(answer(path, ""), None, "{path}");
    }
}

#[test]
fn old_kubectls_get_an_empty_document_of_version_2() {
    let kubectl = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let protobuf = answer("/openapi/v2", kubectl).unwrap();
    assert_eq!(protobuf.content_type, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    assert_eq!(&protobuf.body[..], b"\x0a\x032.0");
    let json: Value = serde_json::from_slice(&answer("/openapi/v2", "").unwrap().body).unwrap();
    assert_eq!(json["swagger"], "2.0");
    assert_eq!(answer("/openapi/v2", "text/plain").unwrap().status, 406);
}

fn name_of(resource: &Resource) -> String {
    format!("{}/{}", if resource.group.is_empty() { "api" } else { "apis" }, resource.api_version())
}

#[track_caller]
fn got(name: &str) -> Value {
    serde_json::from_slice(&answer(&format!("/openapi/v3/{name}"), "application/json").unwrap().body).unwrap()
}

fn collect_references<'a>(value: &'a Value, into: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            into.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|value| collect_references(value, into));
        }
        Value::Array(elements) => elements.iter().for_each(|value| collect_references(value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
