//! Whether a run kept its budget, as text.

use observer_core::observer::{Excess, Quantity};

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
        let Excess { resource, quantity, allowed, used } = excess;
        let cells = vec![
            Cell::new(format!("{}: {quantity}", limited(resource.as_deref()))),
            Cell::new(amount(*quantity, *allowed)),
            Cell::toned(amount(*quantity, *used), Tone::Bad),
            Cell::new(format!("+{}", amount(*quantity, used.saturating_sub(*allowed)))),
        ];
        table.row(cells, Vec::new());
    }
    table.render(colour, out);
    out.end_line();
}

/// `budget kept`, `budget exceeded: 2 limits`.
pub(super) fn result(budget: &BudgetKept) -> String {
    let unsure = if budget.at_least { " (part of the run was not observed: the cost may be higher)" } else { "" };
    if budget.exceeded.is_empty() {
        return format!("budget kept{unsure}");
    }
    let limits = counted(budget.exceeded.len() as u64, "limit");
    format!("budget exceeded: {limits}{unsure}")
}

/// The resource of a limit.
pub(super) fn limited(resource: Option<&str>) -> &str {
    resource.unwrap_or("in total")
}

/// `2.1 MB` of bytes, otherwise the number.
pub(super) fn amount(quantity: Quantity, amount: u64) -> String {
    if quantity == Quantity::Bytes { bytes(amount) } else { count(amount) }
}
