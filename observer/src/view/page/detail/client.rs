//! A client: its identity, and all its reflectors.

use observer_core::exchange::ClientId;
use observer_core::observer::Snapshot;
use observer_core::reflector::{ClientRequests, PropagationRow, ReflectorRow};

use super::container::container;
use super::finding;
use crate::view::client::ClientPods;
use crate::view::client_table::from_etcd;
use crate::view::colour::Tone;
use crate::view::inventory::{form, growth};
use crate::view::page::clients::{place, reflectors_of, row_of, user};
use crate::view::page::column::Column;
use crate::view::page::reflectors::{COLUMNS, cells};
use crate::view::page::row::Cell;
use crate::view::page::sheet::Sheet;
use crate::view::quantity::{bytes, count, counted, counted_as, microseconds};

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

/// `None` if it was dropped.
pub(super) fn write(client: ClientId, snapshot: &Snapshot, sheet: &mut Sheet<'_>) -> Option<()> {
    let rows = reflectors_of(snapshot, client);
    let row = row_of(snapshot, client);
    let of_reflectors = || rows.first().map(|first| (&first.client, first.process.as_ref()));
    let (known, process) = row.map(|row| (&row.client, row.process.as_ref())).or_else(of_reflectors)?;
    let name = ClientPods::of(snapshot).client(client, known);
    sheet.title(&format!("client {client} · {name}"));
    sheet.fact("identity", Tone::Plain, &user(known.identity.as_ref()));
    let (label, place) = place(row, process);
    sheet.fact(label, Tone::Plain, &place);
    container(process, sheet);
    match row {
        Some(row) => sheet.fact("requests", Tone::Plain, &requests(&row.requests)),
        None => sheet.fact("requests", Tone::Quiet, "c shows them in tab 2"),
    }
    if !rows.is_empty() {
        sheet.section("REFLECTORS   worst first; to open one, select it in tab 1");
        let reflectors: Vec<Vec<Cell>> = rows.iter().map(|row| cells(row, &name, snapshot)).collect();
        sheet.table("REFLECTORS", COLUMNS, &reflectors);
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

/// `156 (c shows them in tab 2): 12 lists (3 from etcd), 4 watches, 15 failed; 17 s in total without watches, logs and sessions`.
fn requests(requests: &ClientRequests) -> String {
    let from_etcd = if requests.lists > 0 { format!(" ({} from etcd)", from_etcd(requests)) } else { String::new() };
    format!(
        "{} (c shows them in tab 2): {}{from_etcd}, {}, {} failed; {} in total without watches, logs and sessions",
        count(requests.requests),
        counted(requests.lists, "list"),
        counted_as(requests.watches, "watch", "watches"),
        count(requests.failed),
        microseconds(requests.total_us)
    )
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
