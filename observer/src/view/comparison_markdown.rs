//! A comparison of two runs, as Markdown.

use observer_core::k8s::Verb;
use observer_core::observer::{Change, Comparison, ComparisonRow, Side};
use observer_core::reflector::cause_label;

use super::changes::{Answer, amounts, arrow, measured, measures, served_from, totals, word};
use super::markdown::{Column, Inline, Markdown};
use super::quantity::{bytes, count, counted};
use crate::printable::Printable;

/// Maximum numbers of notes, findings, causes and requests shown. The complete document then has at most 60 lines.
const MAX_NOTES: usize = 2;
const MAX_FINDINGS: usize = 6;
const MAX_CAUSES: usize = 4;
const MAX_REQUESTS: usize = 7;

/// The changes for a comment on a pull request, worst first, within 60 lines. `names` are the names of the first and the second
/// run.
pub fn comparison_markdown(names: [&str; 2], notes: &[String], comparison: &Comparison) -> Printable {
    let mut document = Markdown::default();
    document.paragraph(&answer(comparison));
    let runs = [(names[0], "before", &comparison.before), (names[1], "after", &comparison.after)];
    let runs = runs.map(|(name, label, run)| {
        let label = Inline::words(label).and(Inline::words(" "));
        label.and(Inline::code(name)).and(Inline::words(": ")).and(Inline::text(totals(run)))
    });
    document.list(&runs, runs.len());
    let notes: Vec<Inline> = notes.iter().map(|note| Inline::words("note: ").and(Inline::text(note))).collect();
    document.list(&notes, MAX_NOTES);
    measure_table(comparison, &mut document);
    findings(comparison, &mut document);
    causes(comparison, &mut document);
    requests(comparison, &mut document);
    document.into_printable()
}

/// `**Worse:** 1 new finding, relists 0 → 12. **Better:** lists from etcd 3 → 0.`
fn answer(comparison: &Comparison) -> Inline {
    let Answer { worse, better } = Answer::of(comparison);
    let part = |label, words: Option<String>| {
        words.map(|words| Inline::bold(label).and(Inline::words(" ")).and(Inline::text(words)).and(Inline::words(".")))
    };
    match (part("Worse:", worse), part("Better:", better)) {
        (None, None) => Inline::words("**Neither better nor worse.**"),
        (Some(worse), Some(better)) => worse.and(Inline::words(" ")).and(better),
        (one, other) => one.or(other).unwrap_or_default(),
    }
}

fn measure_table(comparison: &Comparison, document: &mut Markdown) {
    let rows = measures(comparison).map(|row| {
        let [before, after] = measured(row);
        vec![change(row.change), Inline::text(row.measure), Inline::text(before), Inline::text(after)]
    });
    let rows: Vec<Vec<Inline>> = rows.collect();
    let columns = [Column::Left("change"), Column::Left("measure"), Column::Right("before"), Column::Right("after")];
    document.table(&columns, &rows, rows.len());
}

fn findings(comparison: &Comparison, document: &mut Markdown) {
    let rows = comparison.findings.iter().filter(|row| row.change != Change::Same).map(|row| {
        let is_over = row.after.is_none();
        let advice = if is_over { Inline::default() } else { Inline::text(row.advice) };
        vec![change(row.change), Inline::code(&row.id), Inline::text(amounts(row)), advice]
    });
    let rows: Vec<Vec<Inline>> = rows.collect();
    let columns = [Column::Left("change"), Column::Left("finding"), Column::Left("amount"), Column::Left("change to make")];
    document.table(&columns, &rows, MAX_FINDINGS);
}

fn causes(comparison: &Comparison, document: &mut Markdown) {
    let rows = comparison.relists.iter().filter(|row| row.change != Change::Same).map(|row| {
        let label = Inline::text(cause_label(&row.cause));
        vec![change(row.change), label, Inline::text(count(row.before)), Inline::text(count(row.after))]
    });
    let rows: Vec<Vec<Inline>> = rows.collect();
    let columns = [Column::Left("change"), Column::Left("relists by cause"), Column::Right("before"), Column::Right("after")];
    document.table(&columns, &rows, MAX_CAUSES);
}

fn requests(comparison: &Comparison, document: &mut Markdown) {
    let changed = comparison.rows.iter().filter(|row| row.change != Change::Same);
    let rows: Vec<Vec<Inline>> = changed.map(request).collect();
    let columns = [
        Column::Left("change"),
        Column::Left("request"),
        Column::Right("number"),
        Column::Left("served from"),
        Column::Right("failed"),
        Column::Right("bytes"),
    ];
    document.table(&columns, &rows, MAX_REQUESTS);
    let same = comparison.rows.len() - rows.len();
    document.paragraph(&Inline::text(counted(same as u64, "shape")).and(Inline::words(" of requests did not change.")));
}

fn request(row: &ComparisonRow) -> Vec<Inline> {
    let verb = row.verb.map_or("unknown", Verb::as_str);
    let both = |shown: &dyn Fn(&Side) -> String| Inline::text(arrow(row.before.as_ref().map(shown), row.after.as_ref().map(shown)));
    vec![
        Inline::text(word(row.change)),
        Inline::code(format_args!("{verb} {}", row.shape)),
        both(&|side| count(side.count)),
        both(&served_from),
        both(&|side| count(side.failed)),
        both(&|side| bytes(side.bytes)),
    ]
}

/// The word for a change. New and worse changes are in bold.
fn change(change: Change) -> Inline {
    match change {
        Change::New | Change::Worse => Inline::bold(word(change)),
        Change::Gone | Change::Better | Change::Moved | Change::Changed | Change::Same => Inline::text(word(change)),
    }
}
