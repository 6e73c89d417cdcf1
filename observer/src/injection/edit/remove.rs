//! Removed items: the reverse of [`super::insert`].

use std::collections::BTreeSet;
use std::ops::Range;
use std::ptr;

use serde::de::IgnoredAny;

use super::lines::{end_of_line_before, line_end, line_start};
use super::splice::Edit;
use super::walk::{Obstacle, Pod, obstacle};
use crate::injection::node::{Entry, Kind, Node};
use crate::injection::pointer::Pointer;

/// Items to remove, by collection. In braces and brackets, commas depend on all of them.
pub(in crate::injection) struct Removals<'n> {
    /// Whether comments within the items go with them.
    with_comments: bool,
    collections: Vec<(&'n Node, BTreeSet<usize>)>,
    edits: Vec<Edit>,
}

impl<'n> Removals<'n> {
    pub(in crate::injection) const fn new(with_comments: bool) -> Self {
        Self { with_comments, collections: Vec::new(), edits: Vec::new() }
    }

    /// Removes items of the collection at `to`. If it becomes empty, its last `created` collections go with it, as far as they hold
    /// nothing else; `empty` is the text that replaces a collection without items, from a manifest that may have another notation.
    pub(in crate::injection) fn remove(
        &mut self,
        pod: &Pod<'n>,
        to: &Pointer,
        names: &[&str],
        created: usize,
        empty: Option<&str>,
    ) -> Result<(), Obstacle> {
        let walked = pod.walk(to)?;
        let mut steps = to.steps().len();
        let Some(mut node) = walked.node(steps) else { return Err(obstacle(pod.node.line, format!("there is no {to}"))) };
        let mut removed: BTreeSet<usize> = (0..children(node)).filter(|at| names.contains(&name(node, *at, to))).collect();
        let mut left_to_remove = created;
        while removed.len() == children(node) && steps > 0 {
            let (Some(entry), Some(parent)) = (walked.entry(steps), walked.node(steps - 1)) else { break };
            if left_to_remove == 0 {
                return self.empty(pod, entry, node, parent, empty);
            }
            left_to_remove -= 1;
            steps -= 1;
            removed = (0..children(parent)).filter(|at| parent.entries().get(*at).is_some_and(|one| ptr::eq(one, entry))).collect();
            node = parent;
        }
        match self.collections.iter_mut().find(|(known, _)| ptr::eq(*known, node)) {
            Some((_, known)) => known.extend(removed),
            None => self.collections.push((node, removed)),
        }
        Ok(())
    }

    /// The edits that remove everything.
    pub(in crate::injection) fn edits(&self, pod: &Pod<'_>) -> Result<Vec<Edit>, Obstacle> {
        let mut edits = self.edits.clone();
        for (node, removed) in &self.collections {
            if node.is_flow() {
                edits.extend(runs(removed).into_iter().map(|run| flow_run(node, run)));
            } else {
                for at in removed {
                    edits.push(self.block_child(pod, node, *at)?);
                }
            }
        }
        Ok(edits)
    }

    fn empty(&mut self, pod: &Pod<'_>, entry: &Entry, node: &Node, parent: &Node, was: Option<&str>) -> Result<(), Obstacle> {
        let Some(after_colon) = entry.after_colon else { return Err(obstacle(entry.key.line, "a key has the form `? key`")) };
        let was = was.unwrap_or(if matches!(node.kind, Kind::List { .. }) { " []" } else { " {}" });
        let text = if pod.is_json && serde_json::from_str::<IgnoredAny>(was).is_err() {
            format!("{}null", pod.text.get(after_colon..node.span.start).unwrap_or_default())
        } else if !parent.is_flow() && !was.is_empty() && !was.starts_with(char::is_whitespace) {
            // Only JSON has a value right after its colon.
            format!(" {was}")
        } else {
            was.to_owned()
        };
        if node.is_flow() {
            self.edits.push(Edit { range: after_colon..node.span.end, text, depth: 0 });
            return Ok(());
        }
        self.edits.push(Edit { range: after_colon..after_colon, text, depth: 0 });
        let lines = line_end(pod.text, after_colon)..line_end(pod.text, node.span.end);
        self.edits.push(self.lines(pod, lines, node.line)?);
        Ok(())
    }

    /// The lines of a child in block style. The line break before them goes with them.
    fn block_child(&self, pod: &Pod<'_>, node: &Node, at: usize) -> Result<Edit, Obstacle> {
        let child_bytes = child(node, at);
        let before = pod.text.get(line_start(pod.text, child_bytes.start)..child_bytes.start).unwrap_or_default();
        let is_item = matches!(node.kind, Kind::List { .. });
        let is_alone = if is_item { before.trim_matches(' ') == "-" } else { before.trim_matches(' ').is_empty() };
        if is_alone {
            let Some(start) = end_of_line_before(pod.text, child_bytes.start) else { return Err(not_alone(node)) };
            return self.lines(pod, start..line_end(pod.text, child_bytes.end), node.line);
        }
        // The first key of an item, behind its dash: the next key takes its place.
        if is_item || at + 1 >= children(node) {
            return Err(not_alone(node));
        }
        self.lines(pod, child_bytes.start..child(node, at + 1).start, node.line)
    }

    /// `inject` writes no comments, so one in these bytes came later, and would be lost.
    fn lines(&self, pod: &Pod<'_>, range: Range<usize>, line: usize) -> Result<Edit, Obstacle> {
        let text = pod.text.get(range.clone()).unwrap_or_default();
        let has_comment = text.lines().any(|line| line.trim_start().starts_with('#') || line.contains(" #"));
        let is_record = text.contains(crate::pod_layout::ANNOTATION);
        if has_comment && !is_record && !self.with_comments {
            let what = "there is a comment within the lines that inject added";
            return Err(Obstacle { remedy: "remove the comment", ..obstacle(line, what) });
        }
        Ok(Edit { range, text: String::new(), depth: 0 })
    }
}

fn children(node: &Node) -> usize {
    node.items().len() + node.entries().len()
}

fn name<'n>(node: &'n Node, at: usize, to: &Pointer) -> &'n str {
    let item = node.items().get(at).and_then(|item| item.get(to.naming_member()));
    item.or_else(|| node.entries().get(at).map(|entry| &entry.key)).and_then(Node::text).unwrap_or_default()
}

/// First and last byte of a child.
fn child(node: &Node, at: usize) -> Range<usize> {
    let item = node.items().get(at).map(|item| item.span.clone());
    let entry = || node.entries().get(at).map(|entry| entry.key.span.start..entry.value.span.end);
    item.or_else(entry).unwrap_or_default()
}

/// Neighbours, as first and last place.
fn runs(places: &BTreeSet<usize>) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for place in places {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *place => *last = *place,
            _ => runs.push((*place, *place)),
        }
    }
    runs
}

/// Neighbours in brackets or braces, with the commas that belong to them.
fn flow_run(node: &Node, (first, last): (usize, usize)) -> Edit {
    let range = match (first.checked_sub(1), last + 1 < children(node)) {
        (_, true) => child(node, first).start..child(node, last + 1).start,
        (Some(before), false) => child(node, before).end..child(node, last).end,
        (None, false) => child(node, first).start..child(node, last).end,
    };
    Edit { range, text: String::new(), depth: 0 }
}

fn not_alone(node: &Node) -> Obstacle {
    obstacle(node.line, "an added item shares its line with something else")
}
