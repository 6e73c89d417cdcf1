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
    /// Whether columns that are unknown in each row are left out.
    leaves_out: bool,
}

impl Table {
    pub(super) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new(), leaves_out: false }
    }

    /// A table of a log, which lacks some numbers: columns that are unknown in each row are left out.
    pub(super) fn of_log(self, is_log: bool) -> Self {
        Self { leaves_out: is_log, ..self }
    }

    pub(super) fn row(&mut self, cells: Vec<Cell>, notes: Vec<String>) {
        self.rows.push((cells, notes));
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

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
        self.leaves_out && column > 0 && !self.rows.is_empty() && cells.all(|cell| UNKNOWN.contains(&cell.text.as_str()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_a_log_lacks_are_left_out() {
        let shown = |is_log| {
            let mut table = Table::new(&[("A", Align::Left), ("B", Align::Right), ("C", Align::Right)]).of_log(is_log);
            table.row(["?", "? B", "1"].map(Cell::new).to_vec(), Vec::new());
            table.row(["x", "?", "?"].map(Cell::new).to_vec(), Vec::new());
            let mut out = Printable::new();
            table.render(Colour::Off, &mut out);
            out.into_string()
        };
        assert_eq!(shown(true), "A  C\n?  1\nx  ?\n");
        assert_eq!(shown(false), "A    B  C\n?  ? B  1\nx    ?  ?\n");
    }
}
