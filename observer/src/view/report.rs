//! The report of one run, as text.

use observer_core::observer::{ListRow, Missed, OtherRow, Snapshot, VerdictRecord, WatchRow};
use observer_core::quantity::Amount;
use observer_core::reflector::{PropagationRow, ReflectorRow, ReflectorState};
use observer_core::time::Timestamp;

use super::answer::answer;
use super::budget::budget;
use super::client::ClientPods;
use super::client_table::clients;
use super::colour::{Colour, Tone};
use super::faults::faults;
use super::following;
use super::inventory::inventory;
use super::log;
use super::missed::{connections, not_exported, not_seen, not_understood, unrecorded};
use super::problems;
use super::quantity::{bytes, count, counted, length, microseconds, microseconds_or_none};
use super::run::Run;
use super::table::{Align, Cell, Table};
use super::verdict::{detail, marked_cell, rule, served_tone};
use crate::printable::Printable;

/// Maximum number of rows shown per table. A line counts the rest, and JSON has all.
const MAX_ROWS: usize = 15;

/// The report of a run or of its replay: results first, then losses, then the tables.
pub fn report_text(run: &Run, snapshot: &Snapshot, colour: Colour) -> Printable {
    let mut out = Printable::new();
    header(run, snapshot, colour, &mut out);
    for (tone, line) in run.log.iter().flat_map(|log| log::head(log, snapshot)).chain(log::joined(snapshot)) {
        out.append(&colour.paint(tone, line));
        out.end_line();
    }
    if let Some(kept) = &run.budget {
        budget(kept, colour, &mut out);
    }
    for line in problems::lasting_outages_with_times(snapshot) {
        out.append(&colour.paint(Tone::Bad, line));
        out.end_line();
    }
    write_answer(snapshot, colour, &mut out);
    problems(snapshot, colour, &mut out);
    storms(snapshot, colour, &mut out);
    missed(&snapshot.missed, colour, &mut out);
    for note in &run.notes {
        out.append(&colour.paint(Tone::Notable, format_args!("note: {note}")));
        out.end_line();
    }
    if is_silent(snapshot) {
        out.end_line();
        for line in &run.silence {
            out.push_line(line);
        }
        return out;
    }
    faults(&snapshot.faults, colour, &mut out);
    let (pods, is_log) = (ClientPods::of(snapshot), run.log.is_some());
    clients(snapshot, &pods, is_log, colour, &mut out);
    lists(&snapshot.lists, is_log, colour, &mut out);
    watches(&snapshot.watches, is_log, colour, &mut out);
    reflectors(&snapshot.reflectors, &pods, snapshot.reflectors_at(), is_log, colour, &mut out);
    inventory(snapshot, colour, &mut out);
    own_writes(&snapshot.propagation, &pods, colour, &mut out);
    others(&snapshot.others, is_log, colour, &mut out);
    findings(snapshot, colour, &mut out);
    legend(snapshot, colour, &mut out);
    out
}

/// Whether no client is known to have tried to connect.
pub(super) fn is_silent(snapshot: &Snapshot) -> bool {
    let Snapshot { totals, missed, .. } = snapshot;
    let no_traffic = totals.requests == 0 && totals.connections == 0;
    let unseen = [missed.connections, missed.notices, missed.connect_failures, missed.reset_instead_of_refused];
    no_traffic && unseen == [0; 4]
}

/// `API server: version v1.34.4 (/version); …`, `2 API servers`.
pub(super) fn server(snapshot: &Snapshot) -> String {
    if snapshot.upstreams.is_empty() {
        format!("API server: {}", snapshot.profile.assumptions().join("; "))
    } else {
        counted(snapshot.upstreams.len() as u64, "API server")
    }
}

fn header(run: &Run, snapshot: &Snapshot, colour: Colour, out: &mut Printable) {
    let command = if run.command.is_empty() { String::new() } else { format!(": {}", run.command.join(" ")) };
    let started = snapshot.started.unwrap_or(snapshot.at);
    let title = colour.paint(Tone::Heading, format_args!("watchtap {}{command}", run.subcommand));
    out.append(&title);
    out.push_line(format_args!("   {}   {}", server(snapshot), length(snapshot.at.since(started))));
    out.end_line();
    for one in &snapshot.upstreams {
        let assumptions = one.profile.assumptions().join("; ");
        out.push_line(format_args!("{}: {assumptions} · {}", one.upstream.0, counted(one.connections, "connection")));
    }
    if !snapshot.upstreams.is_empty() {
        out.end_line();
    }
}

