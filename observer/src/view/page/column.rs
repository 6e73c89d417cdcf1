//! The columns of a table, and those that a given width has room for.

use crate::view::table::Align;

/// Cells before the first column, for the mark of the selected row.
pub(super) const MARGIN: u16 = 2;

/// Cells between two columns.
pub(super) const GAP: u16 = 2;

/// A column. Its width depends only on the terminal's, so that nothing moves when numbers grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub heading: &'static str,
    pub align: Align,
    width: Width,
    /// The smallest width of a terminal that shows it.
    from: u16,
}

/// The width of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Cells(u16),
    /// This many shares of the width that other columns leave.
    Share(u16),
}

impl Column {
    /// A column of words of any length.
    pub(super) const fn words(heading: &'static str, share: u16) -> Self {
        Self { heading, align: Align::Left, width: Width::Share(share), from: 0 }
    }

    /// A column of words of known length.
    pub(super) const fn word(heading: &'static str, cells: u16) -> Self {
        Self { heading, align: Align::Left, width: Width::Cells(cells), from: 0 }
    }

    /// A column of numbers with a unit.
    pub(super) const fn number(heading: &'static str, cells: u16) -> Self {
        Self { heading, align: Align::Right, width: Width::Cells(cells), from: 0 }
    }

    /// Shows the column only in terminals of at least this width.
    pub(super) const fn from(self, width: u16) -> Self {
        Self { from: width, ..self }
    }
}

/// The columns shown in a terminal of `total` cells, each with its width.
pub(super) fn shown(columns: &[Column], total: u16) -> Vec<(usize, u16)> {
    let shown: Vec<(usize, &Column)> = columns.iter().enumerate().filter(|(_, column)| column.from <= total).collect();
    let gaps = GAP * u16::try_from(shown.len().saturating_sub(1)).unwrap_or(0);
    let fixed: u16 = shown.iter().map(|(_, column)| if let Width::Cells(cells) = column.width { cells } else { 0 }).sum();
    let shares: u16 = shown.iter().map(|(_, column)| if let Width::Share(share) = column.width { share } else { 0 }).sum();
    let left = total.saturating_sub(MARGIN + gaps + fixed);
    let cells = |column: &Column| match column.width {
        Width::Cells(cells) => cells,
        Width::Share(share) => part_of(left, share, shares),
    };
    shown.into_iter().map(|(index, column)| (index, cells(column))).collect()
}

fn part_of(cells: u16, share: u16, shares: u16) -> u16 {
    let part = u32::from(cells) * u32::from(share) / u32::from(shares.max(1));
    u16::try_from(part).unwrap_or(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_columns_share_the_width_left_by_numbers() {
        let columns =
            [Column::words("CLIENT", 2), Column::words("SCOPE", 1).from(100), Column::number("N", 6), Column::words("SEEN", 1)];
        assert_eq!(shown(&columns, 80), [(0, 45), (2, 6), (3, 22)]);
        assert_eq!(shown(&columns, 100), [(0, 43), (1, 21), (2, 6), (3, 21)]);
        assert_eq!(shown(&columns, 5), [(0, 0), (2, 6), (3, 0)]);
    }
}
