//! Splits files into passages: paragraphs, list items, table cells and docstrings.

use super::literals::literals;
use crate::tidy::tree::SourceFile;

/// A paragraph, list item, table cell, docstring or comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// The line at which it begins, counted from 1.
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) kind: Kind,
}

/// The kind of place that contains a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// In a Markdown file, or in the header of a Rust file.
    Document,
    /// Above the item that the line begins.
    Docstring(String),
    /// In a comment within code.
    Comment,
    /// In a string literal of the product.
    Text,
}

pub(super) fn passages(file: &SourceFile) -> Vec<Passage> {
    if file.is_markdown() { markdown(&file.text) } else { rust(&file.text).into_iter().chain(literals(file)).collect() }
}

fn markdown(text: &str) -> Vec<Passage> {
    let mut collector = Collector::default();
    for (line, text) in (1..).zip(text.lines()) {
        collector.line(line, text.trim(), &Kind::Document);
    }
    collector.finish(None)
}

fn rust(text: &str) -> Vec<Passage> {
    let lines: Vec<&str> = text.lines().collect();
    let mut collector = Collector::default();
    let mut before = None;
    for (index, line) in lines.iter().enumerate() {
        let comment = comment(line);
        if comment.map(|(marker, _)| marker) != before {
            collector.close(&lines[index..]);
        }
        before = comment.map(|(marker, _)| marker);
        if let Some((marker, text)) = comment {
            let kind = match marker {
                "///" => Kind::Docstring(String::new()),
                "//!" => Kind::Document,
                _ => Kind::Comment,
            };
            collector.line(index + 1, text.trim(), &kind);
        }
    }
    collector.finish(Some(&[]))
}

/// The marker and the text of a line that is a comment.
fn comment(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    ["///", "//!", "//"].into_iter().find_map(|marker| line.strip_prefix(marker).map(|text| (marker, text)))
}

#[derive(Default)]
struct Collector {
    found: Vec<Passage>,
    /// Index of the first passage whose item is not known yet.
    closed: usize,
    open: Option<Passage>,
    in_code: bool,
}

impl Collector {
    fn line(&mut self, line: usize, text: &str, kind: &Kind) {
        if text.starts_with("```") {
            self.flush();
            self.in_code = !self.in_code;
        } else if self.in_code || text.is_empty() || text.starts_with("<!--") {
            self.flush();
        } else if let Some(cells) = text.strip_prefix('|') {
            self.flush();
            for cell in cells.replace("\\|", " ").trim_end_matches('|').split('|') {
                self.found.push(Passage { line, text: cell.trim().to_owned(), kind: kind.clone() });
            }
        } else if let Some(text) = without_marker(text) {
            self.flush();
            self.open = Some(Passage { line, text: text.to_owned(), kind: kind.clone() });
        } else if text.starts_with('#') {
            self.flush();
            let text = text.trim_start_matches('#').trim().to_owned();
            self.found.push(Passage { line, text, kind: kind.clone() });
        } else if let Some(open) = &mut self.open {
            open.text.push(' ');
            open.text.push_str(text);
        } else {
            self.open = Some(Passage { line, text: text.to_owned(), kind: kind.clone() });
        }
    }

    fn flush(&mut self) {
        self.found.extend(self.open.take());
    }

    /// Ends a block of comments. `after` are the lines that follow it.
    fn close(&mut self, after: &[&str]) {
        self.flush();
        self.in_code = false;
        let item = after.iter().map(|line| line.trim()).find(|line| !line.starts_with("#[")).unwrap_or_default();
        for passage in self.found.iter_mut().skip(self.closed) {
            if let Kind::Docstring(above) = &mut passage.kind {
                item.clone_into(above);
            }
        }
        self.closed = self.found.len();
    }

    fn finish(mut self, after: Option<&[&str]>) -> Vec<Passage> {
        self.close(after.unwrap_or_default());
        self.found
    }
}

/// The text of a list item, without its marker.
fn without_marker(text: &str) -> Option<&str> {
    let bullet = text.strip_prefix("- ").or_else(|| text.strip_prefix("* "));
    bullet.or_else(|| text.split_once(". ").filter(|(number, _)| number.parse::<u8>().is_ok()).map(|(_, text)| text))
}

#[test]
fn markdown_is_split_into_paragraphs_items_and_cells() {
    let text = "# Head\n\nOne\nand more.\n- an item\n  of two lines\n\n```sh\nrun it\n```\n| a | b |\n";
    let found: Vec<(usize, String)> =
        passages(&SourceFile::new("a.md", text)).into_iter().map(|passage| (passage.line, passage.text)).collect();
    let expected = [(1, "Head"), (3, "One and more."), (5, "an item of two lines"), (11, "a"), (11, "b")];
    assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
}

#[test]
fn docstrings_carry_their_item_and_comments_are_separate() {
    let text = "//! The file.\n\n/// A\n/// b.\n#[derive(Debug)]\nstruct C;\nfn d() {\n    // e\n}\n";
    let found: Vec<(usize, Kind)> =
        passages(&SourceFile::new("a.rs", text)).into_iter().map(|passage| (passage.line, passage.kind)).collect();
    assert_eq!(found, [(1, Kind::Document), (3, Kind::Docstring("struct C;".to_owned())), (8, Kind::Comment)]);
}
