//! A client: who it is, and all its reflectors.

use observer_core::observer::Snapshot;
use observer_core::reflector::ClientId;

use super::finding;
use crate::view::colour::Tone;
use crate::view::lines::program;
use crate::view::page::clients::{identity, process, reflectors_of};
use crate::view::page::grid;
use crate::view::page::reflectors::{COLUMNS, cells};
use crate::view::page::sheet::Sheet;

/// Nothing if it has no reflectors any more.
pub(super) fn write(client: ClientId, snapshot: &Snapshot, sheet: &mut Sheet) -> Option<()> {
    let rows = reflectors_of(snapshot, client);
    let first = rows.first()?;
    sheet.title(&format!("client {client} · {}", program(&first.client)));
    sheet.fact("identity", Tone::Plain, &identity(first));
    sheet.fact("process", Tone::Plain, &process(first));
    sheet.section("REFLECTORS   the worst first; tab 1 opens them one by one");
    let total = sheet.total();
    sheet.line(grid::headings(COLUMNS, total, (None, false)));
    for row in &rows {
        sheet.line(grid::row(COLUMNS, &cells(row, snapshot), total, ""));
    }
    sheet.section("FINDINGS");
    let is_about_it =
        |finding: &&observer_core::observer::Finding| rows.iter().any(|row| finding.reflectors.contains(&row.reflector));
    let mut found = snapshot.findings.iter().filter(is_about_it).peekable();
    if found.peek().is_none() {
        sheet.say(Tone::Quiet, "nothing to change was found in what was seen of it");
    }
    for one in found {
        finding::sentences(one, sheet);
    }
    Some(())
}
