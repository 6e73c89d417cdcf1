//! Markdown tables, aligned so that their text is readable.

/// A table of text; the first column is left-aligned, the others are right-aligned.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    pub(crate) fn new<S: Into<String>>(heads: impl IntoIterator<Item = S>) -> Self {
        Self { rows: vec![heads.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row; cells that it lacks are empty.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table, with one line per row.
    pub(crate) fn to_markdown(&self) -> String {
        let columns = self.rows.first().map_or(0, Vec::len);
        let widths: Vec<usize> = (0..columns).map(|column| self.width(column)).collect();
        let mut lines: Vec<String> = self.rows.iter().map(|row| line(row, &widths)).collect();
        let rule = widths
            .iter()
            .enumerate()
            .map(|(column, width)| if column == 0 { "-".repeat(*width) } else { format!("{}:", "-".repeat(width - 1)) });
        lines.insert(1.min(lines.len()), format!("| {} |", rule.collect::<Vec<_>>().join(" | ")));
        lines.join("\n") + "\n"
    }

    fn width(&self, column: usize) -> usize {
        const RULE: usize = 3;
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default().max(RULE)
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let cells = widths.iter().enumerate().map(|(column, &width)| {
        let cell = row.get(column).map_or("", String::as_str);
        if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    });
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_are_aligned_and_missing_cells_are_empty() {
        let mut table = Table::new(["Body", "Ratio"]);
        table.row(["pods".to_owned(), "21 ×".to_owned()]);
        table.row(["custom resources".to_owned()]);
        let expected = "\
| Body             | Ratio |
| ---------------- | ----: |
| pods             |  21 × |
| custom resources |       |
";
        assert_eq!(table.to_markdown(), expected);
    }
}
