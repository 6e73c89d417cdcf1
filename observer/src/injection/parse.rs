//! Parses one document of YAML or JSON into a tree with places. JSON is YAML in flow style.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle};

use super::node::{Entry, Kind, Layout, Node, Style};

/// Maximum nesting of collections. Kubernetes' own limit for the nesting of JSON is 10,000, and its schemas nest some ten levels.
const DEEPEST: usize = 100;

/// Text that is not YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub(crate) struct NotYaml {
    /// The line in the parsed text, from 1.
    pub(crate) line: usize,
    what: String,
}

impl NotYaml {
    pub(super) fn too_large(line: usize) -> Self {
        Self { line, what: "its aliases expand without end, or to too many values".to_owned() }
    }

    /// In a document that begins after `lines` other lines of its file.
    pub(super) fn after(self, lines: usize) -> Self {
        Self { line: self.line + lines, ..self }
    }
}

/// A collection whose end has not come yet.
struct Open {
    node: Node,
    key: Option<Node>,
}

/// The tree under construction.
struct Builder<'t> {
    text: &'t str,
    open: Vec<Open>,
    root: Option<Node>,
}

/// Returns the only document of `text`, or `None` if it has no value.
pub(super) fn parse(text: &str) -> Result<Option<Node>, NotYaml> {
    let options = granit_parser::options! { flow_nesting_limit: DEEPEST, block_nesting_limit: DEEPEST };
    let mut builder = Builder { text, open: Vec::new(), root: None };
    let mut documents = 0;
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(|error| NotYaml { line: error.marker().line(), what: error.info() })?;
        documents += usize::from(matches!(event, Event::DocumentStart(..)));
        if documents > 1 {
            return Err(NotYaml { line: span.start.line(), what: "a second document begins in the same one".to_owned() });
        }
        builder.take(event, &span)?;
    }
    Ok(builder.root.filter(|root| !(root.span.is_empty() && root.is_empty())))
}

impl Builder<'_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "comments are events only if another crate of the build wants them")]
    fn take(&mut self, event: Event<'_>, span: &Span) -> Result<(), NotYaml> {
        match event {
            Event::Scalar(value, style, anchor, tag) => {
                let kind = Kind::Scalar { text: scalar_text(&value, span), style: scalar_style(style) };
                let mut node = node(kind, span, anchor, tag.is_some());
                if scalar_style(style) == Style::Block {
                    node.span = self.block_scalar(bytes(span), value.ends_with("\n\n"));
                }
                self.place(node)
            }
            Event::Alias(target) => self.place(node(Kind::Alias(target), span, 0, false)),
            Event::SequenceStart(style, anchor, tag) => {
                let kind = Kind::List { layout: layout(style), items: Vec::new() };
                self.begin(node(kind, span, anchor, tag.is_some()));
                Ok(())
            }
            Event::MappingStart(style, anchor, tag) => {
                let kind = Kind::Map { layout: layout(style), entries: Vec::new() };
                self.begin(node(kind, span, anchor, tag.is_some()));
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            // Markers of streams and documents, and comments.
            _ => Ok(()),
        }
    }

    fn begin(&mut self, node: Node) {
        self.open.push(Open { node, key: None });
    }

    fn end(&mut self, span: &Span) -> Result<(), NotYaml> {
        let Some(Open { mut node, key: None }) = self.open.pop() else { return Err(unbalanced(span)) };
        self.begin_at_dash(&mut node);
        node.span.end = if node.is_flow() { bytes(span).end } else { node.last_end().unwrap_or(node.span.end) };
        self.place(node)
    }

    /// Moves the start of a block list to its first dash. The parser places it there only if the list is indented more than its key.
    fn begin_at_dash(&self, node: &mut Node) {
        let Kind::List { layout: Layout::Block, items } = &node.kind else { return };
        let first = items.first().map_or(node.span.start, |item| item.span.start);
        let Some(before) = self.text.get(..first) else { return };
        // Lines without content may be between a dash and its item.
        for line in before.split('\n').rev() {
            let content = line.split('#').next().unwrap_or_default().trim_end();
            if let Some(column) = dash(content) {
                node.span.start = offset_in(self.text, line) + column;
                node.column = content.get(..column).map_or(column, |before| before.chars().count());
            }
            if !content.is_empty() {
                return;
            }
        }
    }

    /// Adds a complete node to the collection that is open.
    fn place(&mut self, mut node: Node) -> Result<(), NotYaml> {
        let Some(Open { node: parent, key: pending }) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match (&mut parent.kind, pending.take()) {
            (Kind::List { items, .. }, _) => items.push(node),
            (Kind::Map { .. }, None) => *pending = Some(node),
            (Kind::Map { entries, .. }, Some(key)) => {
                let after_colon = after_colon(self.text, key.span.end);
                // The parser places an absent value before the colon.
                if let Some(after) = after_colon.filter(|_| node.span.is_empty()) {
                    node.span = after..after;
                }
                entries.push(Entry { key, value: node, after_colon });
            }
            (Kind::Scalar { .. } | Kind::Alias(_), _) => {
                return Err(NotYaml { line: node.line, what: "a value inside of a scalar".to_owned() });
            }
        }
        Ok(())
    }

    /// The bytes of a block scalar's content, without its last line break. The parser ends them where the next token begins. Empty
    /// lines at the end belong to the content only if they are part of the value.
    fn block_scalar(&self, given: Range<usize>, keeps_empty_lines: bool) -> Range<usize> {
        let content = self.text.get(given.clone()).unwrap_or_default();
        let Some(last_break) = content.rfind('\n') else { return given };
        if !content[last_break + 1..].trim_matches(' ').is_empty() {
            return given;
        }
        let lines = &content[..last_break];
        let kept = if keeps_empty_lines { lines.strip_suffix('\r').unwrap_or(lines) } else { lines.trim_end_matches(['\r', '\n']) };
        given.start..given.start + kept.len()
    }
}

