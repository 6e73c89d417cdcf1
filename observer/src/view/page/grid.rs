//! The lines of a table.

use std::ops::Range;

use super::cells::filled;
use super::column::{Column, GAP, MARGIN};
use super::line::Line;
use super::row::Cell;
use crate::view::colour::Tone;
use crate::view::table::Align;

/// The headings of the columns in `shown`. A mark precedes the heading of the column by which the rows are sorted: `▾`, or `▴` if
/// the order is reversed.
pub(super) fn headings(columns: &[Column], shown: &[(usize, u16)], sorted: (Option<usize>, bool)) -> Line {
    let (by, reversed) = sorted;
    let mark = if reversed { "▴" } else { "▾" };
    let mut line = Line::default();
    for (place, (index, cells)) in shown.iter().enumerate() {
        let Some(column) = columns.get(*index) else { continue };
        let mark = if by == Some(*index) { mark } else { "" };
        let before = filled(mark, usize::from(if place == 0 { MARGIN } else { GAP }), Align::Right);
        line = line.and(Tone::Plain, &before).and(Tone::Heading, &filled(column.heading, usize::from(*cells), column.align));
    }
    line
}

/// The cells of each heading, with the index of its column. The cells include the gap before the heading.
pub(super) fn spans(shown: &[(usize, u16)]) -> Vec<(usize, Range<u16>)> {
    let mut spans = Vec::new();
    let mut end = 0;
    for (place, (index, cells)) in shown.iter().enumerate() {
        let begin = end;
        end += cells + if place == 0 { MARGIN } else { GAP };
        spans.push((*index, begin..end));
    }
    spans
}

/// The line of a row, with `mark` at its beginning.
pub(super) fn row(columns: &[Column], shown: &[(usize, u16)], values: &[Cell], mark: &str) -> Line {
    let mut line = Line::of(Tone::Plain, &filled(mark, usize::from(MARGIN), Align::Left));
    for (place, (index, cells)) in shown.iter().enumerate() {
        let (Some(column), Some(value)) = (columns.get(*index), values.get(*index)) else { continue };
        let before = if place == 0 { 0 } else { usize::from(GAP) };
        line = line.and(Tone::Plain, &" ".repeat(before)).and(value.tone, &filled(&value.text, usize::from(*cells), column.align));
    }
    line
}
