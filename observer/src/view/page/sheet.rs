//! Lines of text from top to bottom: a detail, or the help.

use observer_core::time::Timestamp;

use super::cells::{printable, width, wrap};
use super::clock::Clock;
use super::column::Column;
use super::grid;
use super::line::Line;
use super::row::Cell;
use super::widths::Widths;
use crate::view::colour::Tone;
use crate::view::quantity;

/// Indent of lines below a heading.
const INDENT: &str = "  ";

/// Width of the label before a fact, in cells.
const LABEL: usize = 15;

/// Text written from top to bottom, and broken at a width.
#[derive(Debug)]
pub(super) struct Sheet<'p> {
    cells: usize,
    lines: Vec<Line>,
    /// The widths of its tables as drawn before.
    widths: Option<&'p Widths>,
    /// The zone of its times; `None` for UTC.
    clock: Option<&'p Clock>,
}

impl<'p> Sheet<'p> {
    /// An empty sheet, `cells` wide.
    pub(super) const fn new(cells: usize) -> Self {
        Self { cells, lines: Vec::new(), widths: None, clock: None }
    }

    /// The same, with tables whose columns keep their widths, and times in the zone of `clock`.
    pub(super) fn with(self, widths: &'p Widths, clock: &'p Clock) -> Self {
        Self { widths: Some(widths), clock: Some(clock), ..self }
    }

    /// `12:00:01.204`, in the zone of the page.
    pub(super) fn time_of_day(&self, at: Timestamp) -> String {
        self.clock.map_or_else(|| quantity::time_of_day(at), |clock| clock.time_of_day(at))
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

    /// Writes the heading of the lines below, and the meaning of the signs in them. Lines break between these phrases.
    pub(super) fn section_with_signs(&mut self, heading: &str, signs: &[&str]) {
        const APART: &str = "  ";
        self.lines.push(Line::default());
        let indent = " ".repeat(width(heading) + APART.len());
        let mut line = heading.to_owned();
        for sign in signs {
            if width(&line) + APART.len() + width(sign) > self.cells && line.len() > indent.len() {
                self.lines.push(Line::of(Tone::Heading, &std::mem::replace(&mut line, indent.clone())));
            } else {
                line.push_str(APART);
            }
            line.push_str(sign);
        }
        self.lines.push(Line::of(Tone::Heading, &line));
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

    /// Writes a table. `name` distinguishes it from the other tables of the sheet.
    pub(super) fn table(&mut self, name: &'static str, columns: &[Column], rows: &[Vec<Cell>]) {
        let total = u16::try_from(self.cells).unwrap_or(u16::MAX);
        let cells = rows.iter().map(Vec::as_slice);
        let shown = self.widths.unwrap_or(&Widths::default()).fit(name, columns, cells, total);
        self.lines.push(grid::headings(columns, &shown, (None, false)));
        self.lines.extend(rows.iter().map(|row| grid::row(columns, &shown, row, "")));
    }

    /// Writes an empty line.
    pub(super) fn skip(&mut self) {
        self.lines.push(Line::default());
    }

    /// All lines written.
    pub(super) fn into_lines(self) -> Vec<Line> {
        self.lines
    }
}
