//! The way from a pod to one of its values in the text, and the notations that block it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::injection::node::{Entry, Kind, Node};
use crate::injection::pointer::{self, Pointer};

/// A pod in the text, with its value.
#[derive(Clone, Copy, Debug)]
pub(in crate::injection) struct Pod<'n> {
    pub(in crate::injection) text: &'n str,
    pub(in crate::injection) node: &'n Node,
    pub(in crate::injection) value: &'n Value,
    /// Whether the document is JSON, which a plain scalar would break.
    pub(in crate::injection) is_json: bool,
    /// The anchors of the document that an alias uses.
    pub(in crate::injection) shared: &'n BTreeSet<usize>,
}

/// A notation that prevents an edit, on this line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::injection) struct Obstacle {
    pub(in crate::injection) line: usize,
    pub(in crate::injection) what: String,
    pub(in crate::injection) remedy: &'static str,
}

/// The part of the way that exists.
pub(super) struct Walked<'n> {
    /// The pod, and the node after each step that exists.
    nodes: Vec<&'n Node>,
    /// The entry of each step that is a key.
    entries: Vec<Option<&'n Entry>>,
}

impl<'n> Walked<'n> {
    /// The number of steps that exist.
    pub(super) fn steps(&self) -> usize {
        self.entries.len()
    }

    /// The node after this number of steps.
    pub(super) fn node(&self, steps: usize) -> Option<&'n Node> {
        self.nodes.get(steps).copied()
    }

    /// The entry whose value is the node after this number of steps.
    pub(super) fn entry(&self, steps: usize) -> Option<&'n Entry> {
        self.entries.get(steps.checked_sub(1)?).copied().flatten()
    }
}

impl<'n> Pod<'n> {
    /// Follows `place` as far as it exists.
    pub(super) fn walk(&self, place: &Pointer) -> Result<Walked<'n>, Obstacle> {
        let steps = place.steps();
        let mut walked = Walked { nodes: vec![self.node], entries: Vec::new() };
        let (mut node, mut value) = (self.node, self.value);
        let mut at = Pointer::default();
        for step in steps {
            let (child, child_value, entry) = match (&node.kind, value) {
                (Kind::Map { entries, .. }, Value::Object(members)) => match (node.entry(step), members.get(step)) {
                    (Some(entry), Some(value)) => (&entry.value, value, Some(entry)),
                    (None, Some(_)) => {
                        let line = entries.first().map_or(node.line, |entry| entry.key.line);
                        return Err(obstacle(line, format!("`{step}` comes from a merge key (`<<`)")));
                    }
                    (_, None) => return Ok(walked),
                },
                // By the value, because an item's name may be an alias in the text.
                (Kind::List { items, .. }, Value::Array(values)) => {
                    let place = pointer::position(values, at.naming_member(), step);
                    match place.and_then(|place| items.get(place).zip(values.get(place))) {
                        Some((item, value)) => (item, value, None),
                        None => return Ok(walked),
                    }
                }
                _ => return Ok(walked),
            };
            self.admit(child, step)?;
            walked.nodes.push(child);
            walked.entries.push(entry);
            at = at.with(step);
            (node, value) = (child, child_value);
        }
        Ok(walked)
    }

    /// Refuses a node that cannot be edited by itself.
    fn admit(&self, node: &Node, step: &str) -> Result<(), Obstacle> {
        if matches!(node.kind, Kind::Alias(_)) {
            return Err(obstacle(node.line, format!("`{step}` is an alias (`*name`)")));
        }
        if node.anchor.is_some_and(|anchor| self.shared.contains(&anchor)) {
            return Err(obstacle(node.line, format!("`{step}` has an anchor (`&name`) that an alias uses")));
        }
        if node.is_tagged {
            return Err(obstacle(node.line, format!("`{step}` has a tag (`!name`)")));
        }
        Ok(())
    }
}

pub(in crate::injection) fn obstacle(line: usize, what: impl Into<String>) -> Obstacle {
    let remedy = "write this part in block style, without anchors, aliases, merge keys and tags";
    Obstacle { line, what: what.into(), remedy }
}
