//! New items: edits that add them to a collection, which may be absent or empty.

use serde_json::{Map, Value};

use super::lines::{begins_line, end_of_line_before, line_end};
use super::splice::Edit;
use super::style::{Flow, Style};
use super::walk::{Obstacle, Pod, Walked, obstacle};
use super::{json_text, yaml_text};
use crate::injection::change::{Addition, Place};
use crate::injection::node::{Entry, Kind, Node, Style as Notation};
use crate::injection::pointer::Pointer;

/// The parts of a collection's place that an addition creates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::injection) struct Created {
    /// The number of collections that did not exist: the last ones of the place.
    pub(in crate::injection) collections: usize,
    /// The text of an empty value that the new items replace, from its colon.
    pub(in crate::injection) empty: Option<String>,
}

/// A collection, or the value in it that is missing or empty.
enum Spot<'n> {
    /// The collection exists, and has items.
    Filled(&'n Node, Option<&'n Entry>),
    /// This mapping, the value of this entry, lacks the next step.
    Lacking(&'n Node, Option<&'n Entry>),
    /// The value of this entry of a mapping is empty.
    Empty(&'n Entry, &'n Node),
}

/// The collections that [`insert`] creates on the way to this place.
pub(in crate::injection) fn created(pod: &Pod<'_>, to: &Pointer) -> Result<Created, Obstacle> {
    let walked = pod.walk(to)?;
    let (spot, steps) = spot(&walked, to)?;
    let collections = to.steps().len() - steps;
    let empty = match spot {
        Spot::Filled(..) | Spot::Lacking(..) => None,
        Spot::Empty(entry, _) => {
            let text = pod.text.get(replaced(entry)?).unwrap_or_default();
            if text.contains('#') {
                let remedy = "move the comment to the line above";
                return Err(Obstacle { remedy, ..obstacle(entry.key.line, "a comment is within an empty value") });
            }
            Some(text.to_owned())
        }
    };
    Ok(Created { collections, empty })
}

/// The edits that make an addition.
pub(in crate::injection) fn insert(pod: &Pod<'_>, addition: &Addition, style: &Style) -> Result<Vec<Edit>, Obstacle> {
    let walked = pod.walk(&addition.to)?;
    let (spot, depth) = spot(&walked, &addition.to)?;
    let all_steps = addition.to.steps();
    let missing = all_steps.get(depth..).unwrap_or_default();
    let value =
        missing.iter().rev().fold(addition.collected(), |value, step| Value::Object(Map::from_iter([((*step).to_owned(), value)])));
    match spot {
        Spot::Filled(node, entry) => {
            let place = if addition.is_list() { addition.place } else { Place::Last };
            into(pod, node, entry, &value, place, style, depth)
        }
        Spot::Lacking(node, entry) => into(pod, node, entry, &value, Place::Last, style, depth),
        Spot::Empty(entry, mapping) if mapping.is_flow() => expand_flow(pod, entry, &value, style, depth),
        Spot::Empty(entry, _) => expand(pod, entry, &value, style, depth),
    }
}

/// Where the items go, and the number of steps to there.
fn spot<'n>(walked: &Walked<'n>, to: &Pointer) -> Result<(Spot<'n>, usize), Obstacle> {
    let steps = walked.steps();
    let Some(node) = walked.node(steps) else { return Err(obstacle(0, "there is no pod")) };
    let is_list = steps == to.steps().len() && to.is_list();
    let parent = steps.checked_sub(1).and_then(|before| walked.node(before));
    match (&node.kind, walked.entry(steps).zip(parent)) {
        (_, Some((entry, parent))) if node.is_empty() => Ok((Spot::Empty(entry, parent), steps)),
        (Kind::List { .. }, entry) if is_list => Ok((Spot::Filled(node, entry.map(|(entry, _)| entry)), steps)),
        (Kind::Map { .. }, entry) if steps == to.steps().len() && !is_list => {
            Ok((Spot::Filled(node, entry.map(|(entry, _)| entry)), steps))
        }
        (Kind::Map { .. }, entry) if !is_list && steps < to.steps().len() => {
            Ok((Spot::Lacking(node, entry.map(|(entry, _)| entry)), steps))
        }
        _ => Err(obstacle(node.line, format!("the value at {to} has another type than Kubernetes expects"))),
    }
}

/// Adds the members or items of `value` to a collection that has some.
fn into(
    pod: &Pod<'_>,
    node: &Node,
    entry: Option<&Entry>,
    value: &Value,
    place: Place,
    style: &Style,
    depth: usize,
) -> Result<Vec<Edit>, Obstacle> {
    if node.is_flow() {
        return Ok(into_flow(pod, node, value, place, style, depth));
    }
    let at = match place {
        Place::First => {
            after_key(pod, node, entry).ok_or_else(|| obstacle(node.line, "the list has no key on a line of its own"))?
        }
        Place::Last if ends_in_open_scalar(pod.text, node) => before_last(pod, node)?,
        Place::Last => line_end(pod.text, node.span.end),
    };
    Ok(vec![Edit { range: at..at, text: yaml_text::lines(value, node.column, style), depth }])
}

