//! Whether a run kept its budget, as text.

use observer_core::observer::{Excess, Limited, Quantity};

use super::colour::{Colour, Tone};
use super::quantity::{bytes, count, counted};
use super::run::BudgetKept;
use super::table::{Align, Cell, Table};
use crate::printable::Printable;

/// One line if the budget was kept, otherwise the allowed values beside the actual ones.
pub(super) fn budget(budget: &BudgetKept, colour: Colour, out: &mut Printable) {
    let tone = if budget.exceeded.is_empty() { Tone::Good } else { Tone::Bad };
    out.append(&colour.paint(tone, result(budget)));
    out.end_line();
    if budget.exceeded.is_empty() {
        out.end_line();
        return;
    }
    let columns = [("BUDGET", Align::Left), ("ALLOWED", Align::Right), ("USED", Align::Right), ("MORE", Align::Right)];
    let mut table = Table::new(&columns);
    for excess in &budget.exceeded {
        let [of, what, allowed, used, more] = cells(excess);
        let cells = [Cell::new(format!("{of}: {what}")), Cell::new(allowed), Cell::toned(used, Tone::Bad), Cell::new(more)];
        table.row(cells.into(), Vec::new());
    }
    table.render(colour, out);
    out.end_line();
}

/// `budget kept`, `budget exceeded: 2 limits`.
pub(super) fn result(budget: &BudgetKept) -> String {
    let unsure = if budget.at_least { " (part of the run may be missing: the numbers may be higher)" } else { "" };
    if budget.exceeded.is_empty() {
        return format!("budget kept{unsure}");
    }
    let limits = counted(budget.exceeded.len() as u64, "limit");
    format!("budget exceeded: {limits}{unsure}")
}

/// A row of the table: the resource or the kind of finding, the limited quantity, the limit, the actual amount, and the difference.
pub(super) fn cells(excess: &Excess) -> [String; 5] {
    let Excess { limited, allowed, used } = excess;
    let (of, what, amount): (String, String, fn(u64) -> String) = match limited {
        Limited::Cost { resource, quantity } => {
            let of = resource.clone().unwrap_or_else(|| "in total".to_owned());
            (of, quantity.to_string(), if *quantity == Quantity::Bytes { bytes } else { count })
        }
        Limited::Findings { finding } => (finding.to_string(), "findings".to_owned(), count),
    };
    let more = format!("+{}", amount(used.saturating_sub(*allowed)));
    [of, what, amount(*allowed), amount(*used), more]
}
