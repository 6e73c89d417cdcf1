//! The changes from one run to another in words, for text and Markdown.

use observer_core::observer::{
    AmountUnit, Change, ComparedFinding, ComparedMeasure, ComparedRun, Comparison, FindingSide, Measure, Side,
};

use super::etcd;
use super::quantity::{bytes, count, counted, counted_as, length, microseconds};

/// Maximum number of phrases for worse results, and for better results.
const MAX_PHRASES: usize = 4;

/// The main results of a comparison: phrases for what got worse, and phrases for what got better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub worse: Option<String>,
    pub better: Option<String>,
}

impl Answer {
    pub(super) fn of(comparison: &Comparison) -> Self {
        let [worse, better] = [Change::Worse, Change::Better].map(|change| phrases(comparison, change));
        Self { worse: joined(worse), better: joined(better) }
    }
}

/// `1 new finding`, `storms 0 → 1`, …: the most important first.
fn phrases(comparison: &Comparison, change: Change) -> Vec<String> {
    let number = |change: Change| comparison.findings.iter().filter(|finding| finding.change == change).count() as u64;
    let findings = match change {
        Change::Worse => [(number(Change::New), "new finding"), (number(Change::Worse), "worse finding")],
        Change::Better => [(number(Change::Gone), "finding gone"), (number(Change::Better), "smaller finding")],
        Change::New | Change::Gone | Change::Moved | Change::Changed | Change::Same => [(0, ""), (0, "")],
    };
    let findings = findings.into_iter().filter(|(number, _)| *number > 0);
    let findings = findings.map(|(number, noun)| counted(number, noun).replace("finding gones", "findings gone"));
    let is_named = |row: &&ComparedMeasure| row.change == change && row.measure != Measure::Findings;
    let measures = comparison.measures.iter().filter(is_named).map(|row| format!("{} {}", row.measure, values(row)));
    findings.chain(measures).collect()
}

fn joined(mut phrases: Vec<String>) -> Option<String> {
    let more = phrases.len().saturating_sub(MAX_PHRASES);
    phrases.truncate(MAX_PHRASES);
    if more > 0 {
        phrases.push(format!("{more} more"));
    }
    (!phrases.is_empty()).then(|| phrases.join(", "))
}

/// `0 → 1`, `5.0 MB → 2.1 MB`.
fn values(row: &ComparedMeasure) -> String {
    let [before, after] = measured(row);
    format!("{before} → {after}")
}

/// The values of a measure in both runs.
pub(super) fn measured(row: &ComparedMeasure) -> [String; 2] {
    [row.before, row.after].map(|value| if row.measure.is_of_bytes() { bytes(value) } else { count(value) })
}

/// The measures that are above 0 in at least one run.
pub(super) fn measures(comparison: &Comparison) -> impl Iterator<Item = &ComparedMeasure> {
    comparison.measures.iter().filter(|row| row.before > 0 || row.after > 0)
}

/// `3.1 s · 12 requests · 3 of 4 lists served from etcd · 2.1 MB`.
pub(super) fn totals(run: &ComparedRun) -> String {
    let totals = &run.totals;
    let duration = length(run.at.since(run.started.unwrap_or(run.at)));
    let unseen = if run.unseen { " · not everything was observed" } else { "" };
    let dropped = if run.dropped { " · some reflectors or storms were dropped" } else { "" };
    format!(
        "{duration} · {} · {} · {}{unseen}{dropped}",
        counted(totals.requests, "request"),
        etcd::lists(totals),
        bytes(totals.response_bytes)
    )
}

/// `3 relists → 5 relists`; empty for a kind without an amount.
pub(super) fn amounts(finding: &ComparedFinding) -> String {
    let Some(unit) = finding.unit else { return String::new() };
    let shown = |side: &FindingSide| amount(unit, side.amount);
    arrow(finding.before.as_ref().map(shown), finding.after.as_ref().map(shown))
}

/// `5 relists`, `12 s`.
pub(super) fn amount(unit: AmountUnit, amount: u64) -> String {
    match unit {
        AmountUnit::Relists => counted(amount, "relist"),
        AmountUnit::Lists => counted(amount, "list"),
        AmountUnit::StreamingLists => counted(amount, "streaming list"),
        AmountUnit::Watches => counted_as(amount, "watch", "watches"),
        AmountUnit::Gets => counted(amount, "get"),
        AmountUnit::Requests => counted(amount, "request"),
        // Of logs, which have no number of objects.
        AmountUnit::Objects if amount == 0 => "? objects".to_owned(),
        AmountUnit::Objects => counted(amount, "object"),
        AmountUnit::Informers => counted(amount, "informer"),
        AmountUnit::Microseconds => microseconds(amount),
    }
}

/// `before → after`; a single value if both are equal, or if one is missing.
pub(super) fn arrow(before: Option<String>, after: Option<String>) -> String {
    match (before, after) {
        (Some(before), Some(after)) if before == after => after,
        (Some(before), Some(after)) => format!("{before} → {after}"),
        (one, other) => one.or(other).unwrap_or_default(),
    }
}

/// The layers, most frequent first.
pub(super) fn served_from(side: &Side) -> String {
    let mut words: Vec<String> = Vec::new();
    for layer in &side.layers {
        let word = layer.served_from.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" + ")
}

pub(super) const fn word(change: Change) -> &'static str {
    match change {
        Change::New => "new",
        Change::Gone => "gone",
        Change::Worse => "worse",
        Change::Better => "better",
        Change::Moved => "moved",
        Change::Changed => "changed",
        Change::Same => "same",
    }
}
