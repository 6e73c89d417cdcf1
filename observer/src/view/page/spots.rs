//! The clickable areas of the last frame.

use std::cell::RefCell;
use std::ops::Range;

use super::tab::Tab;

/// The clickable areas with their cells. Each frame replaces those of the frame before it.
#[derive(Debug, Default)]
pub(super) struct Spots(RefCell<Vec<Spot>>);

#[derive(Debug)]
struct Spot {
    y: u16,
    cells: Range<u16>,
    target: Target,
}

/// The target of a click.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Tab(Tab),
    /// The heading of the column with this index.
    Heading(usize),
    /// The row at this place in the table.
    Row(usize),
}

impl Spots {
    /// Forgets the areas of the last frame.
    pub(super) fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    /// Notes that `cells` of line `y` show `target`.
    pub(super) fn add(&self, y: u16, cells: Range<u16>, target: Target) {
        self.0.borrow_mut().push(Spot { y, cells, target });
    }

    /// The target at cell `x` of line `y`.
    pub(super) fn at(&self, x: u16, y: u16) -> Option<Target> {
        self.0.borrow().iter().find(|spot| spot.y == y && spot.cells.contains(&x)).map(|spot| spot.target)
    }
}
