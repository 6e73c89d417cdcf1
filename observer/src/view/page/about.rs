//! The basis of all numbers on the page: the API server, the losses, and the cost of a restart.

use observer_core::observer::{Exposed, Missed, Snapshot};
use observer_core::quantity::Amount;

use super::column::Column;
use super::line::Line;
use super::reflectors::scope;
use super::row::Cell;
use super::sheet::Sheet;
use super::state::Page;
use crate::view::client::program;
use crate::view::colour::Tone;
use crate::view::following;
use crate::view::missed::{connections, not_exported, not_seen, not_understood, unrecorded};
use crate::view::quantity::{bytes, count, counted};

const EXPOSED: &[Column] = &[
    Column::words("CLIENT", 20),
    Column::words("RESOURCE", 12),
    Column::words("SCOPE", 14).rank(3),
    Column::number("BEHIND ETCD").rank(4),
    Column::number("OBJECTS").rank(2),
    Column::number("BYTES").rank(1),
];

/// The complete text, in lines of at most `cells` cells.
pub(super) fn lines(page: &Page, cells: usize) -> Vec<Line> {
    let snapshot = &page.shown;
    let mut sheet = page.sheet(cells);
    servers(snapshot, &mut sheet);
    if let Some(command) = &page.command {
        command.describe(&mut sheet);
    }
    verdicts(snapshot, &mut sheet);
    missed(&snapshot.missed, &mut sheet);
    restart(snapshot, &mut sheet);
    clients(&page.guidance, &mut sheet);
    heard(page, &mut sheet);
    sheet.into_lines()
}

/// Writes how to connect clients to watchtap.
fn clients(guidance: &[String], sheet: &mut Sheet<'_>) {
    sheet.section("CLIENTS");
    for line in guidance {
        sheet.print(Tone::Plain, line);
    }
}

/// Messages of the program since the page was opened.
fn heard(page: &Page, sheet: &mut Sheet<'_>) {
    sheet.section("MESSAGES");
    if page.heard.is_empty() {
        sheet.print(Tone::Plain, "nothing");
    }
    for (at, line) in &page.heard {
        let prefix = format!("  {}  ", sheet.time_of_day(*at));
        sheet.hang(&prefix, Tone::Plain, line);
    }
}

fn servers(snapshot: &Snapshot, sheet: &mut Sheet<'_>) {
    sheet.title("API SERVER");
    if snapshot.upstreams.is_empty() {
        for phrase in snapshot.profile.assumptions() {
            sheet.print(Tone::Plain, &phrase);
        }
    }
    for one in &snapshot.upstreams {
        let connections = counted(one.connections, "connection");
        sheet.hang("  ", Tone::Plain, &format!("{}: {} · {connections}", one.upstream.0, one.profile.assumptions().join("; ")));
    }
}

fn verdicts(snapshot: &Snapshot, sheet: &mut Sheet<'_>) {
    let totals = &snapshot.totals;
    sheet.section("VERDICTS");
    let unknown = format!("{} of {} with an unknown verdict", count(totals.lists_unknown), counted(totals.lists, "list"));
    sheet.print(Tone::Plain, &unknown);
    let (confirmed, contradicted) = (counted(totals.confirmed, "verdict"), count(totals.contradicted));
    let tone = if totals.contradicted > 0 { Tone::Bad } else { Tone::Plain };
    sheet.print(tone, &format!("answers confirmed {confirmed} and contradicted {contradicted}"));
}

fn missed(missed: &Missed, sheet: &mut Sheet<'_>) {
    let lists = [
        ("NOT OBSERVED", not_seen(missed)),
        ("UNPARSED", not_understood(missed)),
        ("DROPPED", dropped(missed)),
        ("REQUESTS KEPT ONLY AS COUNTS", not_shown(missed)),
    ];
    for (heading, words) in lists {
        sheet.section(heading);
        if words.is_empty() {
            sheet.print(Tone::Plain, "nothing");
        }
        for word in &words {
            sheet.print(Tone::Bad, word);
        }
    }
    let failed = connections(missed);
    if !failed.is_empty() {
        sheet.section("CONNECTIONS THAT FAILED");
        sheet.print(Tone::Bad, &failed);
    }
    for span in &missed.unrecorded_spans {
        sheet.print(Tone::Bad, &unrecorded(span));
    }
    if !missed.capture_ended.is_empty() {
        sheet.print(Tone::Bad, &format!("stopped writing the capture of this run: {}", missed.capture_ended));
    }
    if let Some(words) = not_exported(missed) {
        sheet.print(Tone::Bad, &words);
    }
}

/// Data dropped from full tables, which the rows do not include.
pub(super) fn dropped(missed: &Missed) -> Vec<String> {
    let reflectors = missed.reflectors;
    numbered(&[
        (missed.reflectors_not_shown, "reflectors beyond the rows of the table"),
        (reflectors.forgotten, "reflectors forgotten to make room"),
        (reflectors.requests, "requests of reflectors beyond the limit"),
        (reflectors.thinned, "reflectors with half of their object versions discarded; their unchanged objects are estimates"),
        (reflectors.own_writes, "own writes of clients, or their times, forgotten to make room"),
        (reflectors.clients, "clients forgotten to make room, with the counts of their requests"),
        (reflectors.rate_limits, "clients whose own rate limit may not be detected"),
        (missed.upstreams_dropped, "connections to API servers beyond the limit"),
    ])
}

/// Data that the rows include, but that is no longer shown one by one.
fn not_shown(missed: &Missed) -> Vec<String> {
    numbered(&[(missed.open_not_shown, "open"), (missed.records_dropped, "finished")])
}

fn numbered(counted: &[(u64, &str)]) -> Vec<String> {
    counted.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{} {what}", count(*number))).collect()
}

fn restart(snapshot: &Snapshot, sheet: &mut Sheet<'_>) {
    sheet.section("ON A RESTART");
    let exposure = &snapshot.exposure;
    sheet.print(
        Tone::Plain,
        &following::exposure(exposure).unwrap_or_else(|| "no relist, as no reflector is synced and watching".to_owned()),
    );
    if exposure.exposed.is_empty() {
        return;
    }
    sheet.table("ON A RESTART", EXPOSED, &exposure.exposed.iter().map(cells).collect::<Vec<_>>());
}

fn cells(exposed: &Exposed) -> Vec<Cell> {
    let number = |number: Amount| Cell::number(number, &count(number));
    vec![
        Cell::words(&program(&exposed.client)),
        Cell::words(&exposed.shape.resource),
        Cell::words(&scope(&exposed.shape)),
        number(exposed.behind.into()),
        number(exposed.items),
        Cell::number(exposed.bytes, &bytes(exposed.bytes)),
    ]
}
