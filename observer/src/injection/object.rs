//! Finds the objects of a document, and the pod in each.

use serde_json::Value;

use super::edit::{Obstacle, obstacle};
use super::node::Node;

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

/// Whether objects of this kind are injected.
pub(super) fn is_workload(kind: &str) -> bool {
    WORKLOADS.iter().any(|(_, known, _)| *known == kind)
}

/// An object that has a pod.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) kind: &'static str,
    /// Its places in the lists that contain it.
    items: Vec<usize>,
    way_to_pod: &'static [&'static str],
}

/// All objects of a document that have a pod, in their order, and the number of the other objects.
pub(super) fn objects(document: &Value) -> (Vec<Object>, usize) {
    let mut found = (Vec::new(), 0);
    collect(document, None, &mut Vec::new(), &mut found);
    found
}

fn collect(value: &Value, implied: Option<(&str, &str)>, items: &mut Vec<usize>, found: &mut (Vec<Object>, usize)) {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let Some((group_version, kind)) = text("apiVersion").zip(text("kind")).or(implied) else { return };
    if let (Some(of), Some(Value::Array(list)), true) = (kind.strip_suffix("List"), value.get("items"), items.len() < DEEPEST_LIST)
    {
        let implied = (!of.is_empty()).then_some((group_version, of));
        for (place, item) in list.iter().enumerate() {
            items.push(place);
            collect(item, implied, items, found);
            items.pop();
        }
        return;
    }
    let group = group_version.split_once('/').map_or("", |(group, _version)| group);
    let workload = WORKLOADS.iter().find(|(of, name, _)| *of == group && *name == kind);
    match workload {
        Some((_, kind, way_to_pod)) => found.0.push(Object { kind, items: items.clone(), way_to_pod }),
        None => found.1 += 1,
    }
}

impl Object {
    /// Its value in that of the document.
    pub(super) fn value<'v>(&self, document: &'v Value) -> &'v Value {
        self.items.iter().try_fold(document, |list, place| list.get("items")?.get(place)).unwrap_or(&Value::Null)
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

    /// The tree of the object, and those from the root of the document to the pod.
    pub(super) fn nodes<'n>(&self, root: &'n Node) -> Result<(&'n Node, Vec<&'n Node>), Obstacle> {
        let mut nodes = vec![root];
        let mut node = root;
        for place in &self.items {
            let list = member(node, "items")?;
            node = list.items().get(*place).ok_or_else(|| elsewhere(list, "items"))?;
            nodes.extend([list, node]);
        }
        let object = node;
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
