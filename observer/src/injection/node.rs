//! A YAML or JSON document as a tree whose nodes know their place in the text.

use std::ops::Range;

/// One value of a document.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Its bytes, without anchor and tag. A block collection ends where its last value ends.
    pub(super) span: Range<usize>,
    /// The line in the document, from 1.
    pub(super) line: usize,
    /// The column of its first character, from 0.
    pub(super) column: usize,
    /// The identifier of its anchor (`&name`).
    pub(super) anchor: Option<usize>,
    /// Whether it has a tag (`!name`).
    pub(super) is_tagged: bool,
}

/// A scalar, a collection or an alias.
#[derive(Debug)]
pub(super) enum Kind {
    Scalar {
        text: String,
        style: Style,
    },
    List {
        layout: Layout,
        items: Vec<Node>,
    },
    Map {
        layout: Layout,
        entries: Vec<Entry>,
    },
    /// `*name`, with the identifier of the anchor.
    Alias(usize),
}

/// The notation of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Without quotes; its type follows from its text.
    Plain,
    Quoted,
    /// `|` or `>`.
    Block,
}

/// The notation of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// By indentation.
    Block,
    /// With brackets or braces, as in JSON.
    Flow,
}

/// A key and its value.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Node,
    pub(super) value: Node,
    /// The offset after the colon; `None` if the key is written in the form `? key`.
    pub(super) after_colon: Option<usize>,
}

impl Node {
    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            Kind::List { .. } | Kind::Map { .. } | Kind::Alias(_) => None,
        }
    }

    /// The entries of a mapping.
    pub(super) fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Map { entries, .. } => entries,
            Kind::Scalar { .. } | Kind::List { .. } | Kind::Alias(_) => &[],
        }
    }

    /// The items of a list.
    pub(super) fn items(&self) -> &[Self] {
        match &self.kind {
            Kind::List { items, .. } => items,
            Kind::Scalar { .. } | Kind::Map { .. } | Kind::Alias(_) => &[],
        }
    }

    /// The entry of a mapping with this key.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key.text() == Some(key))
    }

    /// The value of a mapping's entry.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Whether it is null, `[]` or `{}`.
    pub(super) fn is_empty(&self) -> bool {
        match &self.kind {
            Kind::Scalar { text, style } => *style == Style::Plain && is_null(text),
            Kind::List { items, .. } => items.is_empty(),
            Kind::Map { entries, .. } => entries.is_empty(),
            Kind::Alias(_) => false,
        }
    }

    /// Whether it is a collection in brackets or braces.
    pub(super) fn is_flow(&self) -> bool {
        matches!(self.kind, Kind::List { layout: Layout::Flow, .. } | Kind::Map { layout: Layout::Flow, .. })
    }

    /// All nodes of the tree, this one first.
    pub(super) fn visit<'n>(&'n self, visitor: &mut impl FnMut(&'n Self)) {
        visitor(self);
        for item in self.items() {
            item.visit(visitor);
        }
        for entry in self.entries() {
            entry.key.visit(visitor);
            entry.value.visit(visitor);
        }
    }
}

/// Whether a plain scalar stands for null.
pub(super) fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}
