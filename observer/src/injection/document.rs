//! One document: its text, its tree and its value.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::edit::{Edit, Obstacle, Pod, Style, line_break, obstacle, splice};
use super::node::{Kind, Node};
use super::object::Object;
use super::outcome::Refusal;
use super::parse::{NotYaml, parse};
use super::record::is_empty;
use super::value::{NoValue, value};

/// A parsed document.
#[derive(Debug)]
pub(super) struct Document<'t> {
    text: &'t str,
    pub(super) root: Node,
    pub(super) value: Value,
    /// The anchors that aliases use.
    shared: BTreeSet<usize>,
    line_break: &'static str,
    /// Whether it is JSON, and not only YAML in braces.
    pub(super) is_json: bool,
    /// Whether its lines end as those of the Mac once did.
    is_of_old_mac: bool,
}

/// The planned change of one object.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) edits: Vec<Edit>,
    /// The value that its pod must have afterwards.
    pub(super) pod: Value,
}

impl<'t> Document<'t> {
    /// `None` if the text has no value, or one that cannot be an object of Kubernetes.
    pub(super) fn read(text: &'t str) -> Result<Option<Self>, NotYaml> {
        let Some(root) = parse(text)? else { return Ok(None) };
        let value = match value(&root) {
            Ok(value) => value,
            Err(NoValue::KeyIsNoScalar(_)) => return Ok(None),
            Err(NoValue::TooLarge) => return Err(NotYaml::too_large(root.line)),
        };
        let mut shared = BTreeSet::new();
        root.visit(&mut |node| {
            if let Kind::Alias(target) = node.kind {
                shared.insert(target);
            }
        });
        let is_of_old_mac = !text.contains('\n') && text.contains('\r');
        let content = text.get(root.span.clone()).filter(|_| root.is_flow());
        let is_json = content.is_some_and(|content| serde_json::from_str::<IgnoredAny>(content).is_ok());
        Ok(Some(Self { text, root, value, shared, line_break: line_break(text), is_json, is_of_old_mac }))
    }

    /// The pod of an object, to be edited, and the style in which to write.
    pub(super) fn pod(&self, object: &Object) -> Result<(Pod<'_>, Style), Obstacle> {
        if self.is_of_old_mac {
            let remedy = "convert them to line feeds";
            return Err(Obstacle { remedy, ..obstacle(1, "the line breaks are carriage returns alone") });
        }
        let (_, nodes) = object.nodes(&self.root)?;
        let node = *nodes.last().unwrap_or(&&self.root);
        if let Some(anchored) = nodes.iter().find(|node| node.anchor.is_some_and(|anchor| self.shared.contains(&anchor))) {
            return Err(obstacle(anchored.line, "the pod is within an anchor (`&name`) that an alias uses"));
        }
        if matches!(node.kind, Kind::Alias(_)) {
            return Err(obstacle(node.line, "the pod is an alias (`*name`)"));
        }
        let value = object.pod(&self.value).unwrap_or(&Value::Null);
        let pod = Pod { text: self.text, node, value, is_json: self.is_json, shared: &self.shared };
        Ok((pod, Style::of(self.text, self.line_break, &self.root, node)))
    }

    /// The text with the planned changes, if it then has exactly the planned value. JSON stays JSON.
    pub(super) fn edited(&self, planned: &[(&Object, Planned)]) -> Option<String> {
        let mut expected = self.value.clone();
        let mut edits = Vec::new();
        for (object, planned) in planned {
            *object.pod_mut(&mut expected)? = planned.pod.clone();
            edits.extend(planned.edits.iter().cloned());
        }
        let text = splice(self.text, edits)?;
        let found = Document::read(&text).ok().flatten()?;
        let is_intended = same(&expected, &found.value) && (found.is_json || !self.is_json);
        is_intended.then_some(text)
    }
}

/// Whether two values mean the same to Kubernetes.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len() && one.iter().all(|(key, value)| other.get(key).is_some_and(|found| same(value, found)))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (one, other) => one == other || (is_empty(one) && is_empty(other)),
    }
}

impl Obstacle {
    /// In a document that begins after `lines` other lines of its file.
    pub(super) fn refusal(&self, lines: usize) -> Refusal {
        Refusal::new(format!("line {}: {}", lines + self.line, self.what), self.remedy)
    }
}
