//! The order of rows.

use std::collections::BTreeMap;

use super::row::{Row, RowKey};

/// The order of a table. Rows keep their places from snapshot to snapshot, so that nothing moves while it is read. They are sorted
/// when the user asks for it, and at intervals until the first key press.
#[derive(Debug, Default)]
pub(super) struct RowOrder {
    /// The column to sort by; `None` for the snapshot's order, worst first.
    by: Option<usize>,
    reversed: bool,
    places: BTreeMap<RowKey, usize>,
}

impl RowOrder {
    /// Sorts by the next of `columns` columns from now on; after the last column, restores the snapshot's order.
    pub(super) fn next_column(&mut self, columns: usize) {
        let next = self.by.map_or(0, |column| column + 1);
        *self = Self { by: (next < columns).then_some(next), ..Self::default() };
    }

    /// Sorts by `column` from now on; if the rows are sorted by it already, reverses the order.
    pub(super) fn by_column(&mut self, column: usize) {
        if self.by == Some(column) {
            self.reverse();
        } else {
            *self = Self { by: Some(column), ..Self::default() };
        }
    }

    /// Reverses the order.
    pub(super) fn reverse(&mut self) {
        self.reversed = !self.reversed;
    }

    /// The column to sort by, and whether the order is reversed.
    pub(super) const fn sorted(&self) -> (Option<usize>, bool) {
        (self.by, self.reversed)
    }

    /// Sorts `rows`, which are in the snapshot's order.
    pub(super) fn sort(&mut self, rows: &mut [Row]) {
        self.put_in_order(rows);
        self.remember(rows);
    }

    /// Splits `rows` into known rows, which keep their places, and new rows, which have no places yet.
    pub(super) fn keep(&self, mut rows: Vec<Row>) -> (Vec<Row>, Vec<Row>) {
        self.put_in_order(&mut rows);
        let (mut known, new): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| self.places.contains_key(&row.key));
        known.sort_by_key(|row| self.places.get(&row.key).copied());
        (known, new)
    }

    /// Gives `rows` the places that they have now.
    pub(super) fn remember(&mut self, rows: &[Row]) {
        self.places = rows.iter().enumerate().map(|(place, row)| (row.key.clone(), place)).collect();
    }

    fn put_in_order(&self, rows: &mut [Row]) {
        if let Some(column) = self.by {
            rows.sort_by(|one, other| one.compare(other, column));
        }
        if self.reversed {
            rows.reverse();
        }
    }
}