fn write_answer(snapshot: &Snapshot, colour: Colour, out: &mut Printable) {
    for (index, (tone, words)) in answer(snapshot).into_iter().enumerate() {
        if index > 0 {
            out.push(" · ");
        }
        out.append(&colour.paint(tone, words));
    }
    out.end_line();
}

/// The problems and the changes to make, before all details.
fn problems(snapshot: &Snapshot, colour: Colour, out: &mut Printable) {
    for (tone, line) in problems::lines(snapshot) {
        out.append(&colour.paint(tone, line));
        out.end_line();
    }
}

/// Each storm, and the cost of a restart.
fn storms(snapshot: &Snapshot, colour: Colour, out: &mut Printable) {
    for storm in &snapshot.storms {
        out.append(&colour.paint(Tone::Bad, following::storm(storm)));
        out.end_line();
    }
    if let Some(exposure) = following::exposure(&snapshot.exposure) {
        out.push_line(&exposure);
    }
}

fn missed(missed: &Missed, colour: Colour, out: &mut Printable) {
    let (seen, understood) = (not_seen(missed), not_understood(missed));
    let tone = |words: &[String]| if words.is_empty() { Tone::Plain } else { Tone::Bad };
    let text = |words: &[String]| if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
    for (label, words) in [("not observed: ", seen), (" · unparsed: ", understood)] {
        out.push(label);
        out.append(&colour.paint(tone(&words), text(&words)));
    }
    out.end_line();
    if missed.reset_instead_of_refused > 0 || missed.connect_failures > 0 {
        out.append(&colour.paint(Tone::Bad, connections(missed)));
        out.end_line();
    }
    let ended = Some(&missed.capture_ended).filter(|why| !why.is_empty());
    let ended = ended.map(|why| format!("stopped writing the capture of this run: {why}"));
    for line in missed.unrecorded_spans.iter().map(unrecorded).chain(ended).chain(not_exported(missed)) {
        out.append(&colour.paint(Tone::Bad, &line));
        out.end_line();
    }
}

fn lists(rows: &[ListRow], is_log: bool, colour: Colour, out: &mut Printable) {
    if rows.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("LISTS", Align::Left),
        ("N", Align::Right),
        ("  SERVED FROM", Align::Left),
        ("RULE", Align::Left),
        ("OBJECTS", Align::Right),
        ("BYTES", Align::Right),
        ("FIRST BYTE (MEDIAN)", Align::Right),
        ("TOTAL (MEDIAN)", Align::Right),
    ])
    .of_log(is_log);
    for row in rows.iter().take(MAX_ROWS) {
        let verdict = row.verdict.as_ref();
        let cells = vec![
            Cell::new(row.shape.to_string()),
            Cell::new(count(row.count)),
            Cell::toned(marked_cell(verdict), served_tone(verdict)),
            Cell::new(rule(verdict)),
            Cell::new(known(row.items, row.unread, row.missed_bytes)),
            Cell::new(bytes(row.bytes)),
            Cell::new(first_byte(row)),
            Cell::new(microseconds(row.total_us)),
        ];
        table.row(cells, notes(verdict, row.etcd_reads_vary, row.failed, row.count));
    }
    out.end_line();
    table.render(colour, out);
    left_out(rows.len(), out);
}

/// The median time to the head of the response; unknown in a log.
fn first_byte(row: &ListRow) -> String {
    match (row.first_byte_us, row.bytes.known()) {
        (None, None) => "?".to_owned(),
        (time, _) => microseconds_or_none(time),
    }
}