impl Node {
    fn last_end(&self) -> Option<usize> {
        let last_item = self.items().last().map(|item| item.span.end);
        last_item.or_else(|| self.entries().last().map(|entry| entry.value.span.end))
    }
}

fn node(kind: Kind, span: &Span, anchor: usize, is_tagged: bool) -> Node {
    let anchor = (anchor > 0).then_some(anchor);
    Node { kind, span: bytes(span), line: span.start.line(), column: span.start.col(), anchor, is_tagged }
}

fn bytes(span: &Span) -> Range<usize> {
    span.byte_range().unwrap_or_default()
}

/// The place of the last dash of a line without a value, or of the first dash, if an anchor or a tag follows it.
fn dash(content: &str) -> Option<usize> {
    let last = content.strip_suffix('-').filter(|before| before.is_empty() || before.ends_with(' ')).map(str::len);
    let indented = content.trim_start_matches(' ');
    last.or_else(|| indented.starts_with("- ").then(|| content.len() - indented.len()))
}

/// Where a part of a text begins.
fn offset_in(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

/// The parser writes `~` for a value that is absent.
fn scalar_text(value: &str, span: &Span) -> String {
    if bytes(span).is_empty() && value == "~" { String::new() } else { value.to_owned() }
}

const fn scalar_style(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
        ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
    }
}

const fn layout(style: StructureStyle) -> Layout {
    match style {
        StructureStyle::Block => Layout::Block,
        StructureStyle::Flow => Layout::Flow,
    }
}

/// The offset after the colon that follows a key on its line.
fn after_colon(text: &str, key_end: usize) -> Option<usize> {
    let rest = text.get(key_end..)?;
    let after_blanks = rest.trim_start_matches([' ', '\t']);
    after_blanks.starts_with(':').then_some(key_end + rest.len() - after_blanks.len() + 1)
}

fn unbalanced(span: &Span) -> NotYaml {
    NotYaml { line: span.start.line(), what: "a collection ends that has not begun".to_owned() }
}
