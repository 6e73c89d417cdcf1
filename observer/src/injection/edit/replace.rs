//! New values of scalars.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::splice::Edit;
use super::walk::{Obstacle, Pod, obstacle};
use super::yaml_text;
use crate::injection::node::{Kind, Node, Style as Notation};
use crate::injection::parse::parse;
use crate::injection::pointer::Pointer;
use crate::injection::value::value;

/// The bytes of the scalar at this place, and the edit that writes `text` in its place. The notation of the scalar is up to the
/// caller.
pub(in crate::injection) fn replace(pod: &Pod<'_>, at: &Pointer, text: String) -> Result<(String, Edit), Obstacle> {
    let walked = pod.walk(at)?;
    let node = walked.node(at.steps().len()).ok_or_else(|| obstacle(pod.node.line, format!("there is no {at}")))?;
    let Kind::Scalar { style, .. } = &node.kind else {
        return Err(obstacle(node.line, format!("the value at {at} is not text")));
    };
    let was = pod.text.get(node.span.clone()).unwrap_or_default();
    if *style == Notation::Block || was.is_empty() || was.contains('\n') {
        let what = format!("the value at {at} has several lines");
        return Err(Obstacle { remedy: "write it on one line", ..obstacle(node.line, what) });
    }
    Ok((was.to_owned(), Edit { range: node.span.clone(), text, depth: 0 }))
}

/// The edit that writes the bytes of a scalar back. They may come from a manifest in another notation. If they would not be the same
/// value here, it is written as JSON, which is also YAML.
pub(in crate::injection) fn restore(pod: &Pod<'_>, at: &Pointer, was: &str) -> Result<Edit, Obstacle> {
    let (_, mut edit) = replace(pod, at, was.to_owned())?;
    let is_in_flow = pod.walk(at)?.node(at.steps().len().saturating_sub(1)).is_some_and(Node::is_flow);
    let fits = match (pod.is_json, is_in_flow) {
        (true, _) => serde_json::from_str::<IgnoredAny>(was).is_ok(),
        (false, true) => scalar_between("{a: ", was, "}").is_some(),
        (false, false) => true,
    };
    if let (false, Some(value)) = (fits, one_scalar(was)) {
        edit.text = value.to_string();
    }
    Ok(edit)
}

/// A value in the notation of an existing scalar: quotes stay.
pub(in crate::injection) fn written(value: &str, was: &str) -> String {
    if was.starts_with('\'') && !value.contains('\'') && value.chars().all(|character| (' '..='~').contains(&character)) {
        return format!("'{value}'");
    }
    if was.starts_with('"') { Value::from(value).to_string() } else { yaml_text::text(value).into_owned() }
}

/// Whether `text` is a scalar on one line and nothing else, and which value it has.
pub(in crate::injection) fn one_scalar(text: &str) -> Option<Value> {
    scalar_between("a: ", text, "")
}

fn scalar_between(before: &str, text: &str, after: &str) -> Option<Value> {
    let document = format!("{before}{text}{after}");
    let node = parse(&document).ok().flatten().filter(|_| !text.contains(['\n', '\r']))?;
    let [entry] = node.entries() else { return None };
    let is_all = document.get(entry.value.span.clone()) == Some(text) && entry.value.anchor.is_none() && !entry.value.is_tagged;
    entry.value.text().filter(|_| is_all)?;
    value(&entry.value).ok()
}