/// The details of a verdict other than its layer and rule, and the number of failures.
fn notes(verdict: Option<&VerdictRecord>, reads_vary: bool, failed: u64, all: u64) -> Vec<String> {
    let others = if reads_vary { ", and similar ones" } else { "" };
    let reads = verdict.iter().flat_map(|verdict| &verdict.etcd_reads).map(|read| format!("reads {read}{others}"));
    let detail = verdict.and_then(detail);
    let failed = (failed > 0).then(|| format!("{} of {} failed", count(failed), count(all)));
    detail.into_iter().chain(reads).chain(failed).collect()
}

/// A lower bound if bytes were missed or answers were not understood; `-` if none was understood.
pub(super) fn known(number: Amount, unread: u64, missed_bytes: u64) -> String {
    match (number.known(), unread, missed_bytes) {
        (Some(0), 1.., _) => "-".to_owned(),
        (None, ..) | (_, 0, 0) => count(number),
        _ => format!("≥ {}", count(number)),
    }
}

fn watches(rows: &[WatchRow], is_log: bool, colour: Colour, out: &mut Printable) {
    if rows.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("WATCHES", Align::Left),
        ("N", Align::Right),
        ("  SERVED FROM", Align::Left),
        ("RULE", Align::Left),
        ("TIME OPEN (SUM)", Align::Right),
        ("EVENTS", Align::Right),
        ("BOOKMARKS", Align::Right),
        ("BYTES", Align::Right),
        ("LAST END", Align::Left),
    ])
    .of_log(is_log);
    for row in rows.iter().take(MAX_ROWS) {
        let verdict = row.verdict.as_ref();
        let end = if row.open > 0 { format!("{} open", count(row.open)) } else { row.last_end.clone() };
        let cells = vec![
            Cell::new(row.shape.to_string()),
            Cell::new(count(row.count)),
            Cell::toned(marked_cell(verdict), served_tone(verdict)),
            Cell::new(rule(verdict)),
            Cell::new(microseconds(row.open_us)),
            Cell::new(known(row.events, row.unread, row.missed_bytes)),
            Cell::new(count(row.bookmarks)),
            Cell::new(bytes(row.bytes)),
            Cell::new(end),
        ];
        table.row(cells, notes(verdict, row.etcd_reads_vary, row.failed, row.count));
    }
    out.end_line();
    table.render(colour, out);
    left_out(rows.len(), out);
}

/// How long clients wait until their own watches deliver their own writes.
fn own_writes(rows: &[PropagationRow], pods: &ClientPods, colour: Colour, out: &mut Printable) {
    if rows.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("OWN WRITES, DELIVERED BY OWN WATCH", Align::Left),
        ("N", Align::Right),
        ("BEFORE ANSWER", Align::Right),
        ("MEDIAN AFTER", Align::Right),
        ("P99 AFTER", Align::Right),
        ("LONGEST", Align::Right),
    ]);
    for row in rows.iter().take(MAX_ROWS) {
        let cells = [
            format!("{} {}", pods.client(row.client_id, &row.client), row.resource),
            count(row.writes),
            count(row.before_answer),
            microseconds(row.median_us),
            microseconds(row.p99_us),
            microseconds(row.max_us),
        ];
        table.row(cells.into_iter().map(Cell::new).collect(), Vec::new());
    }
    out.end_line();
    table.render(colour, out);
    left_out(rows.len(), out);
}

fn reflectors(rows: &[ReflectorRow], pods: &ClientPods, now: Timestamp, is_log: bool, colour: Colour, out: &mut Printable) {
    // A client that only lists is no reflector, unless it is one that gets no answer.
    let is_one = |row: &&ReflectorRow| row.has_watched() || row.state == ReflectorState::Stuck;
    let rows: Vec<&ReflectorRow> = rows.iter().filter(is_one).collect();
    if rows.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("REFLECTORS", Align::Left),
        ("STATE", Align::Left),
        ("IN STATE", Align::Right),
        ("BEHIND", Align::Right),
        ("RESUMES", Align::Right),
        ("RELISTS", Align::Right),
        ("LAST CAUSE", Align::Left),
        ("UNCHANGED", Align::Right),
        ("RECEIVED", Align::Right),
    ])
    .of_log(is_log);
    for row in rows.iter().take(MAX_ROWS) {
        let cause = following::last_cause(row);
        let subject = following::subject_of(&pods.client(row.client_id, &row.client), &row.shape);
        let cells = vec![
            Cell::new(format!("{} {subject}", row.reflector)),
            Cell::toned(following::state(row).to_owned(), state_tone(row.state)),
            Cell::new(following::age(row.since, now)),
            Cell::new(row.behind.map_or_else(|| "?".to_owned(), count)),
            Cell::new(count(row.resumes)),
            Cell::toned(count(row.relists), if row.relists > 0 { Tone::Notable } else { Tone::Plain }),
            Cell::new(cause),
            Cell::new(following::unchanged(row.repeats)),
            Cell::new(count(row.repeats.objects)),
        ];
        table.row(cells, Vec::new());
    }
    out.end_line();
    table.render(colour, out);
    left_out(rows.len(), out);
}

