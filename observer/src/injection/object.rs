//! Finds the objects of a document, and the pod in each.

use serde_json::Value;

use super::edit::{Obstacle, obstacle};
use super::node::Node;
use crate::pod_layout::CONTAINER;

/// Maximum nesting of lists in lists.
const DEEPEST_LIST: usize = 3;

/// Kinds whose objects have a pod or a template of one: the group, the kind, and the way to the pod.
const WORKLOADS: &[(&str, &str, &[&str])] = &[
    ("", "Pod", &[]),
    ("", "PodTemplate", &["template"]),
    ("", "ReplicationController", &["spec", "template"]),
    ("apps", "DaemonSet", &["spec", "template"]),
    ("apps", "Deployment", &["spec", "template"]),
    ("apps", "ReplicaSet", &["spec", "template"]),
    ("apps", "StatefulSet", &["spec", "template"]),
    ("batch", "CronJob", &["spec", "jobTemplate", "spec", "template"]),
    ("batch", "Job", &["spec", "template"]),
    ("extensions", "DaemonSet", &["spec", "template"]),
    ("extensions", "Deployment", &["spec", "template"]),
    ("extensions", "ReplicaSet", &["spec", "template"]),
];

/// Whether objects of this kind are injected. The version does not matter.
pub(super) fn is_workload(api_version: &str, kind: &str) -> bool {
    WORKLOADS.iter().any(|(group, known, _)| *known == kind && *group == group_of(api_version))
}

/// The `apiVersion` that this kind has today, if it is injected.
pub(super) fn api_version_of(kind: &str) -> Option<String> {
    let (group, _, _) = WORKLOADS.iter().find(|(_, known, _)| *known == kind)?;
    Some(if group.is_empty() { "v1".to_owned() } else { format!("{group}/v1") })
}

/// The group of an `apiVersion`, which is empty for core kinds.
fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _version)| group)
}

/// Maximum nesting at which a template of a pod is searched for.
const DEEPEST_TEMPLATE: usize = 16;

/// The objects of a document.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Those that have a pod, in their order.
    pub(super) objects: Vec<Object>,
    /// Those that have a template of a pod, although it is unknown how their kind uses it.
    pub(super) unknown: Vec<Unknown>,
    /// The number of the other objects.
    pub(super) others: usize,
}

/// An object of an unknown kind, such as Rollout of Argo.
#[derive(Clone, Debug)]
pub(super) struct Unknown {
    pub(super) kind: String,
    pub(super) api_version: String,
    /// The names of the containers.
    pub(super) containers: Vec<String>,
    items: Vec<usize>,
}

/// An object that has a pod.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) kind: &'static str,
    /// Its places in the lists that contain it.
    items: Vec<usize>,
    way_to_pod: &'static [&'static str],
}

/// All objects of a document.
pub(super) fn objects(document: &Value) -> Found {
    let mut found = Found::default();
    collect(document, None, &mut Vec::new(), &mut found);
    found
}

fn collect(value: &Value, implied: Option<(&str, &str)>, items: &mut Vec<usize>, found: &mut Found) {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let Some((api_version, kind)) = text("apiVersion").zip(text("kind")).or(implied) else { return };
    if let (Some(of), Some(Value::Array(list)), true) = (kind.strip_suffix("List"), value.get("items"), items.len() < DEEPEST_LIST)
    {
        let implied = (!of.is_empty()).then_some((api_version, of));
        for (place, item) in list.iter().enumerate() {
            items.push(place);
            collect(item, implied, items, found);
            items.pop();
        }
        return;
    }
    let workload = WORKLOADS.iter().find(|(group, known, _)| *group == group_of(api_version) && *known == kind);
    if let Some((_, kind, way_to_pod)) = workload {
        found.objects.push(Object { kind, items: items.clone(), way_to_pod });
        return;
    }
    let mut containers = Vec::new();
    members(value).for_each(|member| collect_containers(member, 0, &mut containers));
    if containers.is_empty() {
        found.others += 1;
    } else {
        let (kind, api_version) = (kind.to_owned(), api_version.to_owned());
        found.unknown.push(Unknown { kind, api_version, containers, items: items.clone() });
    }
}

