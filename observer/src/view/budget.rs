//! Whether a run kept its budget, as text.

use observer_core::observer::{Excess, Quantity};

use super::colour::{Colour, Tone};
use super::quantity::{bytes, count, counted};
use super::run::BudgetKept;
use super::table::{Align, Cell, Table};

/// One line where it was kept; where not, what was allowed beside what it was.
pub(super) fn budget(budget: &BudgetKept, colour: Colour, out: &mut String) {
    let unsure = if budget.at_least { " (some of the run was not seen: it may be more)" } else { "" };
    if budget.exceeded.is_empty() {
        out.push_str(&colour.paint(Tone::Good, &format!("budget kept{unsure}")));
        out.push_str("\n\n");
        return;
    }
    let limits = counted(budget.exceeded.len() as u64, "limit");
    out.push_str(&colour.paint(Tone::Bad, &format!("budget exceeded: {limits}{unsure}")));
    out.push('\n');
    let columns = [("BUDGET", Align::Left), ("ALLOWED", Align::Right), ("USED", Align::Right), ("MORE", Align::Right)];
    let mut table = Table::new(&columns);
    for excess in &budget.exceeded {
        let Excess { resource, quantity, allowed, used } = excess;
        let of = resource.as_deref().unwrap_or("in all");
        let cells = vec![
            Cell::new(format!("{of}: {quantity}")),
            Cell::new(amount(*quantity, *allowed)),
            Cell::toned(amount(*quantity, *used), Tone::Bad),
            Cell::new(format!("+{}", amount(*quantity, used.saturating_sub(*allowed)))),
        ];
        table.row(cells, Vec::new());
    }
    table.render(colour, out);
    out.push('\n');
}

fn amount(quantity: Quantity, amount: u64) -> String {
    if quantity == Quantity::Bytes { bytes(amount) } else { count(amount) }
}
