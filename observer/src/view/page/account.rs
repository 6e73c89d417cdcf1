//! The selected row in sentences: the evidence, the cause, and the change to make.

use observer_core::observer::{Finding, Snapshot};
use observer_core::reflector::{ReflectorId, ReflectorRow, RelistCause, cause_label};
use observer_core::routing;
use observer_core::storm::StormRecord;

use super::clients::reflectors_of;
use super::line::Line;
use super::request_row::RequestRow;
use super::row::RowKey;
use super::sheet::Sheet;
use crate::view::colour::Tone;
use crate::view::following::layers;
use crate::view::quantity::{bytes, count, counted};

/// Maximum number of lines about the selected row, below the table.
pub(super) const LINES: u16 = 4;

/// Width of the label before a sentence, in cells.
const LABEL: usize = 10;

/// A label, a tone, and the sentence that they belong to.
type Sentence = (&'static str, Tone, String);

/// The account of a row, in at most [`LINES`] lines.
pub(super) fn lines(key: &RowKey, snapshot: &Snapshot, cells: usize) -> Vec<Line> {
    let mut sheet = Sheet::new(cells);
    for (label, tone, sentence) in sentences(key, snapshot) {
        sheet.hang(&format!("  {label:<LABEL$}"), tone, &sentence);
    }
    let mut lines = sheet.into_lines();
    if lines.len() > usize::from(LINES) {
        lines.truncate(usize::from(LINES) - 1);
        lines.push(Line::of(Tone::Quiet, "  … enter shows the rest"));
    }
    lines
}

fn sentences(key: &RowKey, snapshot: &Snapshot) -> Vec<Sentence> {
    match key {
        RowKey::Reflector(id) => {
            snapshot.reflectors.iter().find(|row| row.reflector == *id).map_or_else(Vec::new, |row| of_reflector(row, snapshot))
        }
        RowKey::Request(key) => RequestRow::all(snapshot).find(|row| row.key() == **key).map_or_else(Vec::new, of_requests),
        RowKey::Storm(id) => snapshot.storms.iter().find(|storm| storm.storm == *id).map_or_else(Vec::new, of_storm),
        RowKey::Client(id) => {
            let ids: Vec<ReflectorId> = reflectors_of(snapshot, *id).iter().map(|row| row.reflector).collect();
            advice(snapshot, &ids)
        }
        RowKey::Finding(id) => snapshot.findings.iter().find(|finding| finding.id == *id).map_or_else(Vec::new, of_finding),
    }
}

fn of_reflector(row: &ReflectorRow, snapshot: &Snapshot) -> Vec<Sentence> {
    let cause = row.last_relist.as_ref().and_then(|relist| relist.cause);
    let why = cause.map(|cause| ("why", Tone::Notable, cause_in_words(cause)));
    why.into_iter().chain(advice(snapshot, &[row.reflector])).collect()
}

/// The cause in words, after `relisted:`. A client that begins from nothing does not relist, so its cause has no such word.
fn cause_in_words(cause: RelistCause) -> String {
    if cause.begins_from_nothing() { cause.sentence() } else { format!("relisted: {}", cause.sentence()) }
}

/// The findings about any of `reflectors`.
fn advice(snapshot: &Snapshot, reflectors: &[ReflectorId]) -> Vec<Sentence> {
    let about_them = |finding: &&Finding| finding.reflectors.iter().any(|id| reflectors.contains(id));
    snapshot.findings.iter().filter(about_them).flat_map(of_finding).collect()
}

fn of_finding(finding: &Finding) -> Vec<Sentence> {
    vec![("evidence", Tone::Notable, finding.seen.clone()), ("advice", Tone::Plain, finding.advice.to_owned())]
}

fn of_requests(row: RequestRow<'_>) -> Vec<Sentence> {
    let rule = row.verdict().and_then(|verdict| routing::rule(verdict.rule));
    rule.map(|rule| ("why", Tone::Plain, rule.sentence.to_owned())).into_iter().collect()
}

fn of_storm(storm: &StormRecord) -> Vec<Sentence> {
    let causes: Vec<String> =
        storm.causes.iter().map(|(cause, number)| format!("{} × {}", count(*number), cause_label(cause))).collect();
    let (reflectors, clients) = (counted(storm.reflectors, "reflector"), counted(storm.clients, "client"));
    let (objects, unchanged) = (counted(storm.items, "object"), count(storm.repeated));
    let cost = format!("{reflectors} of {clients} · {objects}, {unchanged} of them unchanged · {}", bytes(storm.bytes));
    vec![("why", Tone::Notable, causes.join(" · ")), ("cost", Tone::Plain, cost), ("layers", Tone::Plain, layers(storm))]
}
