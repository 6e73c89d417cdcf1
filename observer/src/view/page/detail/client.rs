//! A client: its identity, and all its reflectors.

use observer_core::exchange::ClientId;
use observer_core::observer::Snapshot;
use observer_core::reflector::{PropagationRow, ReflectorRow};

use super::container::container;
use super::finding;
use crate::view::client::ClientPods;
use crate::view::colour::Tone;
use crate::view::inventory::{form, growth};
use crate::view::page::clients::{identity, process_or_reason, reflectors_of};
use crate::view::page::column::Column;
use crate::view::page::reflectors::{COLUMNS, cells};
use crate::view::page::row::Cell;
use crate::view::page::sheet::Sheet;
use crate::view::quantity::{bytes, count, microseconds};

const OWN_WRITES: &[Column] = &[
    Column::words("RESOURCE", 16),
    Column::number("N").rank(1),
    Column::number("BEFORE ANSWER").rank(5),
    Column::number("MEDIAN AFTER").rank(2),
    Column::number("P99 AFTER").rank(4),
    Column::number("LONGEST").rank(3),
];

const KEPT: &[Column] = &[
    Column::words("RESOURCE", 16),
    Column::words("SCOPE", 14).rank(3),
    Column::words("FORM", 12).rank(4),
    Column::number("OBJECTS").rank(1),
    Column::number("GROWTH").rank(5),
    Column::number("LIST BYTES").rank(2),
];

/// `None` if it has no reflectors any more.
pub(super) fn write(client: ClientId, snapshot: &Snapshot, sheet: &mut Sheet<'_>) -> Option<()> {
    let rows = reflectors_of(snapshot, client);
    let first = rows.first()?;
    let name = ClientPods::of(&snapshot.reflectors).client(client, &first.client);
    sheet.title(&format!("client {client} · {name}"));
    sheet.fact("identity", Tone::Plain, &identity(first));
    sheet.fact("process", Tone::Plain, &process_or_reason(first));
    container(first, sheet);
    sheet.fact("requests", Tone::Quiet, "c shows them in tab 2");
    sheet.section("REFLECTORS   worst first; to open one, select it in tab 1");
    let reflectors: Vec<Vec<Cell>> = rows.iter().map(|row| cells(row, &name, snapshot)).collect();
    sheet.table("REFLECTORS", COLUMNS, &reflectors);
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
fn inventory(rows: &[&ReflectorRow], sheet: &mut Sheet<'_>) {
    let mut rows: Vec<&ReflectorRow> = rows.iter().copied().filter(|row| row.has_watched() && row.synced.is_some()).collect();
    if rows.is_empty() {
        return;
    }
    rows.sort_by_key(|row| std::cmp::Reverse((row.last_list_bytes, row.objects)));
    sheet.section("KEEPS   objects of its informers, and the bytes of their last lists");
    let cells = |row: &ReflectorRow| {
        let scope = row.shape.scope.as_ref().map(ToString::to_string).unwrap_or_default();
        let cells = [
            row.shape.resource.clone(),
            scope,
            form(row.representation).to_owned(),
            count(row.objects),
            growth(row.grown()),
            bytes(row.last_list_bytes),
        ];
        cells.map(|text| Cell::words(&text)).to_vec()
    };
    sheet.table("KEEPS", KEPT, &rows.into_iter().map(cells).collect::<Vec<_>>());
}

/// How long the client waits until its own watches deliver its own writes.
fn own_writes(client: ClientId, snapshot: &Snapshot, sheet: &mut Sheet<'_>) {
    let mut rows = snapshot.propagation.iter().filter(|row| row.client_id == client).peekable();
    if rows.peek().is_none() {
        return;
    }
    sheet.section("OWN WRITES   time until its own watches delivered them");
    let cells = |row: &PropagationRow| {
        let cells = [
            row.resource.clone(),
            count(row.writes),
            count(row.before_answer),
            microseconds(row.median_us),
            microseconds(row.p99_us),
            microseconds(row.max_us),
        ];
        cells.map(|text| Cell::words(&text)).to_vec()
    };
    sheet.table("OWN WRITES", OWN_WRITES, &rows.map(cells).collect::<Vec<_>>());
}