fn members(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Object(map) => Box::new(map.values()),
        Value::Array(items) => Box::new(items.iter()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Box::new(std::iter::empty()),
    }
}

/// The names of the containers of all templates in a value. A template has a spec with containers that have images.
fn collect_containers(value: &Value, depth: usize, names: &mut Vec<String>) {
    let list = value.get("spec").and_then(|spec| spec.get("containers")).and_then(Value::as_array);
    let containers = list.into_iter().flatten().filter(|container| container.get("image").is_some());
    names.extend(containers.filter_map(|container| container.get("name")?.as_str()).map(str::to_owned));
    if depth < DEEPEST_TEMPLATE {
        members(value).for_each(|member| collect_containers(member, depth + 1, names));
    }
}

/// The object at these places in the lists that contain it.
fn at<'v>(document: &'v Value, items: &[usize]) -> &'v Value {
    items.iter().try_fold(document, |list, place| list.get("items")?.get(place)).unwrap_or(&Value::Null)
}

/// Its tree, and those from the root of the document to it.
fn node_at<'n>(root: &'n Node, items: &[usize]) -> Result<(&'n Node, Vec<&'n Node>), Obstacle> {
    let mut nodes = vec![root];
    let mut node = root;
    for place in items {
        let list = member(node, "items")?;
        node = list.items().get(*place).ok_or_else(|| elsewhere(list, "items"))?;
        nodes.extend([list, node]);
    }
    Ok((node, nodes))
}

impl Unknown {
    pub(super) fn group(&self) -> &str {
        group_of(&self.api_version)
    }

    /// Its value in that of the document.
    pub(super) fn value<'v>(&self, document: &'v Value) -> &'v Value {
        at(document, &self.items)
    }

    /// Its line in the document.
    pub(super) fn line(&self, root: &Node) -> usize {
        node_at(root, &self.items).map_or(1, |(node, _)| node.line)
    }
}

impl Object {
    /// Its value in that of the document.
    pub(super) fn value<'v>(&self, document: &'v Value) -> &'v Value {
        at(document, &self.items)
    }

    /// The value of its pod.
    pub(super) fn pod<'v>(&self, document: &'v Value) -> Option<&'v Value> {
        self.way_to_pod.iter().try_fold(self.value(document), |value, key| value.get(key))
    }

    /// The same, to change it.
    pub(super) fn pod_mut<'v>(&self, document: &'v mut Value) -> Option<&'v mut Value> {
        let object = self.items.iter().try_fold(document, |list, place| list.get_mut("items")?.get_mut(place))?;
        self.way_to_pod.iter().try_fold(object, |value, key| value.get_mut(key))
    }

    /// The names of its containers, without the sidecar.
    pub(super) fn containers(&self, document: &Value) -> Vec<String> {
        let spec = self.pod(document).and_then(|pod| pod.get("spec"));
        let lists = ["initContainers", "containers"].into_iter().filter_map(|list| spec?.get(list)?.as_array());
        let names = lists.flatten().filter_map(|container| container.get("name")?.as_str());
        names.filter(|name| *name != CONTAINER).map(str::to_owned).collect()
    }

    /// The tree of the object, and those from the root of the document to the pod.
    pub(super) fn nodes<'n>(&self, root: &'n Node) -> Result<(&'n Node, Vec<&'n Node>), Obstacle> {
        let (object, mut nodes) = node_at(root, &self.items)?;
        let mut node = object;
        for key in self.way_to_pod {
            node = member(node, key)?;
            nodes.push(node);
        }
        Ok((object, nodes))
    }
}

fn member<'n>(node: &'n Node, key: &str) -> Result<&'n Node, Obstacle> {
    node.get(key).ok_or_else(|| elsewhere(node, key))
}

/// The value has the member, and the text does not.
fn elsewhere(node: &Node, key: &str) -> Obstacle {
    obstacle(node.line, format!("`{key}` comes from an alias (`*name`) or a merge key (`<<`)"))
}
