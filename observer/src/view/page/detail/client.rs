//! A client: its identity, and all its reflectors.

use observer_core::observer::Snapshot;
use observer_core::reflector::{ClientId, ReflectorRow};

use super::container::container;
use super::finding;
use crate::view::client::program;
use crate::view::colour::Tone;
use crate::view::inventory::{form, growth};
use crate::view::page::clients::{identity, process_or_reason, reflectors_of};
use crate::view::page::column::Column;
use crate::view::page::grid;
use crate::view::page::reflectors::{COLUMNS, cells};
use crate::view::page::row::Cell;
use crate::view::page::sheet::Sheet;
use crate::view::quantity::{bytes, count, microseconds};

const OWN_WRITES: &[Column] = &[
    Column::words("RESOURCE", 1),
    Column::number("N", 9),
    Column::number("BEFORE ANSWER", 13),
    Column::number("MEDIAN AFTER", 12),
    Column::number("P99 AFTER", 9),
    Column::number("LONGEST", 9),
];

const KEPT: &[Column] = &[
    Column::words("RESOURCE", 2),
    Column::words("SCOPE", 1),
    Column::words("FORM", 1),
    Column::number("OBJECTS", 9),
    Column::number("SINCE LIST", 10),
    Column::number("LAST LIST", 9),
];

/// `None` if it has no reflectors any more.
pub(super) fn write(client: ClientId, snapshot: &Snapshot, sheet: &mut Sheet) -> Option<()> {
    let rows = reflectors_of(snapshot, client);
    let first = rows.first()?;
    sheet.title(&format!("client {client} · {}", program(&first.client)));
    sheet.fact("identity", Tone::Plain, &identity(first));
    sheet.fact("process", Tone::Plain, &process_or_reason(first));
    container(first, sheet);
    sheet.section("REFLECTORS   worst first; to open one, select it in tab 1");
    let total = sheet.total();
    sheet.line(grid::headings(COLUMNS, total, (None, false)));
    for row in &rows {
        sheet.line(grid::row(COLUMNS, &cells(row, snapshot), total, ""));
    }
    inventory(&rows, sheet);
    own_writes(client, snapshot, sheet);
    sheet.section("FINDINGS");
    let is_about_it =
        |finding: &&observer_core::observer::Finding| rows.iter().any(|row| finding.reflectors.contains(&row.reflector));
    let mut found = snapshot.findings.iter().filter(is_about_it).peekable();
    if found.peek().is_none() {
        sheet.print(Tone::Quiet, "nothing to change");
    }
    for one in found {
        finding::sentences(one, sheet);
    }
    Some(())
}

/// The objects that the client keeps, the largest informer first.
fn inventory(rows: &[&ReflectorRow], sheet: &mut Sheet) {
    let mut rows: Vec<&ReflectorRow> = rows.iter().copied().filter(|row| row.has_watched() && row.synced.is_some()).collect();
    if rows.is_empty() {
        return;
    }
    rows.sort_by_key(|row| std::cmp::Reverse((row.last_list_bytes, row.objects)));
    sheet.section("KEEPS   objects of its informers, and the bytes of their last lists");
    let total = sheet.total();
    sheet.line(grid::headings(KEPT, total, (None, false)));
    for row in rows {
        let scope = row.shape.scope.as_ref().map(ToString::to_string).unwrap_or_default();
        let cells = [
            row.shape.resource.clone(),
            scope,
            form(row.representation).to_owned(),
            count(row.objects),
            growth(row.grown()),
            bytes(row.last_list_bytes),
        ];
        sheet.line(grid::row(KEPT, &cells.map(|text| Cell::words(&text)), total, ""));
    }
}

/// How long the client waits for its own writes to return by its own watches.
fn own_writes(client: ClientId, snapshot: &Snapshot, sheet: &mut Sheet) {
    let mut rows = snapshot.propagation.iter().filter(|row| row.client_id == client).peekable();
    if rows.peek().is_none() {
        return;
    }
    sheet.section("OWN WRITES   time until its own watches delivered them");
    let total = sheet.total();
    sheet.line(grid::headings(OWN_WRITES, total, (None, false)));
    for row in rows {
        let cells = [
            row.resource.clone(),
            count(row.writes),
            count(row.before_answer),
            microseconds(row.median_us),
            microseconds(row.p99_us),
            microseconds(row.max_us),
        ];
        sheet.line(grid::row(OWN_WRITES, &cells.map(|text| Cell::words(&text)), total, ""));
    }
}
