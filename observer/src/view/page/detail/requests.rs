//! Requests of one shape: the layer that answered them and the reason, their cost, and the clients of the latest ones.

use observer_core::observer::{RequestRecord, Snapshot, VerdictRecord};
use observer_core::quantity::Amount;
use observer_core::routing;

use crate::view::client::program;
use crate::view::colour::Tone;
use crate::view::page::clients::user;
use crate::view::page::column::Column;
use crate::view::page::request_row::RequestRow;
use crate::view::page::requests::verb;
use crate::view::page::row::Cell;
use crate::view::page::sheet::Sheet;
use crate::view::quantity::{bytes, count, counted, microseconds, microseconds_or_none};
use crate::view::report::known;
use crate::view::verdict::{detail, marked, served_tone};

/// Maximum number of single requests drawn; the latest are drawn.
const MOST_REQUESTS: usize = 50;

const LATEST: &[Column] = &[
    Column::number("AT"),
    Column::words("CLIENT", 20),
    Column::number("STATUS").rank(1),
    Column::number("OBJECTS").rank(3),
    Column::number("BYTES").rank(2),
    Column::number("TOTAL").rank(4),
    Column::words("END", 12).rank(5),
];
/// The same, with the facts of the API server's log.
const LATEST_JOINED: &[Column] = &[
    Column::number("AT"),
    Column::words("CLIENT", 20),
    Column::words("USER", 16).rank(3),
    Column::number("STATUS").rank(1),
    Column::number("OBJECTS").rank(5),
    Column::number("BYTES").rank(2),
    Column::number("TOTAL").rank(6),
    Column::number("IN SERVER").rank(4),
    Column::words("END", 12).rank(7),
];

pub(super) fn write(row: RequestRow<'_>, snapshot: &Snapshot, sheet: &mut Sheet<'_>) {
    sheet.title(&format!("{} {}", verb(row), row.shape()));
    match row.verdict() {
        Some(verdict) => verdict_lines(verdict, row.etcd_reads_vary(), sheet),
        None => sheet.fact("served from", Tone::Plain, "it reads no object"),
    }
    sheet.section("COST");
    cost(row, sheet);
    latest(row, snapshot, sheet);
}

fn verdict_lines(verdict: &VerdictRecord, reads_vary: bool, sheet: &mut Sheet<'_>) {
    let shown = Some(verdict);
    sheet.fact(
        "served from",
        served_tone(shown),
        &format!("{}   rule {}", marked(Some(verdict.certainty), &verdict.served_from), verdict.rule),
    );
    if let Some(rule) = routing::rule(verdict.rule) {
        sheet.fact("why", Tone::Plain, rule.sentence);
    }
    if let Some(detail) = detail(verdict) {
        sheet.fact("either", Tone::Notable, &detail);
    }
    for alternative in &verdict.alternatives {
        sheet.fact("", Tone::Plain, &format!("{} if {}   rule {}", alternative.served_from, alternative.when, alternative.rule));
    }
    if let Some(otherwise) = &verdict.otherwise {
        sheet.fact("exception", Tone::Plain, &format!("{}, if {}", otherwise.then, otherwise.when));
    }
    let others = if reads_vary { ", and similar ones" } else { "" };
    for read in &verdict.etcd_reads {
        sheet.fact("etcd reads", Tone::Plain, &format!("{read}{others}"));
    }
    for note in &verdict.notes {
        sheet.fact("note", Tone::Plain, note);
    }
    sheet.fact("more", Tone::Quiet, &format!("watchtap explain {}", verdict.rule));
}

fn cost(row: RequestRow<'_>, sheet: &mut Sheet<'_>) {
    let failed = if row.failed() > 0 { format!(" · {} failed", count(row.failed())) } else { String::new() };
    sheet.fact("requests", Tone::Plain, &format!("{}{failed} · {}", count(row.count()), bytes(row.bytes())));
    match row {
        RequestRow::List(list) => {
            sheet.fact("objects", Tone::Plain, &known(list.items, list.unread, list.missed_bytes));
            let times = format!(
                "{} to the first byte · {} in total",
                microseconds_or_none(list.first_byte_us),
                microseconds(list.total_us)
            );
            sheet.fact("median", Tone::Plain, &times);
        }
        RequestRow::Watch(watch) => {
            let events = known(watch.events, watch.unread, watch.missed_bytes);
            sheet.fact("events", Tone::Plain, &format!("{events} · {}", counted(watch.bookmarks, "bookmark")));
            let open = format!("{} now · {} in total", count(watch.open), microseconds(watch.open_us));
            sheet.fact("open", Tone::Plain, &open);
            let end = if watch.last_end.is_empty() { "none ended" } else { &watch.last_end };
            sheet.fact("last end", Tone::Plain, end);
        }
        RequestRow::Other(other) => sheet.fact("median", Tone::Plain, &format!("{} in total", microseconds(other.total_us))),
    }
}

fn latest(row: RequestRow<'_>, snapshot: &Snapshot, sheet: &mut Sheet<'_>) {
    let rule = row.verdict().map(|verdict| verdict.rule);
    let same = |record: &&RequestRecord| {
        record.verb == row.verb() && record.shape == *row.shape() && record.verdict.as_ref().map(|verdict| verdict.rule) == rule
    };
    let records: Vec<&RequestRecord> = snapshot.requests.iter().rev().filter(same).take(MOST_REQUESTS).collect();
    sheet.section("LATEST");
    if records.is_empty() {
        sheet.print(Tone::Quiet, "none of the latest requests has this shape and rule");
        return;
    }
    let is_joined = records.iter().any(|record| record.user.is_some() || record.server_us.is_some());
    let rows: Vec<Vec<Cell>> = records.into_iter().map(|record| cells(record, is_joined, sheet)).collect();
    sheet.table("LATEST", if is_joined { LATEST_JOINED } else { LATEST }, &rows);
}

fn cells(record: &RequestRecord, is_joined: bool, sheet: &Sheet<'_>) -> Vec<Cell> {
    let events =
        record.watch.as_ref().filter(|_| record.items != Amount::UNKNOWN).map(observer_core::exchange::WatchStream::events);
    let objects = events.map_or(record.items, Amount::of);
    let unread = u64::from(record.not_read.is_some());
    let status = record.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
    let none = || "-".to_owned();
    let by = is_joined.then(|| user(record.user.as_ref()));
    let in_server = is_joined.then(|| record.server_us.map_or_else(none, microseconds));
    let cells = [
        Some(sheet.time_of_day(record.at)),
        Some(program(&record.client)),
        by,
        Some(status),
        Some(known(objects, unread, record.missed_bytes)),
        Some(bytes(record.bytes)),
        Some(record.total_us.map_or_else(|| "ongoing".to_owned(), microseconds)),
        in_server,
        Some(record.ending().unwrap_or_else(none)),
    ];
    cells.into_iter().flatten().map(|cell| Cell::words(&cell)).collect()
}
