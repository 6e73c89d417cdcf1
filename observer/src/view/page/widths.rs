//! The widths of tables as they were drawn before, so that columns do not jump when a number changes.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::cells::width;
use super::column::{Column, fitted};
use super::row::{Cell, RowKey};
use super::tab::Tab;

/// The column widths of the tables that were drawn. While the user looks at the same tables, a column never gets narrower.
#[derive(Debug, Default)]
pub(super) struct Widths {
    sight: RefCell<Option<Sight>>,
    tables: RefCell<BTreeMap<&'static str, Drawn>>,
}

/// Identifies what the user looks at. If it changes, widths start from scratch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sight {
    pub tab: Tab,
    pub filter: String,
    /// The size of the terminal in cells.
    pub size: (u16, u16),
    /// The row whose detail contains the tables; `None` if they are in no detail.
    pub row: Option<RowKey>,
}

/// A table as drawn before.
#[derive(Debug, Default)]
struct Drawn {
    /// The cells of the longest text of each column so far.
    needs: Vec<u16>,
    /// The cells of each column; 0 if it was not shown.
    cells: Vec<u16>,
}

impl Widths {
    /// Forgets all widths if `sight` differs from the sight of the last drawing.
    pub(super) fn look_at(&self, sight: Sight) {
        if self.sight.borrow().as_ref() != Some(&sight) {
            self.tables.borrow_mut().clear();
            *self.sight.borrow_mut() = Some(sight);
        }
    }

    /// The columns to draw of the table `name` in `total` cells, each with its width.
    pub(super) fn fit<'c>(
        &self,
        name: &'static str,
        columns: &[Column],
        rows: impl Iterator<Item = &'c [Cell]>,
        total: u16,
    ) -> Vec<(usize, u16)> {
        let mut tables = self.tables.borrow_mut();
        let drawn = tables.entry(name).or_default();
        drawn.grow(&needs(columns, rows));
        let shown = fitted(columns, &drawn.needs, &drawn.cells, total);
        drawn.cells = vec![0; columns.len()];
        for (index, cells) in &shown {
            if let Some(place) = drawn.cells.get_mut(*index) {
                *place = *cells;
            }
        }
        shown
    }

    /// The number of columns of the table `name` that were not drawn.
    pub(super) fn hidden(&self, name: &str) -> u64 {
        self.tables.borrow().get(name).map_or(0, |drawn| drawn.cells.iter().filter(|cells| **cells == 0).count() as u64)
    }
}

impl Drawn {
    fn grow(&mut self, needs: &[u16]) {
        self.needs.resize(needs.len(), 0);
        for (own, need) in self.needs.iter_mut().zip(needs) {
            *own = (*own).max(*need);
        }
    }
}

/// The cells of the longest text of each column, the heading included.
fn needs<'c>(columns: &[Column], rows: impl Iterator<Item = &'c [Cell]>) -> Vec<u16> {
    let cells = |text: &str| u16::try_from(width(text)).unwrap_or(u16::MAX);
    let mut needs: Vec<u16> = columns.iter().map(|column| cells(column.heading)).collect();
    for row in rows {
        for (need, cell) in needs.iter_mut().zip(row) {
            *need = (*need).max(cells(&cell.text));
        }
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 2] = [Column::words("CLIENT", 8), Column::number("N")];

    #[test]
    fn columns_only_grow_while_the_reader_looks_at_the_same() {
        let widths = Widths::default();
        let fit = |text: &str, number: &str| {
            let row = [Cell::words(text), Cell::words(number)];
            widths.fit("", &COLUMNS, [&row[..]].into_iter(), 40)
        };
        widths.look_at(sight(""));
        assert_eq!(fit("my-controller", "1,000"), [(0, 13), (1, 5)]);
        widths.look_at(sight(""));
        assert_eq!(fit("a", "7"), [(0, 13), (1, 5)]);
        assert_eq!(fit("a", "1,000,000"), [(0, 13), (1, 9)]);
        widths.look_at(sight("a"));
        assert_eq!(fit("a", "7"), [(0, 6), (1, 1)]);
    }

    fn sight(filter: &str) -> Sight {
        Sight { tab: Tab::Reflectors, filter: filter.to_owned(), size: (40, 24), row: None }
    }
}
