//! Lines of text below each other: a detail, or the help.

use super::cells::{printable, width, wrap};
use super::line::Line;
use crate::view::colour::Tone;

/// In front of everything below a heading.
const INDENT: &str = "  ";

/// Cells of the word in front of a fact.
const LABEL: usize = 15;

/// Text that is written from top to bottom, and broken to a width.
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

    /// How wide it is.
    pub(super) fn total(&self) -> u16 {
        u16::try_from(self.cells).unwrap_or(u16::MAX)
    }

    /// What the sheet is about.
    pub(super) fn title(&mut self, text: &str) {
        self.hang("", Tone::Heading, text);
    }

    /// What the lines below are about.
    pub(super) fn section(&mut self, heading: &str) {
        self.lines.push(Line::default());
        self.hang("", Tone::Heading, heading);
    }

    /// A sentence.
    pub(super) fn say(&mut self, tone: Tone, text: &str) {
        self.hang(INDENT, tone, text);
    }

    /// A word, and what is so called.
    pub(super) fn fact(&mut self, label: &str, tone: Tone, text: &str) {
        self.hang(&format!("{INDENT}{label:<LABEL$} "), tone, text);
    }

    /// `text` behind `prefix`, its further lines below its beginning.
    pub(super) fn hang(&mut self, prefix: &str, tone: Tone, text: &str) {
        let room = self.cells.saturating_sub(width(prefix)).max(1);
        let mut before = prefix.to_owned();
        for part in wrap(&printable(text), room) {
            self.lines.push(Line::of(Tone::Plain, &before).and(tone, &part));
            before = " ".repeat(width(prefix));
        }
    }

    /// A line as it is.
    pub(super) fn line(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// All of it.
    pub(super) fn into_lines(self) -> Vec<Line> {
        self.lines
    }
}
