//! All objects of a cluster, of all namespaces and of none, to compare two moments.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

/// Resources whose objects come and go by themselves.
const CHANGING: [&str; 2] = ["leases", "events"];
/// Members of `metadata` that a server sets for each object.
const OF_SERVER: [&str; 5] = ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"];

/// The objects by their paths, without what only a server sets, and without status.
#[derive(Clone, Debug, Default)]
pub struct AllObjects(BTreeMap<String, Value>);

impl AllObjects {
    /// Reads them. `get` returns the JSON at a path of the API server.
    pub fn read(get: impl Fn(&str) -> Result<Value>) -> Result<Self> {
        let groups = get("/apis")?;
        let groups = groups["groups"].as_array().context("no API groups")?;
        let versions = groups.iter().filter_map(|group| group["preferredVersion"]["groupVersion"].as_str());
        let versions: Vec<String> = versions.map(|version| format!("/apis/{version}")).chain(["/api/v1".to_owned()]).collect();
        let mut objects = BTreeMap::new();
        for version in versions {
            let resources = get(&version)?;
            for resource in resources["resources"].as_array().context("no resources")? {
                let name = resource["name"].as_str().context("a resource has no name")?;
                let can_be_listed = resource["verbs"].as_array().is_some_and(|verbs| verbs.contains(&"list".into()));
                if can_be_listed && !name.contains('/') && !CHANGING.contains(&name) {
                    objects.extend(collection(&version, name, &get(&format!("{version}/{name}"))?));
                }
            }
        }
        Ok(Self(objects))
    }

    /// Number of objects.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether there is an object at this path.
    pub fn contains(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// Takes out the object at this path.
    pub fn take(&mut self, path: &str) -> Option<Value> {
        self.0.remove(path)
    }

    /// Leaves out all objects whose path contains `part`.
    #[must_use]
    pub fn without(mut self, part: &str) -> Self {
        self.0.retain(|path, _| !path.contains(part));
        self
    }

    /// The paths of objects that are only in one of both, or that differ, each with both objects.
    pub fn differences(&self, later: &Self) -> Vec<String> {
        let paths = self.0.keys().chain(later.0.keys().filter(|path| !self.contains(path)));
        let different = paths.filter(|path| self.0.get(*path) != later.0.get(*path));
        let shown = |object: Option<&Value>| object.map_or_else(|| "none".to_owned(), Value::to_string);
        different.map(|path| format!("{path}: {} became {}", shown(self.0.get(path)), shown(later.0.get(path)))).collect()
    }
}

fn collection(version: &str, resource: &str, list: &Value) -> Vec<(String, Value)> {
    let items = list["items"].as_array().into_iter().flatten();
    let named = items.map(|item| {
        let text = |member: &str| item["metadata"][member].as_str().unwrap_or_default();
        let place = item["metadata"]["namespace"].as_str().map(|namespace| format!("namespaces/{namespace}/")).unwrap_or_default();
        (format!("{version}/{place}{resource}/{}", text("name")), settled(item))
    });
    named.collect()
}

fn settled(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(members) = object.as_object_mut() {
        members.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|name, _| !OF_SERVER.contains(&name.as_str()));
    }
    // Each Service gets its own.
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
        spec.retain(|name, _| !["clusterIP", "clusterIPs"].contains(&name.as_str()));
    }
    object
}