/// The end of the line of a collection's key, if the collection begins after it.
fn after_key(pod: &Pod<'_>, node: &Node, entry: Option<&Entry>) -> Option<usize> {
    let after_colon = entry.filter(|entry| entry.key.line < node.line)?.after_colon?;
    Some(line_end(pod.text, after_colon))
}

/// A place before the last value, which must stay the last one of the document.
fn before_last(pod: &Pod<'_>, node: &Node) -> Result<usize, Obstacle> {
    let place = match node.entries() {
        [first, _, ..] => Some(line_end(pod.text, first.value.span.end)),
        [only] => end_of_line_before(pod.text, only.key.span.start).filter(|_| begins_line(pod.text, only.key.span.start)),
        [] => None,
    };
    let what = "the document ends within a block scalar (`|` or `>`), without a line break";
    place.ok_or_else(|| obstacle(node.line, what))
}

/// Whether the last value is a block scalar without a final line break, which would be part of its value.
fn ends_in_open_scalar(text: &str, node: &Node) -> bool {
    if node.span.end < text.len() || text.ends_with('\n') {
        return false;
    }
    let mut last = node;
    while let Some(inner) = last.items().last().or_else(|| last.entries().last().map(|entry| &entry.value)) {
        last = inner;
    }
    // Without `-` in its head, the scalar has as many line breaks at its end as the document.
    matches!(&last.kind, Kind::Scalar { style: Notation::Block, text: value } if value.ends_with('\n'))
}

fn into_flow(pod: &Pod<'_>, node: &Node, value: &Value, place: Place, style: &Style, depth: usize) -> Vec<Edit> {
    let starts = node.items().iter().map(|item| item.span.start).chain(node.entries().iter().map(|entry| entry.key.span.start));
    let Some(first) = starts.min() else { return Vec::new() };
    let prefix = style.flow.indentation(pod.text, first);
    let separator = match &style.flow {
        Flow::Lines { .. } if node.line < line_of(node) => format!("{}{prefix}", style.line_break),
        Flow::Lines { .. } | Flow::Yaml => " ".to_owned(),
        Flow::Compact { space } => (*space).to_owned(),
    };
    let parts: Vec<String> = match value {
        Value::Array(items) => items.iter().map(|item| json_text::flow(item, prefix, style)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| json_text::key(key, style) + &json_text::flow(value, prefix, style)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    let (at, text) = match place {
        Place::First => (first, parts.iter().flat_map(|part| [part, ",", &separator]).collect()),
        Place::Last => (last_child_end(node), parts.iter().flat_map(|part| [",", &separator, part]).collect()),
    };
    vec![Edit { range: at..at, text, depth }]
}

/// The line of the first child.
fn line_of(node: &Node) -> usize {
    let item = node.items().first().map(|item| item.line);
    item.or_else(|| node.entries().first().map(|entry| entry.key.line)).unwrap_or(node.line)
}

fn last_child_end(node: &Node) -> usize {
    let item = node.items().last().map(|item| item.span.end);
    item.or_else(|| node.entries().last().map(|entry| entry.value.span.end)).unwrap_or(node.span.end)
}

/// Writes a collection in place of an empty value.
fn expand(pod: &Pod<'_>, entry: &Entry, value: &Value, style: &Style, depth: usize) -> Result<Vec<Edit>, Obstacle> {
    let range = replaced(entry)?;
    let offset = if value.is_array() { style.list_offset } else { style.map_offset };
    let lines = yaml_text::lines(value, entry.key.column + offset, style);
    let at = line_end(pod.text, range.end);
    let items = Edit { range: at..at, text: lines, depth };
    Ok(vec![Edit { range, text: String::new(), depth }, items])
}

/// The same in a mapping in braces.
fn expand_flow(pod: &Pod<'_>, entry: &Entry, value: &Value, style: &Style, depth: usize) -> Result<Vec<Edit>, Obstacle> {
    let range = replaced(entry)?;
    let rendered = json_text::flow(value, style.flow.indentation(pod.text, entry.key.span.start), style);
    let was = pod.text.get(range.clone()).unwrap_or_default();
    let blanks = if was.is_empty() { " " } else { &was[..was.len() - was.trim_start().len()] };
    Ok(vec![Edit { range, text: format!("{blanks}{rendered}"), depth }])
}

/// The bytes of an entry's value, from its colon.
fn replaced(entry: &Entry) -> Result<std::ops::Range<usize>, Obstacle> {
    match entry.after_colon {
        Some(after_colon) if entry.value.anchor.is_none() => Ok(after_colon..entry.value.span.end.max(after_colon)),
        Some(_) => Err(obstacle(entry.key.line, "an empty value has an anchor (`&name`)")),
        None => Err(obstacle(entry.key.line, "a key has the form `? key`")),
    }
}
