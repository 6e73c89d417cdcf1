//! The columns of a table, and the cells that each of them gets.

use super::filter_key::NumberKey;
use crate::view::table::Align;

/// Cells before the first column, for the mark of the selected row.
pub(super) const MARGIN: u16 = 2;

/// Cells between two columns.
pub(super) const GAP: u16 = 2;

/// From this rank on, a column is of little worth.
const EXTRA: u8 = 4;

/// How many units of a column make one second, or one event per second.
pub(super) const NANOSECONDS: u64 = 1_000_000_000;
pub(super) const MICROSECONDS: u64 = 1_000_000;
pub(super) const THOUSANDTHS: u64 = 1_000;

/// A column. Its width follows from its content; without room, columns of less worth vanish first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub heading: &'static str,
    pub align: Align,
    /// Its place among the columns of the table by worth: 0 vanishes last.
    rank: u8,
    /// Cells that its text may be cut to, to make room for columns of less worth; `None` if it is never cut.
    least: Option<u16>,
    /// The name of its numbers in filters, and how many of its units make one count, byte or second.
    number: Option<(NumberKey, u64)>,
}

impl Column {
    /// A column of words of any length. To show further columns, it may be cut to `least` cells.
    pub(super) const fn words(heading: &'static str, least: u16) -> Self {
        Self { heading, align: Align::Left, rank: 0, least: Some(least), number: None }
    }

    /// A column of short words, which are never cut.
    pub(super) const fn word(heading: &'static str) -> Self {
        Self { heading, align: Align::Left, rank: 0, least: None, number: None }
    }

    /// A column of numbers with a unit. They are never cut: half a number would be another number.
    pub(super) const fn number(heading: &'static str) -> Self {
        Self { heading, align: Align::Right, rank: 0, least: None, number: None }
    }

    /// Sets its place by worth; the column with the highest rank vanishes first.
    pub(super) const fn rank(self, rank: u8) -> Self {
        Self { rank, ..self }
    }

    /// Lets filters compare its numbers, which are counts or bytes.
    pub(super) const fn counts(self, key: NumberKey) -> Self {
        self.measures(key, 1)
    }

    /// Lets filters compare its numbers. `per_one` of its units make one count or second.
    pub(super) const fn measures(self, key: NumberKey, per_one: u64) -> Self {
        Self { number: Some((key, per_one)), ..self }
    }

    /// Whether filters compare its numbers under the name `key`.
    pub(super) fn has(&self, key: NumberKey) -> bool {
        self.per_one(key).is_some()
    }

    /// How many of its units make one count, byte or second; `None` if `key` is not the name of its numbers.
    pub(super) fn per_one(&self, key: NumberKey) -> Option<u64> {
        self.number.filter(|(own, _)| *own == key).map(|(_, per_one)| per_one)
    }

    /// The minimum width at which it is shown, if its content needs `needed` cells.
    fn floor(&self, needed: u16) -> u16 {
        self.least.map_or(needed, |least| needed.min(least))
    }

    /// The minimum width that it must have before a column of little worth is shown.
    fn readable(&self, needed: u16) -> u16 {
        self.least.map_or(needed, |least| needed.min(least.saturating_mul(2)))
    }

    /// Whether it is of little worth, so that it comes only after the others are readable.
    const fn is_extra(&self) -> bool {
        self.rank >= EXTRA
    }
}

/// The columns for which `total` cells have room, from left to right, each with its width. `needs` are the cells of each column's
/// longest text. A column keeps the width that it has in `before` (0: not shown), while there is room.
pub(super) fn fitted(columns: &[Column], needs: &[u16], before: &[u16], total: u16) -> Vec<(usize, u16)> {
    let need = |index: usize| needs.get(index).copied().unwrap_or(0);
    let room = total.saturating_sub(MARGIN);
    let mut shown = chosen(columns, need, room);
    let mut left = room.saturating_sub(taken(&shown));
    if let [(_, only)] = &mut shown[..] {
        *only = (*only).min(room);
    }
    for (index, width) in &mut shown {
        let had = before.get(*index).copied().unwrap_or(0).min(need(*index));
        let more = had.saturating_sub(*width).min(left);
        (*width, left) = (*width + more, left - more);
    }
    fill(&mut shown, need, left);
    shown.sort_unstable();
    shown
}

