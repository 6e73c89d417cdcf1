//! The style of a document: how it indents, how it breaks lines, and whether it is JSON.

use super::lines;
use crate::injection::node::Node;

/// The style that new text follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::injection) struct Style {
    pub(super) line_break: &'static str,
    /// Spaces before the dashes of a list, counted from its key.
    pub(super) list_offset: usize,
    /// Spaces before the keys of a mapping, counted from its key.
    pub(super) map_offset: usize,
    /// The style of flow collections.
    pub(super) flow: Flow,
}

/// The style of collections in brackets and braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// Within block style: `{name: a, value: "1"}`.
    Yaml,
    /// JSON on one line, with or without a space after commas and colons.
    Compact { space: &'static str },
    /// JSON with a line for each value, indented by this text.
    Lines { unit: String },
}

impl Style {
    /// The style of a document with these line breaks, as its pod shows it.
    pub(in crate::injection) fn of(text: &str, line_break: &'static str, root: &Node, pod: &Node) -> Self {
        let offset = |node: &Node, key: &str, ordinary: usize| {
            let entry = node.entry(key).filter(|entry| entry.value.line > entry.key.line);
            entry.map_or(ordinary, |entry| entry.value.column.saturating_sub(entry.key.column))
        };
        Self {
            line_break,
            list_offset: pod.get("spec").map_or(0, |spec| offset(spec, "containers", 0)),
            map_offset: offset(pod, "spec", 2).max(1),
            flow: if root.is_flow() { json_style(text, root) } else { Flow::Yaml },
        }
    }
}

impl Flow {
    /// The white space before a value in lines. It is not needed in other styles, whose lines may have megabytes.
    pub(super) fn indentation<'t>(&self, text: &'t str, at: usize) -> &'t str {
        match self {
            Self::Lines { .. } => lines::indentation(text, at),
            Self::Yaml | Self::Compact { .. } => "",
        }
    }
}

fn json_style(text: &str, root: &Node) -> Flow {
    let Some(first) = root.entries().first() else { return Flow::Compact { space: " " } };
    if first.key.line > root.line {
        let (outer, inner) = (lines::indentation(text, root.span.start), lines::indentation(text, first.key.span.start));
        return Flow::Lines { unit: inner.strip_prefix(outer).unwrap_or(inner).to_owned() };
    }
    let after_colon = first.after_colon.and_then(|after| text.get(after..)).unwrap_or_default();
    Flow::Compact { space: if after_colon.starts_with(' ') { " " } else { "" } }
}
