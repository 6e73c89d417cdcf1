//! The order of rows.

use std::collections::BTreeMap;

use super::row::{Row, RowKey};

/// The order of a table. Rows keep their places from snapshot to snapshot, and new ones follow, so that nothing moves while it is
/// read. They are sorted only when the user asks for it.
#[derive(Debug, Default)]
pub(super) struct RowOrder {
    /// The column to sort by; `None` for the snapshot's order, worst first.
    by: Option<usize>,
    reversed: bool,
    /// Whether rows kept places that differ from their order.
    is_stale: bool,
    places: BTreeMap<RowKey, usize>,
}

impl RowOrder {
    /// Sorts by the next of `columns` columns from now on, and after the last one in the snapshot's order.
    pub(super) fn next_column(&mut self, columns: usize) {
        let next = self.by.map_or(0, |column| column + 1);
        *self = Self { by: (next < columns).then_some(next), ..Self::default() };
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
        self.is_stale = false;
    }

    /// Keeps `rows` in their previous places.
    pub(super) fn keep(&mut self, rows: &mut [Row]) {
        self.put_in_order(rows);
        let place = |row: &Row| self.places.get(&row.key).copied().unwrap_or(usize::MAX);
        self.is_stale = !rows.is_sorted_by_key(place);
        rows.sort_by_key(place);
        self.remember(rows);
    }

    /// Whether [`Self::sort`] would move a row.
    pub(super) const fn is_stale(&self) -> bool {
        self.is_stale
    }

    fn put_in_order(&self, rows: &mut [Row]) {
        if let Some(column) = self.by {
            rows.sort_by(|one, other| one.compare(other, column));
        }
        if self.reversed {
            rows.reverse();
        }
    }

    fn remember(&mut self, rows: &[Row]) {
        self.places = rows.iter().enumerate().map(|(place, row)| (row.key.clone(), place)).collect();
    }
}
