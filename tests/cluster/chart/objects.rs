//! The objects that the chart makes.

use std::fs;

use observer_tests::{Helm, chart, objects_as_kubectl_reads_them};
use serde_json::Value;

use super::value_sets::{ValueFiles, ValueSet};

/// The namespace of releases.
pub(super) const NAMESPACE: &str = "watchtap";
/// The name of releases.
pub(super) const NAME: &str = "watchtap";

/// The objects of a release with a set of values, by kind and name. The order of kinds that Helm does not know differs between its releases.
pub(super) fn rendered(helm: &Helm, set: &ValueSet, files: &ValueFiles) -> Vec<Value> {
    let (chart, values) = (chart().display().to_string(), files.of(set).display().to_string());
    let text = helm.run(&["template", NAME, &chart, "--namespace", NAMESPACE, "--values", &values]);
    let mut objects = parsed(&text.unwrap_or_else(|error| panic!("{}: {error:#}", set.name)));
    objects.sort_by_key(named);
    objects
}

/// The objects of a manifest.
pub(super) fn parsed(manifest: &str) -> Vec<Value> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), manifest).unwrap();
    objects_as_kubectl_reads_them(&[file.path().to_owned()]).unwrap().remove(0).unwrap()
}

/// `Kind/name`.
pub(super) fn named(object: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!("{}/{}", word(&object["kind"]), word(&object["metadata"]["name"]))
}

/// The path of the collection that an object belongs to.
pub(super) fn collection(object: &Value) -> String {
    let (version, kind) = (object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap());
    let root = if version.contains('/') { "apis" } else { "api" };
    let lower = kind.to_lowercase();
    let plural = lower.strip_suffix("policy").map_or_else(|| format!("{lower}s"), |stem| format!("{stem}policies"));
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("/{root}/{version}/namespaces/{namespace}/{plural}"),
        None => format!("/{root}/{version}/{plural}"),
    }
}
