//! A comparison of two runs, as text.

use observer_core::k8s::Verb;
use observer_core::observer::{Change, ComparedFinding, ComparedRelists, Comparison, ComparisonRow, Side};
use observer_core::quantity::Amount;
use observer_core::reflector::cause_label;

use super::changes::{Answer, amounts, arrow, measured, measures, served_from, totals, word};
use super::colour::{Colour, Tone};
use super::quantity::{bytes, count, counted, microseconds};
use super::table::{Align, Cell, Table};
use crate::printable::Printable;

/// Maximum number of request shapes shown. A line counts the rest, and JSON has all.
const MAX_ROWS: usize = 40;
/// Maximum number of findings shown, and of causes of relists shown.
const MAX_FINDINGS: usize = 15;

/// The changes, worst first: what is worse and better, then measures, findings, relists and requests. Unchanged shapes are only
/// counted. `names` are the names of the first and the second run.
pub fn comparison_text(names: [&str; 2], notes: &[String], comparison: &Comparison, colour: Colour) -> Printable {
    let [before, after] = names;
    let mut out = colour.paint(Tone::Heading, format_args!("watchtap read: {after} against {before}"));
    out.end_line();
    out.end_line();
    answer(comparison, colour, &mut out);
    out.end_line();
    for (label, run) in [("before", &comparison.before), ("after ", &comparison.after)] {
        out.push_line(format_args!("{label}  {}", totals(run)));
    }
    for note in notes {
        out.append(&colour.paint(Tone::Notable, format_args!("note: {note}")));
        out.end_line();
    }
    section(&measure_table(comparison), 0, colour, &mut out);
    let findings: Vec<&ComparedFinding> = comparison.findings.iter().filter(|row| row.change != Change::Same).collect();
    section(&finding_table(&findings), findings.len().saturating_sub(MAX_FINDINGS), colour, &mut out);
    let relists: Vec<&ComparedRelists> = comparison.relists.iter().filter(|row| row.change != Change::Same).collect();
    section(&relist_table(&relists), relists.len().saturating_sub(MAX_FINDINGS), colour, &mut out);
    let changed: Vec<&ComparisonRow> = comparison.rows.iter().filter(|row| row.change != Change::Same).collect();
    section(&request_table(&changed), changed.len().saturating_sub(MAX_ROWS), colour, &mut out);
    let same = comparison.rows.len() - changed.len();
    out.end_line();
    out.push_line(format_args!("{} of requests did not change", counted(same as u64, "shape")));
    out
}

/// `worse: 1 new finding, relists 0 → 12`, `better: lists from etcd 3 → 0`.
fn answer(comparison: &Comparison, colour: Colour, out: &mut Printable) {
    let Answer { worse, better } = Answer::of(comparison);
    if worse.is_none() && better.is_none() {
        out.push_line("neither better nor worse");
    }
    for (label, words, tone) in [("worse", worse, Tone::Bad), ("better", better, Tone::Good)] {
        if let Some(words) = words {
            out.append(&colour.paint(tone, format_args!("{label}: {words}")));
            out.end_line();
        }
    }
}

/// A table after an empty line, unless it has no rows.
fn section(table: &Table, more: usize, colour: Colour, out: &mut Printable) {
    if table.is_empty() {
        return;
    }
    out.end_line();
    table.render(colour, out);
    if more > 0 {
        out.push_line(format_args!("… and {} (all in --format json)", counted(more as u64, "more row")));
    }
}

fn measure_table(comparison: &Comparison) -> Table {
    let columns = [("CHANGE", Align::Left), ("MEASURE", Align::Left), ("BEFORE", Align::Right), ("AFTER", Align::Right)];
    let mut table = Table::new(&columns);
    for row in measures(comparison) {
        let [before, after] = measured(row);
        table.row(vec![judged(row.change), Cell::new(row.measure), Cell::new(before), Cell::new(after)], Vec::new());
    }
    table
}

fn finding_table(rows: &[&ComparedFinding]) -> Table {
    let mut table = Table::new(&[("CHANGE", Align::Left), ("FINDING", Align::Left), ("AMOUNT", Align::Left)]);
    for row in rows.iter().take(MAX_FINDINGS) {
        table.row(vec![judged(row.change), Cell::new(&row.id), Cell::new(amounts(row))], Vec::new());
    }
    table
}

fn relist_table(rows: &[&ComparedRelists]) -> Table {
    let columns = [("CHANGE", Align::Left), ("RELISTS BY CAUSE", Align::Left), ("BEFORE", Align::Right), ("AFTER", Align::Right)];
    let mut table = Table::new(&columns);
    for row in rows.iter().take(MAX_FINDINGS) {
        let cells =
            vec![judged(row.change), Cell::new(cause_label(&row.cause)), Cell::new(count(row.before)), Cell::new(count(row.after))];
        table.row(cells, Vec::new());
    }
    table
}

fn request_table(rows: &[&ComparisonRow]) -> Table {
    let mut table = Table::new(&[
        ("CHANGE", Align::Left),
        ("REQUEST", Align::Left),
        ("N", Align::Right),
        ("SERVED FROM", Align::Left),
        ("FAILED", Align::Right),
        ("OBJECTS", Align::Right),
        ("BYTES", Align::Right),
        ("TOTAL (MEDIAN)", Align::Right),
    ]);
    for row in rows.iter().take(MAX_ROWS) {
        let verb = row.verb.map_or("unknown", Verb::as_str);
        let both = |shown: &dyn Fn(&Side) -> String| arrow(row.before.as_ref().map(shown), row.after.as_ref().map(shown));
        let cells = vec![
            Cell::toned(word(row.change), tone(row)),
            Cell::new(format!("{verb} {}", row.shape)),
            Cell::new(both(&|side| count(side.count))),
            Cell::new(both(&served_from)),
            Cell::new(both(&|side| count(side.failed))),
            Cell::new(both(&|side| bound(side, if row.verb == Some(Verb::Watch) { side.events } else { side.items }))),
            Cell::new(both(&|side| bytes(side.bytes))),
            Cell::new(both(&|side| side.total_us.map_or_else(|| "-".to_owned(), microseconds))),
        ];
        table.row(cells, Vec::new());
    }
    table
}

fn bound(side: &Side, number: Amount) -> String {
    if side.lower_bound && number != Amount::UNKNOWN { format!("≥ {}", count(number)) } else { count(number) }
}

/// The cell for the change of a measure, a finding or a cause: less is better.
fn judged(change: Change) -> Cell {
    let tone = match change {
        Change::New | Change::Worse => Tone::Bad,
        Change::Gone | Change::Better => Tone::Good,
        Change::Moved | Change::Changed | Change::Same => Tone::Plain,
    };
    Cell::toned(word(change), tone)
}

/// The tone of a change of requests. A new list is notable and not bad, because it may replace another list.
fn tone(row: &ComparisonRow) -> Tone {
    match row.change {
        Change::Worse => Tone::Bad,
        Change::New | Change::Gone if row.is_neutral() => Tone::Plain,
        Change::Better | Change::Gone => Tone::Good,
        Change::New | Change::Moved => Tone::Notable,
        Change::Changed | Change::Same => Tone::Plain,
    }
}
