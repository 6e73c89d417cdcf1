//! The faults of a demo cluster, each with what clients did until the next one, in words.

use std::collections::BTreeMap;

use observer_core::observer::{FaultRecord, FaultResponse, Faults};
use observer_core::reflector::cause_label;

use super::client::program;
use super::colour::{Colour, Tone};
use super::quantity::{count, counted, counted_as, microseconds, time_of_day};
use crate::printable::Printable;

/// Maximum number of rows shown per fault, one for each client and resource; JSON has all.
const MAX_ROWS: usize = 15;

/// The faults in order, each with what followed until the next one.
pub(super) fn faults(faults: &Faults, colour: Colour, out: &mut Printable) {
    if faults.is_none() {
        return;
    }
    out.end_line();
    out.append(&colour.paint(Tone::Heading, "FAULTS"));
    out.push_line("   each with what clients did until the next one, which is not always because of it");
    if faults.dropped() > 0 {
        out.push_line(format_args!("… {} before these", counted(faults.dropped(), "fault")));
    }
    for fault in &faults.latest {
        out.append(&colour.paint(Tone::Heading, format_args!("{}  {}", clock(fault), fault.act)));
        out.end_line();
        if !fault.note.is_empty() {
            out.append(&colour.paint(Tone::Quiet, format_args!("  {}", fault.note)));
            out.end_line();
        }
        let findings = fault.findings.iter().map(|id| (Tone::Bad, format!("finding {id}")));
        for (tone, line) in followed_first(fault, MAX_ROWS).into_iter().chain(findings) {
            out.append(&colour.paint(tone, format_args!("  · {line}")));
            out.end_line();
        }
    }
}

/// `12:01:35`.
pub(super) fn clock(fault: &FaultRecord) -> String {
    time_of_day(fault.at).get(..8).unwrap_or_default().to_owned()
}

/// The reactions of clients after the fault: at most `most` lines, one for each client and resource, then the number left out.
pub(super) fn followed_first(fault: &FaultRecord, most: usize) -> Vec<(Tone, String)> {
    let rows = fault.clients.iter().take(most).map(|row| (tone(row), response(row)));
    let more = (fault.clients.len().saturating_sub(most) as u64).saturating_add(fault.clients_dropped);
    let more = (more > 0).then(|| (Tone::Quiet, format!("… and {}", counted(more, "more row"))));
    let uncounted =
        (fault.uncounted > 0).then(|| (Tone::Quiet, format!("{} of further clients", counted(fault.uncounted, "event"))));
    let mut lines: Vec<(Tone, String)> = rows.chain(more).chain(uncounted).collect();
    if lines.is_empty() {
        lines.push((Tone::Plain, "no watch ended, no request failed, no relist".to_owned()));
    }
    lines
}

/// `my-controller/0.1 pods: 1 watch ended (410 Expired); 1 relist after 0.9 s (410 Gone: watch cache reset), 12 objects, 11 unchanged`.
fn response(row: &FaultResponse) -> String {
    let watches: u64 = row.watches_ended.values().sum();
    let failed: u64 = row.failed.values().sum();
    let ended = (watches > 0)
        .then(|| format!("{} ended ({})", counted_as(watches, "watch", "watches"), numbered(&row.watches_ended, str::to_owned)));
    let failed = (failed > 0).then(|| format!("{} failed ({})", counted(failed, "request"), numbered(&row.failed, str::to_owned)));
    let initial = (row.initial_lists > 0).then(|| counted(row.initial_lists, "first list"));
    let resumed = (row.resumes > 0)
        .then(|| format!("{} resumed{}", counted_as(row.resumes, "watch", "watches"), after(row.resumed_after_us)));
    let parts: Vec<String> = [ended, failed, resumed, initial, Some(relists(row))].into_iter().flatten().collect();
    format!("{} {}: {}", program(&row.client), row.resource, parts.join("; "))
}

fn relists(row: &FaultResponse) -> String {
    if row.relists == 0 {
        return "no relist".to_owned();
    }
    format!(
        "{}{} ({}), {}, {} unchanged",
        counted(row.relists, "relist"),
        after(row.relisted_after_us),
        numbered(&row.causes, cause_label),
        counted(row.objects, "object"),
        count(row.unchanged),
    )
}

/// ` after 0.9 s`: the time from the fault to the first resume or relist.
fn after(microseconds_after: Option<u64>) -> String {
    microseconds_after.map_or_else(String::new, |after| format!(" after {}", microseconds(after)))
}

/// `429, 3 × 500`: each word with its number, unless the number is 1.
fn numbered(numbers: &BTreeMap<String, u64>, label: impl Fn(&str) -> String) -> String {
    let each = |(word, number): (&String, &u64)| match number {
        1 => label(word),
        number => format!("{} × {}", count(*number), label(word)),
    };
    numbers.iter().map(each).collect::<Vec<_>>().join(", ")
}

fn tone(row: &FaultResponse) -> Tone {
    if row.relists > 0 { Tone::Notable } else { Tone::Plain }
}
