//! In which order rows stand.

use std::collections::BTreeMap;

use super::row::{Row, RowKey};

/// The order of a table. Nothing moves under the reader's eye: rows keep their places from snapshot to snapshot, and new ones come behind them,
/// until the person asks for an order.
#[derive(Debug, Default)]
pub(super) struct RowOrder {
    /// The column to sort by; that of the snapshot, the worst first, while there is none.
    by: Option<usize>,
    reversed: bool,
    /// Whether rows stand where they were, and no longer where they belong.
    is_stale: bool,
    places: BTreeMap<RowKey, usize>,
}

impl RowOrder {
    /// Sorts by the next of `columns` columns from now on, and behind the last one as the snapshot does.
    pub(super) fn next_column(&mut self, columns: usize) {
        let next = self.by.map_or(0, |column| column + 1);
        *self = Self { by: (next < columns).then_some(next), ..Self::default() };
    }

    /// Turns the order round.
    pub(super) fn reverse(&mut self) {
        self.reversed = !self.reversed;
    }

    /// By which column it sorts, and whether the order is turned round.
    pub(super) const fn sorted(&self) -> (Option<usize>, bool) {
        (self.by, self.reversed)
    }

    /// Sorts `rows`, which are in the order of the snapshot.
    pub(super) fn sort(&mut self, rows: &mut [Row]) {
        self.put_in_order(rows);
        self.remember(rows);
        self.is_stale = false;
    }

    /// Puts `rows` where they were.
    pub(super) fn keep(&mut self, rows: &mut [Row]) {
        self.put_in_order(rows);
        let place = |row: &Row| self.places.get(&row.key).copied().unwrap_or(usize::MAX);
        self.is_stale = !rows.is_sorted_by_key(place);
        rows.sort_by_key(place);
        self.remember(rows);
    }

    /// Whether [`Self::sort`] would move something.
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
