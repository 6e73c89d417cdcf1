//! The output of `watchtap verify`.

use observer_core::routing::{Fallback, ServedFrom};
use observer_core::verification::{Attempt, Counters, Judgement, Measured, Row};
use serde::Serialize;

use super::colour::{Colour, Tone};
use super::quantity::counted;
use super::table::{Align, Cell, Table};
use super::verdict::either;
use crate::printable::{Printable, json};
use crate::verification::Verification;

/// Schema of `verify --format json`.
pub const VERIFY_SCHEMA: &str = "watchtap.verify/v1";

#[derive(Serialize)]
struct Document<'v> {
    schema: &'static str,
    watchtap: &'static str,
    #[serde(flatten)]
    verification: &'v Verification,
}

/// All rows as one JSON object.
pub fn verification_json(verification: &Verification) -> serde_json::Result<Printable> {
    let document = Document { schema: VERIFY_SCHEMA, watchtap: env!("CARGO_PKG_VERSION"), verification };
    json(&document)
}

/// All rows as a table.
pub fn verification_text(verification: &Verification, colour: Colour) -> Printable {
    let mut out = heading(verification, colour);
    let columns =
        [("", Align::Left), ("SHAPE", Align::Left), ("PREDICTED", Align::Left), ("MEASURED", Align::Left), ("RULE", Align::Left)];
    let mut table = Table::new(&columns);
    for row in &verification.rows {
        table.row(cells(row), notes(row));
    }
    table.render(colour, &mut out);
    out.end_line();
    out.push_line(summary(verification));
    out
}

fn heading(verification: &Verification, colour: Colour) -> Printable {
    let quiet = if verification.chosen { " (idle: no other client reads it)" } else { "" };
    let title = format!("API server {} · resource {}{quiet}", verification.server_version, verification.resource);
    let asked = counted(u64::from(verification.requests), "request");
    let mut out = colour.paint(Tone::Heading, &title);
    out.end_line();
    out.push_line(format_args!("{asked}, reads only · measured by {}", verification.witnesses.join(", ")));
    out.push_line(format_args!("predicted from {}", verification.assumptions.join(" · ")));
    out.end_line();
    out
}

fn cells(row: &Row) -> Vec<Cell> {
    let measured = row.attempts.last().map_or_else(|| "-".to_owned(), |attempt| attempt.measured.to_string());
    let tone = match row.judgement {
        Judgement::Agree => Tone::Good,
        Judgement::Disagree => Tone::Bad,
        Judgement::Noisy | Judgement::NotProvoked => Tone::Notable,
    };
    vec![
        Cell::toned(row.judgement.to_string(), tone),
        Cell::new(row.shape),
        Cell::new(predicted(row)),
        Cell::new(measured),
        Cell::new(row.rule.map_or("", |rule| rule.as_str())),
    ]
}

/// The predicted layer, and the second outcome if it occurred.
fn predicted(row: &Row) -> String {
    let first = match &row.predicted {
        None => return "-".to_owned(),
        Some(ServedFrom::Unknown { remaining, .. }) => either(remaining),
        Some(ServedFrom::Rejected { status, .. }) => format!("refused with {status}"),
        Some(
            known @ (ServedFrom::Cache
            | ServedFrom::CacheConsistent
            | ServedFrom::Snapshot
            | ServedFrom::Etcd
            | ServedFrom::Proxied),
        ) => known.to_string(),
    };
    let measured = row.attempts.last().map(|attempt| attempt.measured);
    match (row.otherwise, measured) {
        (Some(otherwise), Some(Measured::AfterWaiting | Measured::Refused { .. } | Measured::ErrorEvent { .. })) => {
            match otherwise.then {
                Fallback::Rejected { status } => format!("{first}, else {status}"),
                then @ (Fallback::Etcd | Fallback::ErrorEvent { .. }) => format!("{first}, else {then}"),
            }
        }
        _ => first,
    }
}

/// The note of a row. If prediction and measurement do not agree, also its request and the result of each attempt.
fn notes(row: &Row) -> Vec<String> {
    let mut notes: Vec<String> = row.note.iter().cloned().collect();
    if matches!(row.judgement, Judgement::Disagree | Judgement::Noisy) {
        notes.push(format!("GET {}", row.request));
        for attempt in &row.attempts {
            let moved = attempt.moved;
            notes.push(format!("status {} · {}{}", attempt.answer.status, counters(moved), disturbance(attempt)));
        }
    }
    notes
}

fn counters(moved: Counters) -> String {
    let counts = [
        ("cache lists", moved.cache_lists),
        ("storage lists", moved.storage_lists),
        ("etcd gets", moved.etcd_gets),
        ("etcd lists", moved.etcd_lists),
        ("fallbacks", moved.fallbacks),
        ("initial events", moved.initial_events),
    ];
    let moved: Vec<String> =
        counts.iter().filter(|(_, count)| *count != 0).map(|(name, count)| format!("{name} {count:+}")).collect();
    if moved.is_empty() { "no counter moved".to_owned() } else { moved.join(", ") }
}

/// The requests of other clients during an attempt.
fn disturbance(attempt: &Attempt) -> String {
    let others = attempt.other_requests.filter(|others| *others > 0).map(|others| format!(" · {others} requests of other clients"));
    let control = attempt
        .control
        .filter(|control| !control.is_still())
        .map(|control| format!(" · without our request: {}", counters(control)));
    others.into_iter().chain(control).collect()
}

fn summary(verification: &Verification) -> String {
    let tally = verification.tally;
    let mut words = vec![format!("{} agree", tally.agree), format!("{} disagree", tally.disagree)];
    let further = [(tally.noisy, "noisy (other clients read it, too)"), (tally.not_provoked, "not provoked")];
    if tally.inconclusive > 0 {
        let agreements = counted(u64::try_from(tally.inconclusive).unwrap_or(u64::MAX), "agreement");
        let prove = if tally.inconclusive == 1 { "proves" } else { "prove" };
        words.push(format!("{agreements} {prove} nothing (any answer would have agreed)"));
    }
    words.extend(further.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    let shapes = counted(u64::try_from(tally.shapes).unwrap_or(u64::MAX), "shape");
    format!("{shapes}: {}", words.join(", "))
}
