//! The report of one run, as Markdown: whether it kept its budget, its problems and storms, and a note on the worst problem.

use observer_core::observer::{Faults, Problem, Snapshot};
use observer_core::storm::StormRecord;

use super::answer::answer;
use super::budget;
use super::faults;
use super::following::lasted;
use super::log;
use super::markdown::{Column, Inline, Markdown};
use super::missed::{connections, not_exported, not_seen, not_understood, unrecorded};
use super::note::worst_note;
use super::problems;
use super::quantity::{bytes, count, counted, length};
use super::report::{is_silent, server};
use super::run::{BudgetKept, Run};
use crate::printable::Printable;

/// Maximum numbers of facts, limits, problems, storms and faults shown. With a note, or with faults instead of it, the report has
/// at most 60 lines.
const MAX_FACTS: usize = 6;
const MAX_LIMITS: usize = 5;
const MAX_PROBLEMS: usize = 5;
const MAX_STORMS: usize = 2;
const MAX_FAULTS: usize = 16;
/// Maximum number of rows shown per fault, one for each client and resource.
const MAX_FAULT_ROWS: usize = 5;

/// The report of a run for a comment on a pull request, within 60 lines.
pub fn report_markdown(run: &Run, snapshot: &Snapshot) -> Printable {
    let mut document = Markdown::default();
    document.paragraph(&first_line(run, snapshot));
    let facts = facts(run, snapshot);
    document.list(&facts, MAX_FACTS);
    if let Some(kept) = &run.budget {
        limits(kept, &mut document);
    }
    problem_table(&snapshot.problems, &mut document);
    storms(&snapshot.storms, &mut document);
    if snapshot.faults.is_none() {
        if let Some(note) = worst_note(snapshot) {
            document.append(&note);
        }
    } else {
        fault_table(&snapshot.faults, &mut document);
    }
    document.into_printable()
}

/// `**budget exceeded: 2 limits.** **3 problems, 1 of them ongoing.** 3 of 41 lists served from etcd · …`
fn first_line(run: &Run, snapshot: &Snapshot) -> Inline {
    let kept = run.budget.as_ref().map(budget::result);
    let outages = problems::lasting_outages_with_times(snapshot);
    let silent = is_silent(snapshot);
    let found = (!silent).then(|| found(snapshot));
    let bold = kept.into_iter().chain(outages).chain(found);
    let mut line = Inline::default();
    for words in bold {
        line = line.and(Inline::bold(words + ".")).and(Inline::words(" "));
    }
    if silent {
        return line.and(Inline::text(run.silence.join(" ")));
    }
    let parts: Vec<String> = answer(snapshot).into_iter().map(|(_, words)| words).collect();
    line.and(Inline::text(parts.join(" · ")))
}

fn found(snapshot: &Snapshot) -> String {
    let lasting = snapshot.problems.iter().filter(|problem| problem.lasts()).count() as u64;
    let lasting = if lasting > 0 { format!(", {} of them ongoing", count(lasting)) } else { String::new() };
    let muted = snapshot.findings_muted;
    let muted = if muted > 0 { format!(" ({} muted)", counted(muted, "finding")) } else { String::new() };
    match snapshot.problems.len() {
        0 => format!("No problem found{muted}"),
        number => format!("{}{lasting}{muted}", counted(number as u64, "problem")),
    }
}

/// The run, what was missed, and its notes.
fn facts(run: &Run, snapshot: &Snapshot) -> Vec<Inline> {
    let missed = &snapshot.missed;
    let command = if run.command.is_empty() { String::new() } else { format!(": {}", run.command.join(" ")) };
    let lasted = length(snapshot.at.since(snapshot.started.unwrap_or(snapshot.at)));
    let of_run = Inline::code(format_args!("watchtap {}{command}", run.subcommand));
    let mut facts = vec![of_run.and(Inline::text(format_args!(", {lasted}, {}", server(snapshot))))];
    let mut log = run.log.iter().flat_map(|log| log::log_lines(log, snapshot));
    facts.extend(log.next().map(Inline::text));
    facts.extend(log.reduce(|lines, line| lines + "; " + &line).map(Inline::text));
    facts.extend(log::joined(snapshot).into_iter().map(|(_, line)| Inline::text(line)));
    let words = |words: Vec<String>| Inline::text(if words.is_empty() { "nothing".to_owned() } else { words.join(", ") });
    let seen = Inline::words("**Not observed:** ").and(words(not_seen(missed)));
    facts.push(seen.and(Inline::words(" · **unparsed:** ")).and(words(not_understood(missed))));
    let failed = missed.reset_instead_of_refused > 0 || missed.connect_failures > 0;
    let ended = Some(&missed.capture_ended).filter(|why| !why.is_empty());
    let ended = ended.map(|why| format!("stopped writing the capture of this run: {why}"));
    let rest = failed.then(|| connections(missed)).into_iter().chain(problems::outages_over(snapshot)).chain(ended);
    let rest = rest.chain(not_exported(missed));
    let rest = rest.chain(run.notes.iter().map(|note| format!("note: {note}")));
    facts.extend(rest.chain(missed.unrecorded_spans.iter().map(unrecorded)).map(Inline::text));
    facts
}

