//! The meaning of a tree: JSON values, with aliases and merge keys resolved as kubectl resolves them.
//!
//! kubectl reads YAML with sigs.k8s.io/yaml, whose scalars follow YAML 1.1 (`goyaml.v2/resolve.go`): `yes`, `on` and `off` are
//! booleans, too.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Number, Value};

use super::node::{Entry, Kind, Node, Style, is_null};

/// Maximum number of nodes that all aliases of a document together may expand to.
const MOST_REPLAYED: usize = 100_000;

/// Maximum nesting of values with all aliases expanded.
const DEEPEST: usize = 200;

/// The key that merges another mapping into this one.
const MERGE: &str = "<<";

/// The reason why a tree has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoValue {
    /// Aliases expand to more than [`MOST_REPLAYED`] nodes, or too deeply, or an anchor contains itself.
    TooLarge,
    /// A key is no scalar, on this line.
    KeyIsNoScalar(usize),
}

struct Resolver<'n> {
    anchors: BTreeMap<usize, &'n Node>,
    nodes_left: usize,
    depth: usize,
}

/// Returns the value of a tree.
pub(super) fn value(root: &Node) -> Result<Value, NoValue> {
    let mut anchors = BTreeMap::new();
    let mut nodes = 0;
    root.visit(&mut |node| {
        nodes += 1;
        if let Some(anchor) = node.anchor {
            anchors.insert(anchor, node);
        }
    });
    Resolver { anchors, nodes_left: nodes + MOST_REPLAYED, depth: 0 }.value(root)
}

impl<'n> Resolver<'n> {
    fn value(&mut self, node: &'n Node) -> Result<Value, NoValue> {
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or(NoValue::TooLarge)?;
        if self.depth > DEEPEST {
            return Err(NoValue::TooLarge);
        }
        self.depth += 1;
        let value = self.value_here(node);
        self.depth -= 1;
        value
    }

    fn value_here(&mut self, node: &'n Node) -> Result<Value, NoValue> {
        match &node.kind {
            Kind::Scalar { text, style: Style::Plain } if !node.is_tagged => Ok(plain(text)),
            Kind::Scalar { text, .. } => Ok(Value::String(text.clone())),
            Kind::List { items, .. } => items.iter().map(|item| self.value(item)).collect(),
            Kind::Map { entries, .. } => self.map(entries).map(Value::Object),
            Kind::Alias(target) => {
                let anchored = self.anchors.get(target).copied();
                // An alias inside of its own anchor has no end.
                anchored
                    .filter(|anchored| !anchored.span.contains(&node.span.start))
                    .map_or(Err(NoValue::TooLarge), |anchored| self.value(anchored))
            }
        }
    }

    fn map(&mut self, entries: &'n [Entry]) -> Result<Map<String, Value>, NoValue> {
        let mut map = Map::new();
        let mut merged = Vec::new();
        for Entry { key, value, .. } in entries {
            let name = key.text().ok_or(NoValue::KeyIsNoScalar(key.line))?;
            let value = self.value(value)?;
            if name == MERGE {
                merged.push(value);
            } else {
                map.insert(name.to_owned(), value);
            }
        }
        for (name, value) in merged.into_iter().flat_map(members) {
            map.entry(name).or_insert(value);
        }
        Ok(map)
    }
}

/// The members that `<<` adds: those of a mapping, or of a list of mappings, of which earlier ones win.
fn members(value: Value) -> Vec<(String, Value)> {
    match value {
        Value::Object(map) => map.into_iter().collect(),
        Value::Array(items) => items.into_iter().flat_map(members).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn plain(text: &str) -> Value {
    if is_null(text) {
        return Value::Null;
    }
    match text {
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Value::Bool(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Value::Bool(false),
        _ => {}
    }
    let number = text.parse::<i64>().ok().filter(|number| number.to_string() == text);
    number.map_or_else(|| Value::String(text.to_owned()), |number| Value::Number(Number::from(number)))
}

/// The first key that a mapping has twice, with the line of its second place.
pub(super) fn duplicate_key(root: &Node) -> Option<(&str, usize)> {
    let mut found = None;
    root.visit(&mut |node| found = found.or_else(|| duplicate_in(node.entries())));
    found
}

fn duplicate_in(entries: &[Entry]) -> Option<(&str, usize)> {
    const FEW: usize = 16;
    let names = || entries.iter().filter_map(|entry| Some((entry.key.text()?, entry.key.line)));
    if entries.len() <= FEW {
        return names()
            .enumerate()
            .find(|(place, (name, _))| names().take(*place).any(|(other, _)| other == *name))
            .map(|(_, found)| found);
    }
    let mut seen = BTreeSet::new();
    names().find(|(name, _)| !seen.insert(*name))
}
