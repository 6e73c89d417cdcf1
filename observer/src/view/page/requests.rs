//! The table of requests by shape.

use std::collections::{BTreeMap, BTreeSet};

use observer_core::k8s::Verb;
use observer_core::observer::Snapshot;

use super::column::{Column, MICROSECONDS};
use super::filter_key::{FilterKey, NumberKey};
use super::reflectors::scope;
use super::request_row::{RequestRow, key_of};
use super::row::{Cell, RequestKey, Row, RowKey};
use crate::view::client::program;
use crate::view::colour::Tone;
use crate::view::quantity::{bytes, count, microseconds};
use crate::view::report::known;
use crate::view::verdict::{marked_cell, rule, served_from, served_tone};

pub(super) const COLUMNS: &[Column] = &[
    Column::word("VERB"),
    Column::words("REQUEST", 26),
    Column::number("N").counts(NumberKey::Requests).rank(1),
    Column::word("  SERVED FROM").rank(2),
    Column::words("RULE", 12).rank(5),
    Column::number("OBJECTS").counts(NumberKey::Items).rank(6),
    Column::number("BYTES").counts(NumberKey::Bytes).rank(3),
    Column::number("FIRST BYTE (MEDIAN)").measures(NumberKey::FirstByte, MICROSECONDS).rank(9),
    Column::number("TOTAL (MEDIAN)").measures(NumberKey::Total, MICROSECONDS).rank(4),
    Column::number("FAILED").counts(NumberKey::Failed).rank(7),
    Column::words("LAST END", 12).rank(8),
];

pub(super) const FILTERS: &[FilterKey] =
    &[FilterKey::Client, FilterKey::Verb, FilterKey::Resource, FilterKey::Scope, FilterKey::Served, FilterKey::Rule];

/// The requests of a snapshot: lists, watches, and everything else.
pub(super) fn rows(snapshot: &Snapshot) -> Vec<Row> {
    let clients = clients(snapshot);
    let row = |row: RequestRow<'_>| {
        let key = row.key();
        let own = clients.get(&key).into_iter().flatten().map(|client| (FilterKey::Client, client.clone()));
        Row { cells: cells(row), facts: own.chain(facts(row)).collect(), key: RowKey::Request(Box::new(key)) }
    };
    RequestRow::all(snapshot).map(row).collect()
}

/// The clients of each row, as far as their requests are among the latest, which are kept individually.
fn clients(snapshot: &Snapshot) -> BTreeMap<RequestKey, BTreeSet<String>> {
    let mut clients: BTreeMap<RequestKey, BTreeSet<String>> = BTreeMap::new();
    for record in &snapshot.requests {
        clients.entry(key_of(record)).or_default().insert(program(&record.client));
    }
    clients
}

/// The verb; `unknown` without one.
pub(super) fn verb(row: RequestRow<'_>) -> &'static str {
    row.verb().map_or("unknown", Verb::as_str)
}

fn cells(row: RequestRow<'_>) -> Vec<Cell> {
    let verdict = row.verdict();
    let failed = Cell::number(row.failed(), &count(row.failed()));
    let failed = if row.failed() > 0 { failed.toned(Tone::Notable) } else { failed };
    vec![
        Cell::words(verb(row)),
        Cell::words(&row.shape().to_string()),
        Cell::number(row.count(), &count(row.count())),
        Cell::words(&marked_cell(verdict)).toned(served_tone(verdict)),
        Cell::words(rule(verdict)),
        objects(row),
        Cell::number(row.bytes(), &bytes(row.bytes())),
        first_byte(row),
        total(row),
        failed,
        Cell::words(&last_end(row)),
    ]
}

/// The items of lists, or the events of watches.
fn objects(row: RequestRow<'_>) -> Cell {
    match row {
        RequestRow::List(row) => Cell::number(row.items, &known(row.items, row.unread, row.missed_bytes)),
        RequestRow::Watch(row) => Cell::number(row.events, &known(row.events, row.unread, row.missed_bytes)),
        RequestRow::Other(_) => Cell::number(0, "-"),
    }
}

fn first_byte(row: RequestRow<'_>) -> Cell {
    match row {
        RequestRow::List(row) => row.first_byte_us.map_or_else(|| Cell::unknown("-"), |us| Cell::number(us, &microseconds(us))),
        RequestRow::Watch(_) | RequestRow::Other(_) => Cell::unknown("-"),
    }
}

/// The median time of requests that end, or the summed open times of watches.
fn total(row: RequestRow<'_>) -> Cell {
    match row {
        RequestRow::List(row) => Cell::number(row.total_us, &microseconds(row.total_us)),
        RequestRow::Watch(row) => Cell::number(row.open_us, &format!("Σ {}", microseconds(row.open_us))),
        RequestRow::Other(row) => Cell::number(row.total_us, &microseconds(row.total_us)),
    }
}

fn last_end(row: RequestRow<'_>) -> String {
    match row {
        RequestRow::Watch(row) if row.open > 0 => format!("{} open", count(row.open)),
        RequestRow::Watch(row) => row.last_end.clone(),
        RequestRow::List(_) | RequestRow::Other(_) => "-".to_owned(),
    }
}

fn facts(row: RequestRow<'_>) -> Vec<(FilterKey, String)> {
    vec![
        (FilterKey::Verb, verb(row).to_owned()),
        (FilterKey::Resource, row.shape().resource.clone()),
        (FilterKey::Scope, scope(row.shape())),
        (FilterKey::Served, served_from(row.verdict())),
        (FilterKey::Rule, rule(row.verdict()).to_owned()),
    ]
}
