//! The `Scale` object of a workload: its wanted and actual replicas, which `kubectl scale` reads and writes.
//!
//! Sources: kubernetes/kubernetes pkg/registry/apps/{deployment,replicaset,statefulset}/storage/storage.go and
//! pkg/apis/autoscaling/validation, v1.34.

use serde_json::{Map, Value, json};

use super::label_selector;
use super::resource::{CORE, Resource};

/// The kind of a scale; it has no path of its own.
pub static SCALE: Resource =
    Resource { group: "autoscaling", name: "scales", singular: "scale", kind: "Scale", verbs: &[], ..CORE };

/// The metadata that a scale has in common with its workload.
const METADATA: &[&str] = &["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];

/// The scale of a workload. A workload without a number of replicas has a real server's default, one.
#[must_use]
pub fn of(workload: &Value) -> Value {
    let metadata: Map<String, Value> =
        METADATA.iter().filter_map(|field| Some(((*field).to_owned(), workload["metadata"].get(*field)?.clone()))).collect();
    let mut spec = Map::new();
    let wanted = workload.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    // A real server also omits a zero in JSON.
    if wanted != 0 {
        spec.insert("replicas".to_owned(), wanted.into());
    }
    let mut status = json!({"replicas": workload.pointer("/status/replicas").and_then(Value::as_i64).unwrap_or(0)});
    let selector = label_selector::text(&workload["spec"]["selector"]);
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    json!({"kind": SCALE.kind, "apiVersion": SCALE.api_version(), "metadata": metadata, "spec": spec, "status": status})
}

/// Returns the replicas that a scale requests, or 0 if it has no number.
///
/// # Errors
/// If the field is not a number of at least zero, the API server's message.
pub fn wanted(scale: &Value) -> Result<i64, String> {
    match scale.pointer("/spec/replicas") {
        None | Some(Value::Null) => Ok(0),
        Some(replicas) => match replicas.as_i64() {
            Some(number) if (0..=i64::from(i32::MAX)).contains(&number) => Ok(number),
            _other => Err(format!("Invalid value: {replicas}: must be greater than or equal to 0")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_has_the_replicas_and_the_selector_of_its_workload() {
        let deployment = json!({
            "metadata": {"name": "d", "namespace": "n", "uid": "u", "resourceVersion": "7", "generation": 3, "labels": {"a": "b"}},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "x"}}},
            "status": {"replicas": 2},
        });
        let expected = json!({
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {"name": "d", "namespace": "n", "uid": "u", "resourceVersion": "7"},
            "spec": {"replicas": 3},
            "status": {"replicas": 2, "selector": "app=x"},
        });
        assert_eq!(of(&deployment), expected);
        assert_eq!(of(&json!({}))["spec"], json!({"replicas": 1}));
        assert_eq!(of(&json!({"spec": {"replicas": 0}}))["spec"], json!({}));
    }

    #[test]
    fn invalid_replica_counts_are_reported() {
        let scale = |replicas: Value| wanted(&json!({"spec": {"replicas": replicas}}));
        assert_eq!((scale(json!(4)), scale(json!(null)), wanted(&json!({}))), (Ok(4), Ok(0), Ok(0)));
        for replicas in [json!(-1), json!("3"), json!(1.5), json!(u64::MAX)] {
            assert!(scale(replicas.clone()).unwrap_err().starts_with(&format!("Invalid value: {replicas}: ")));
        }
    }
}
