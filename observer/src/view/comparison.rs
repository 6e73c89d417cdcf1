//! A comparison of two runs, as text.

use observer_core::k8s::Verb;
use observer_core::observer::{Change, ComparedRun, Comparison, ComparisonRow, Side};

use super::colour::{Colour, Tone};
use super::etcd;
use super::quantity::{bytes, count, counted, length, microseconds};
use super::table::{Align, Cell, Table};
use crate::printable::Printable;

/// Rows shown; a line sums up the rest, and JSON has all.
const MAX_ROWS: usize = 40;

/// The changes, worst first. Unchanged shapes are only counted. `names` are those of the first and the second run.
pub fn comparison_text(names: [&str; 2], notes: &[String], comparison: &Comparison, colour: Colour) -> Printable {
    let [before, after] = names;
    let mut out = colour.paint(Tone::Heading, format_args!("watchtap read: {after} against {before}"));
    out.end_line();
    out.end_line();
    for (label, run) in [("before", &comparison.before), ("after ", &comparison.after)] {
        out.push_line(format_args!("{label}  {}", totals(run)));
    }
    for note in notes {
        out.append(&colour.paint(Tone::Notable, format_args!("note: {note}")));
        out.end_line();
    }
    let changed: Vec<&ComparisonRow> = comparison.rows.iter().filter(|row| row.change != Change::Same).collect();
    if !changed.is_empty() {
        out.end_line();
        table(&changed).render(colour, &mut out);
    }
    if changed.len() > MAX_ROWS {
        out.push_line(format_args!("… and {} (all in --format json)", counted((changed.len() - MAX_ROWS) as u64, "more row")));
    }
    let same = comparison.rows.len() - changed.len();
    out.end_line();
    out.push_line(format_args!("{} of requests did not change", counted(same as u64, "shape")));
    out
}

fn totals(run: &ComparedRun) -> String {
    let totals = &run.totals;
    let duration = length(run.at.since(run.started.unwrap_or(run.at)));
    let unseen = if run.unseen { " · not everything was observed" } else { "" };
    format!(
        "{duration} · {} · {} · {}{unseen}",
        counted(totals.requests, "request"),
        etcd::lists(totals),
        bytes(totals.response_bytes)
    )
}

fn table(rows: &[&ComparisonRow]) -> Table {
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
            Cell::toned(word(row.change), tone(row.change)),
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

/// `before → after`, or only one of them if both are equal.
fn arrow(before: Option<String>, after: Option<String>) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before == after => after,
        (Some(before), Some(after)) => format!("{before} → {after}"),
        (one, other) => one.or(other).unwrap_or_default(),
    }
}

/// The layers, most frequent first.
fn served_from(side: &Side) -> String {
    let mut words: Vec<String> = Vec::new();
    for layer in &side.layers {
        let word = layer.served_from.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" + ")
}

fn bound(side: &Side, number: u64) -> String {
    if side.lower_bound { format!("≥ {}", count(number)) } else { count(number) }
}

fn word(change: Change) -> &'static str {
    match change {
        Change::New => "new",
        Change::Gone => "gone",
        Change::Worse => "worse",
        Change::Better => "better",
        Change::Moved => "moved",
        Change::Same => "same",
    }
}

fn tone(change: Change) -> Tone {
    match change {
        Change::Worse => Tone::Bad,
        Change::Better | Change::Gone => Tone::Good,
        Change::New | Change::Moved => Tone::Notable,
        Change::Same => Tone::Plain,
    }
}
