//! Lines of text from top to bottom: a detail, or the help.

use super::cells::{printable, width, wrap};
use super::line::Line;
use crate::view::colour::Tone;

/// Before everything below a heading.
const INDENT: &str = "  ";

/// Cells of the label before a fact.
const LABEL: usize = 15;

/// Text written from top to bottom, and broken at a width.
#[derive(Debug)]
pub(super) struct Sheet {
    cells: usize,
    lines: Vec<Line>,
}

impl Sheet {
    /// An empty sheet, `cells` wide.
    pub(super) const fn new(cells: usize) -> Self {
        Self { cells, lines: Vec::new() }
    }

    /// Its width in cells.
    pub(super) fn total(&self) -> u16 {
        u16::try_from(self.cells).unwrap_or(u16::MAX)
    }

    /// Writes the title of the sheet.
    pub(super) fn title(&mut self, text: &str) {
        self.hang("", Tone::Heading, text);
    }

    /// Writes the heading of the lines below.
    pub(super) fn section(&mut self, heading: &str) {
        self.lines.push(Line::default());
        self.hang("", Tone::Heading, heading);
    }

    /// Writes a sentence.
    pub(super) fn print(&mut self, tone: Tone, text: &str) {
        self.hang(INDENT, tone, text);
    }

    /// Writes a label and its value.
    pub(super) fn fact(&mut self, label: &str, tone: Tone, text: &str) {
        self.hang(&format!("{INDENT}{label:<LABEL$} "), tone, text);
    }

    /// Writes `text` after `prefix`, with further lines aligned to its beginning.
    pub(super) fn hang(&mut self, prefix: &str, tone: Tone, text: &str) {
        let room = self.cells.saturating_sub(width(prefix)).max(1);
        let mut before = prefix.to_owned();
        for part in wrap(&printable(text), room) {
            self.lines.push(Line::of(Tone::Plain, &before).and(tone, &part));
            before = " ".repeat(width(prefix));
        }
    }

    /// Writes a finished line.
    pub(super) fn line(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// All lines written.
    pub(super) fn into_lines(self) -> Vec<Line> {
        self.lines
    }
}
