//! Where the pods of an object are, by kind: in pods, templates of workloads, and lists of them.

use serde_json::Value;

/// The object that makes pods, and its pod: both as JSON pointers into a manifest's object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) object: String,
    /// A node with `metadata` and `spec`.
    pub(super) pod: String,
}

/// The places of all pods in an object, in order.
pub(super) fn places(object: &Value) -> Vec<Place> {
    below(object, "")
}

fn below(object: &Value, at: &str) -> Vec<Place> {
    let kind = object["kind"].as_str().unwrap_or_default();
    if kind.ends_with("List") {
        let items = object["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        return items.iter().enumerate().flat_map(|(number, item)| below(item, &format!("{at}/items/{number}"))).collect();
    }
    let group = object["apiVersion"].as_str().unwrap_or_default().split('/').next().unwrap_or_default();
    let pod = match (group, kind) {
        ("v1", "Pod") => "",
        ("v1", "PodTemplate") => "/template",
        ("batch", "CronJob") => "/spec/jobTemplate/spec/template",
        ("v1", "ReplicationController")
        | ("batch", "Job")
        | ("apps", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet") => "/spec/template",
        _ => return Vec::new(),
    };
    vec![Place { object: at.to_owned(), pod: format!("{at}{pod}") }]
}

/// `Kind/name`, for messages.
pub(super) fn named(object: &Value) -> String {
    let name = &object["metadata"];
    let name = name["name"].as_str().or_else(|| name["generateName"].as_str()).unwrap_or_default();
    format!("{}/{name}", object["kind"].as_str().unwrap_or_default())
}

/// The API path of the collection that an object belongs to.
pub(super) fn collection(object: &Value, namespace: &str) -> String {
    let version = object["apiVersion"].as_str().unwrap();
    let root = if version.contains('/') { "/apis" } else { "/api" };
    let plural = object["kind"].as_str().unwrap().to_lowercase() + "s";
    format!("{root}/{version}/namespaces/{namespace}/{plural}")
}
