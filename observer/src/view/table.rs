//! Columns of text.

use super::colour::{Colour, Tone};

/// On which side a column's cells are filled up.
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
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), tone: Tone::Plain }
    }

    pub(super) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// A table whose columns are as wide as their widest cell; below a row there may be lines that belong to it.
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

    pub(super) fn render(&self, colour: Colour, out: &mut String) {
        let headings: Vec<Cell> = self.columns.iter().map(|(name, _)| Cell::toned(*name, Tone::Heading)).collect();
        let widths = self.widths();
        self.line(&headings, &widths, colour, out);
        for (cells, notes) in &self.rows {
            self.line(cells, &widths, colour, out);
            for note in notes {
                out.push_str("  ");
                out.push_str(&colour.paint(Tone::Quiet, note));
                out.push('\n');
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

    fn line(&self, cells: &[Cell], widths: &[usize], colour: Colour, out: &mut String) {
        let mut line = String::new();
        for (index, ((cell, width), (_, align))) in cells.iter().zip(widths).zip(&self.columns).enumerate() {
            if index > 0 {
                line.push_str("  ");
            }
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            let text = colour.paint(cell.tone, &cell.text);
            match align {
                Align::Left => line.extend([text.as_str(), padding.as_str()]),
                Align::Right => line.extend([padding.as_str(), text.as_str()]),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}
