//! `/openapi/v3`: one path for each resource, without schemas.
//!
//! From this document, `kubectl create` and `kubectl apply` learn whether the server validates fields; otherwise they validate with
//! schemas themselves. They find the parameter `fieldValidation`, so they send objects without validation.

use serde_json::{Map, Value, json};

use super::answer::{Answer, JSON};
use super::resource::Resource;

/// Answers `/openapi/v3` and the documents in its index; `None` for other paths.
#[must_use]
pub fn answer(path: &str, resources: &[&'static Resource]) -> Option<Answer> {
    let name = path.strip_prefix("/openapi/v3")?.trim_matches('/');
    if name.is_empty() {
        let paths: Map<String, Value> = resources.iter().map(|resource| entry(&resource.root())).collect();
        return Some(Answer::document(JSON, &json!({"paths": paths})));
    }
    let paths: Map<String, Value> =
        resources.iter().filter(|resource| resource.root() == name).map(|resource| operations(resource)).collect();
    // `kubectl explain` needs the empty object `schemas` for a clear error message.
    let document = json!({"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.34.0"}, "paths": paths, "components": {"schemas": {}}});
    (!paths.is_empty()).then(|| Answer::document(JSON, &document))
}

fn entry(root: &str) -> (String, Value) {
    (root.to_owned(), json!({"serverRelativeURL": format!("/openapi/v3/{root}")}))
}

/// The path of an object, with the only operation in which kubectl looks for parameters.
fn operations(resource: &Resource) -> (String, Value) {
    let namespace = if resource.namespaced { "namespaces/{namespace}/" } else { "" };
    let patch = json!({
        "parameters": [{"name": "fieldValidation", "in": "query", "schema": {"type": "string"}}],
        "responses": {},
        "x-kubernetes-group-version-kind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
    });
    (format!("/{}/{namespace}{}/{{name}}", resource.root(), resource.name), json!({"patch": patch}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::resources;

    #[test]
    fn the_index_leads_to_a_document_for_each_version() {
        let all: Vec<&'static Resource> = resources().iter().collect();
        let get = |path: &str| answer(path, &all).map(|answer| serde_json::from_slice::<Value>(&answer.body).unwrap());
        let index = get("/openapi/v3").unwrap();
        assert_eq!(index["paths"].as_object().unwrap().len(), 5);
        for entry in index["paths"].as_object().unwrap().values() {
            assert!(get(entry["serverRelativeURL"].as_str().unwrap()).is_some(), "{entry}");
        }
        let apps = get("/openapi/v3/apis/apps/v1").unwrap();
        let patch = &apps["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
        assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Deployment");
        assert!(get("/openapi/v3/apis/none/v1").is_none() && get("/openapi/v2").is_none());
    }
}