/// The columns to show in `room` cells, the most valuable first, each with its smallest width.
fn chosen(columns: &[Column], need: impl Fn(usize) -> u16, room: u16) -> Vec<(usize, u16)> {
    let mut shown: Vec<(usize, u16)> = Vec::new();
    for index in by_worth(columns) {
        let Some(column) = columns.get(index) else { continue };
        shown.push((index, column.floor(need(index))));
        let readable = |(index, _): &(usize, u16)| (*index, columns.get(*index).map_or(0, |own| own.readable(need(*index))));
        let needed = if column.is_extra() { taken(&shown.iter().map(readable).collect::<Vec<_>>()) } else { taken(&shown) };
        if needed > room && shown.len() > 1 {
            shown.pop();
            break;
        }
    }
    shown
}

/// The cells of columns and the gaps between them.
fn taken(shown: &[(usize, u16)]) -> u16 {
    let gaps = GAP * u16::try_from(shown.len().saturating_sub(1)).unwrap_or(0);
    shown.iter().fold(gaps, |sum, (_, width)| sum.saturating_add(*width))
}

/// The indices of columns, the most valuable first.
fn by_worth(columns: &[Column]) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..columns.len()).collect();
    indices.sort_by_key(|index| columns.get(*index).map(|column| column.rank));
    indices
}

/// Distributes the remaining cells over the columns whose text is cut, one cell at a time.
fn fill(shown: &mut [(usize, u16)], need: impl Fn(usize) -> u16, mut left: u16) {
    while left > 0 {
        let before = left;
        for (index, width) in shown.iter_mut() {
            if *width < need(*index) && left > 0 {
                (*width, left) = (*width + 1, left - 1);
            }
        }
        if left == before {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 4] = [
        Column::words("CLIENT", 10),
        Column::words("SCOPE", 8).rank(3),
        Column::number("N").rank(1),
        Column::words("EVIDENCE", 12).rank(2),
    ];

    #[test]
    fn columns_get_what_their_text_needs_and_no_more() {
        assert_eq!(fitted(&COLUMNS, &[18, 14, 5, 30], &[], 200), [(0, 18), (1, 14), (2, 5), (3, 30)]);
    }

    #[test]
    fn least_valuable_columns_vanish_first() {
        let shown = |total| fitted(&COLUMNS, &[18, 14, 5, 30], &[], total).into_iter().map(|(index, _)| index).collect::<Vec<_>>();
        assert_eq!(shown(43), [0, 1, 2, 3]);
        assert_eq!(shown(42), [0, 2, 3]);
        assert_eq!(shown(33), [0, 2, 3]);
        assert_eq!(shown(32), [0, 2]);
        assert_eq!(shown(18), [0]);
    }

    #[test]
    fn empty_cells_go_to_the_columns_that_are_cut() {
        assert_eq!(fitted(&COLUMNS, &[18, 14, 5, 30], &[], 45), [(0, 11), (1, 8), (2, 5), (3, 13)]);
        assert_eq!(fitted(&COLUMNS, &[9, 7, 5, 30], &[], 45), [(0, 9), (1, 7), (2, 5), (3, 16)]);
    }

    #[test]
    fn column_keeps_its_width_while_others_grow() {
        let before = [18, 0, 3, 12];
        assert_eq!(fitted(&COLUMNS, &[18, 14, 5, 30], &before, 42), [(0, 18), (2, 5), (3, 13)]);
        assert_eq!(fitted(&COLUMNS, &[18, 14, 5, 30], &[], 42), [(0, 15), (2, 5), (3, 16)]);
        assert_eq!(fitted(&COLUMNS, &[18, 14, 9, 30], &before, 42), [(0, 15), (2, 9), (3, 12)]);
    }

    #[test]
    fn column_of_little_worth_waits_until_the_others_are_readable() {
        let columns = [COLUMNS[0], COLUMNS[2], Column::number("BYTES").rank(4)];
        assert_eq!(fitted(&columns, &[18, 5, 5], &[], 33), [(0, 18), (1, 5)]);
        assert_eq!(fitted(&columns, &[18, 5, 5], &[], 34), [(0, 18), (1, 5), (2, 5)]);
        assert_eq!(fitted(&columns, &[30, 5, 5], &[], 36), [(0, 20), (1, 5), (2, 5)]);
    }

    #[test]
    fn most_valuable_column_is_shown_in_any_width() {
        assert_eq!(fitted(&COLUMNS, &[18, 14, 5, 30], &[], 5), [(0, 3)]);
        assert_eq!(fitted(&COLUMNS, &[18, 14, 5, 30], &[], 1), [(0, 0)]);
        assert_eq!(fitted(&[], &[], &[], 80), []);
    }
}