pub(super) const fn state_tone(state: ReflectorState) -> Tone {
    match state {
        ReflectorState::Stuck | ReflectorState::Stalled => Tone::Bad,
        ReflectorState::Listing | ReflectorState::Waiting => Tone::Notable,
        ReflectorState::Listed | ReflectorState::Watching => Tone::Plain,
    }
}

fn findings(snapshot: &Snapshot, colour: Colour, out: &mut Printable) {
    if snapshot.findings.is_empty() && snapshot.findings_muted == 0 {
        return;
    }
    out.end_line();
    out.append(&colour.paint(Tone::Heading, "FINDINGS"));
    let muted = if snapshot.findings_muted > 0 { format!(" ({} muted)", count(snapshot.findings_muted)) } else { String::new() };
    out.push_line(&muted);
    for (tone, line) in problems::details(snapshot) {
        out.append(&colour.paint(tone, line));
        out.end_line();
    }
}

fn others(rows: &[OtherRow], is_log: bool, colour: Colour, out: &mut Printable) {
    if rows.is_empty() {
        return;
    }
    let mut table = Table::new(&[
        ("OTHER REQUESTS", Align::Left),
        ("N", Align::Right),
        ("  SERVED FROM", Align::Left),
        ("RULE", Align::Left),
        ("FAILED", Align::Right),
        ("BYTES", Align::Right),
        ("TOTAL (MEDIAN)", Align::Right),
    ])
    .of_log(is_log);
    for row in rows.iter().take(MAX_ROWS) {
        let verdict = row.verdict.as_ref();
        let verb = row.verb.map_or("unknown", observer_core::k8s::Verb::as_str);
        let cells = vec![
            Cell::new(format!("{verb} {}", row.shape)),
            Cell::new(count(row.count)),
            Cell::toned(marked_cell(verdict), served_tone(verdict)),
            Cell::new(rule(verdict)),
            Cell::new(count(row.failed)),
            Cell::new(bytes(row.bytes)),
            Cell::new(microseconds(row.total_us)),
        ];
        table.row(cells, notes(verdict, row.etcd_reads_vary, 0, row.count));
    }
    out.end_line();
    table.render(colour, out);
    left_out(rows.len(), out);
}

fn left_out(rows: usize, out: &mut Printable) {
    if rows > MAX_ROWS {
        out.push_line(format_args!("… and {} (all in --format json)", counted((rows - MAX_ROWS) as u64, "more row")));
    }
}

fn legend(snapshot: &Snapshot, colour: Colour, out: &mut Printable) {
    let first_rule = snapshot.lists.iter().find_map(|row| row.verdict.as_ref()).map(|verdict| verdict.rule);
    let rule = first_rule.unwrap_or("RULE");
    let totals = &snapshot.totals;
    let weighed = match (totals.confirmed, totals.contradicted) {
        (0, 0) => "in this run, no answer confirmed or contradicted a verdict".to_owned(),
        (confirmed, contradicted) => {
            format!("in this run, answers confirmed {} and contradicted {}", counted(confirmed, "verdict"), count(contradicted))
        }
    };
    let marks =
        "~ predicted from the request and the server's version, ! contradicted by the answer, no mark: confirmed by it; a row has the mark of its least certain request".to_owned();
    out.end_line();
    for line in [marks, weighed, format!("why: watchtap explain {rule}")] {
        out.append(&colour.paint(Tone::Quiet, line));
        out.end_line();
    }
}
