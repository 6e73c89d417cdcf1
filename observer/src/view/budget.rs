//! Whether a run kept its budget, as text.

use observer_core::observer::{Excess, Quantity};

use super::colour::{Colour, Tone};
use super::quantity::{bytes, count, counted};
use super::run::BudgetKept;
use super::table::{Align, Cell, Table};
use crate::printable::Printable;

/// One line if the budget was kept, otherwise the allowed values beside the actual ones.
pub(super) fn budget(budget: &BudgetKept, colour: Colour, out: &mut Printable) {
    let unsure = if budget.at_least { " (part of the run was not observed: the cost may be higher)" } else { "" };
    if budget.exceeded.is_empty() {
        out.append(&colour.paint(Tone::Good, format_args!("budget kept{unsure}")));
        out.end_line();
        out.end_line();
        return;
    }
    let limits = counted(budget.exceeded.len() as u64, "limit");
    out.append(&colour.paint(Tone::Bad, format_args!("budget exceeded: {limits}{unsure}")));
    out.end_line();
    let columns = [("BUDGET", Align::Left), ("ALLOWED", Align::Right), ("USED", Align::Right), ("MORE", Align::Right)];
    let mut table = Table::new(&columns);
    for excess in &budget.exceeded {
        let Excess { resource, quantity, allowed, used } = excess;
        let of = resource.as_deref().unwrap_or("in total");
        let cells = vec![
            Cell::new(format!("{of}: {quantity}")),
            Cell::new(amount(*quantity, *allowed)),
            Cell::toned(amount(*quantity, *used), Tone::Bad),
            Cell::new(format!("+{}", amount(*quantity, used.saturating_sub(*allowed)))),
        ];
        table.row(cells, Vec::new());
    }
    table.render(colour, out);
    out.end_line();
}

fn amount(quantity: Quantity, amount: u64) -> String {
    if quantity == Quantity::Bytes { bytes(amount) } else { count(amount) }
}
