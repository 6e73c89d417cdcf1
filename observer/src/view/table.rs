//! Columns of text.

use std::fmt::Display;

use super::colour::{Colour, Tone};
use crate::printable::Printable;

/// The texts of an unknown number, and of an unknown number of bytes.
const UNKNOWN: [&str; 2] = ["?", "? B"];

/// The alignment of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// A cell with its tone.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    pub(super) fn new(text: impl Display) -> Self {
        Self::toned(text, Tone::Plain)
    }

    pub(super) fn toned(text: impl Display, tone: Tone) -> Self {
        Self { text: text.to_string(), tone }
    }

    /// In characters. Printing replaces unsafe characters one for one, so the width remains.
    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// A table whose columns are as wide as their widest cell. A row may have notes, which are written below it.
#[derive(Debug)]
pub(super) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<(Vec<Cell>, Vec<String>)>,
}

impl Table {
    pub(super) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: Vec<Cell>, notes: Vec<String>) {
        self.rows.push((cells, notes));
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes the table, without the columns that are unknown in each row.
    pub(super) fn render(&self, colour: Colour, out: &mut Printable) {
        let headings: Vec<Cell> = self.columns.iter().map(|(name, _)| Cell::toned(*name, Tone::Heading)).collect();
        let shown: Vec<(usize, usize)> =
            self.widths().into_iter().enumerate().filter(|(column, _)| !self.is_unknown(*column)).collect();
        self.line(&headings, &shown, colour, out);
        for (cells, notes) in &self.rows {
            self.line(cells, &shown, colour, out);
            for note in notes {
                out.push("  ");
                out.append(&colour.paint(Tone::Quiet, note));
                out.end_line();
            }
        }
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |index: usize, name: &str| {
            let cells = self.rows.iter().filter_map(|(cells, _)| cells.get(index)).map(Cell::width);
            cells.chain([name.chars().count()]).max().unwrap_or(0)
        };
        self.columns.iter().enumerate().map(|(index, (name, _))| widest(index, name)).collect()
    }

    fn is_unknown(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|(cells, _)| cells.get(column));
        !self.rows.is_empty() && cells.all(|cell| UNKNOWN.contains(&cell.text.as_str()))
    }

    /// Writes the cells of the columns in `shown`, which has their widths.
    fn line(&self, cells: &[Cell], shown: &[(usize, usize)], colour: Colour, out: &mut Printable) {
        let mut line = Printable::new();
        for (column, width) in shown {
            let (Some(cell), Some((_, align))) = (cells.get(*column), self.columns.get(*column)) else { continue };
            if *column > 0 {
                line.push("  ");
            }
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            let text = colour.paint(cell.tone, &cell.text);
            match align {
                Align::Left => {
                    line.append(&text);
                    line.push(padding);
                }
                Align::Right => {
                    line.push(padding);
                    line.append(&text);
                }
            }
        }
        line.trim_end();
        out.append(&line);
        out.end_line();
    }
}