fn limits(kept: &BudgetKept, document: &mut Markdown) {
    let rows = kept.exceeded.iter().map(|excess| {
        let [of, what, allowed, used, more] = budget::cells(excess);
        vec![Inline::code(of), Inline::text(what), Inline::text(allowed), Inline::bold(used), Inline::text(more)]
    });
    let rows: Vec<Vec<Inline>> = rows.collect();
    let columns =
        [Column::Left("budget"), Column::Left("quantity"), Column::Right("allowed"), Column::Right("used"), Column::Right("more")];
    document.table(&columns, &rows, MAX_LIMITS);
}

fn problem_table(problems: &[Problem], document: &mut Markdown) {
    let rows = problems.iter().map(|problem| {
        let period = problem.spell.map_or_else(String::new, problems::when);
        vec![
            Inline::code(problem.kind),
            Inline::text(&problem.wrong),
            Inline::text(&problem.change),
            Inline::text(count(problem.findings.len() as u64)),
            Inline::text(period),
        ]
    });
    let rows: Vec<Vec<Inline>> = rows.collect();
    let columns = [
        Column::Left("problem"),
        Column::Left("evidence"),
        Column::Left("change to make"),
        Column::Right("findings"),
        Column::Left("when"),
    ];
    document.table(&columns, &rows, MAX_PROBLEMS);
}

/// The latest faults of a demo cluster.
fn fault_table(faults: &Faults, document: &mut Markdown) {
    let hidden = faults.latest.len().saturating_sub(MAX_FAULTS);
    let before = faults.dropped().saturating_add(hidden as u64);
    if before > 0 {
        document.paragraph(&Inline::text(format_args!("… {} before these", counted(before, "fault"))));
    }
    let rows = faults.latest.iter().skip(hidden).map(|fault| {
        let followed = faults::followed_first(fault, MAX_FAULT_ROWS).into_iter().map(|(_, line)| Inline::text(line));
        let findings = fault.findings.join(", ");
        let followed = followed.reduce(|one, next| one.and(Inline::words(" · ")).and(next)).unwrap_or_default();
        vec![Inline::text(faults::clock(fault)), Inline::code(&fault.act), followed, Inline::text(findings)]
    });
    let rows: Vec<Vec<Inline>> = rows.collect();
    let columns =
        [Column::Left("when"), Column::Left("fault"), Column::Left("after it, until the next"), Column::Left("new findings")];
    document.table(&columns, &rows, MAX_FAULTS);
}

fn storms(storms: &[StormRecord], document: &mut Markdown) {
    let rows = storms.iter().map(|storm| {
        let state = if storm.ended.is_some() { "" } else { " (ongoing)" };
        vec![
            Inline::text(format_args!("{}{state}", storm.storm)),
            Inline::code(storm.trigger),
            Inline::text(count(storm.reflectors)),
            Inline::text(count(storm.relists)),
            Inline::text(format_args!("{} ({} unchanged)", count(storm.items), count(storm.repeated))),
            Inline::text(bytes(storm.bytes)),
            Inline::text(length(lasted(storm))),
        ]
    });
    let rows: Vec<Vec<Inline>> = rows.collect();
    let columns = [
        Column::Left("storm"),
        Column::Left("trigger"),
        Column::Right("reflectors"),
        Column::Right("relists"),
        Column::Right("objects"),
        Column::Right("bytes"),
        Column::Right("joined within"),
    ];
    document.table(&columns, &rows, MAX_STORMS);
}
