//! The quantities of a run that a fix should reduce.
//!
//! None of them counts writes or gets: fewer of these are no improvement.

use std::fmt;

use serde::Serialize;

use super::change::{Change, SIZE_GRAIN};
use super::findings::ComparedFinding;
use crate::observer::snapshot::Snapshot;
use crate::reflector::Repeats;
use crate::storm::StormRecord;

/// A quantity of a run; less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Number of storms.
    Storms,
    /// Number of findings. Its change does not follow from the number: it is worse if a finding is new or worse.
    Findings,
    /// Relists of clients that still had their state.
    Relists,
    /// Lists that read their objects from etcd.
    ListsFromEtcd,
    /// Objects that reflectors received unchanged: spurious updates.
    UnchangedObjects,
    /// Lists and watches that failed.
    Failed,
    /// Response bytes of lists and watches.
    Bytes,
    /// Reflectors that took part, summed over storms.
    StormReflectors,
    /// Relists that the members of storms began.
    StormRelists,
    /// Objects that the members of storms listed.
    StormObjects,
    /// Response bytes of the lists in storms.
    StormBytes,
}

/// A quantity in both runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedMeasure {
    /// The quantity.
    pub measure: Measure,
    /// Whether it is worse, better or the same.
    pub change: Change,
    /// Its value in the first run.
    pub before: u64,
    /// Its value in the second run.
    pub after: u64,
}

impl Measure {
    const ALL: [Self; 11] = [
        Self::Storms,
        Self::Findings,
        Self::Relists,
        Self::ListsFromEtcd,
        Self::UnchangedObjects,
        Self::Failed,
        Self::Bytes,
        Self::StormReflectors,
        Self::StormRelists,
        Self::StormObjects,
        Self::StormBytes,
    ];

    /// Whether its values are bytes.
    pub const fn is_of_bytes(self) -> bool {
        matches!(self, Self::Bytes | Self::StormBytes)
    }

    fn value(self, snapshot: &Snapshot, findings: u64) -> u64 {
        let of_storms = |value: fn(&StormRecord) -> u64| snapshot.storms.iter().map(value).fold(0, u64::saturating_add);
        let requests = |of_list: fn(&Row) -> u64| requests(snapshot).map(|row| of_list(&row)).fold(0, u64::saturating_add);
        match self {
            Self::Storms => snapshot.totals.storms,
            Self::Findings => findings,
            Self::Relists => snapshot.totals.relists,
            Self::ListsFromEtcd => snapshot.totals.lists_from_etcd,
            Self::UnchangedObjects => repeats(snapshot).repeated.or_zero(),
            Self::Failed => requests(|row| row.failed),
            Self::Bytes => requests(|row| row.bytes),
            Self::StormReflectors => of_storms(|storm| storm.reflectors),
            Self::StormRelists => of_storms(|storm| storm.relists),
            Self::StormObjects => of_storms(|storm| storm.items.or_zero()),
            Self::StormBytes => of_storms(|storm| storm.bytes.or_zero()),
        }
    }

    /// The largest difference that is still `same`.
    fn grain(self, runs: [&Snapshot; 2], before: u64) -> u64 {
        match self {
            Self::UnchangedObjects => {
                let errors = runs.map(|run| repeats(run).error).into_iter().fold(0, u64::saturating_add);
                errors.max(before / SIZE_GRAIN)
            }
            Self::Bytes | Self::StormObjects | Self::StormBytes => before / SIZE_GRAIN,
            Self::Storms
            | Self::Findings
            | Self::Relists
            | Self::ListsFromEtcd
            | Self::Failed
            | Self::StormReflectors
            | Self::StormRelists => 0,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Storms => "storms",
            Self::Findings => "findings",
            Self::Relists => "relists",
            Self::ListsFromEtcd => "lists from etcd",
            Self::UnchangedObjects => "unchanged objects",
            Self::Failed => "failed lists and watches",
            Self::Bytes => "bytes of lists and watches",
            Self::StormReflectors => "reflectors in storms",
            Self::StormRelists => "relists in storms",
            Self::StormObjects => "objects in storms",
            Self::StormBytes => "bytes in storms",
        })
    }
}

/// All measures: worse ones first, then better ones, then unchanged ones.
pub(super) fn measures(before: &Snapshot, after: &Snapshot, findings: &[ComparedFinding]) -> Vec<ComparedMeasure> {
    let found_before = findings.iter().filter(|finding| finding.before.is_some()).count() as u64;
    let found_after = findings.iter().filter(|finding| finding.after.is_some()).count() as u64;
    let measured = Measure::ALL.into_iter().map(|measure| {
        let values = [measure.value(before, found_before), measure.value(after, found_after)];
        let grain = measure.grain([before, after], values[0]);
        let change =
            if measure == Measure::Findings { of_findings(findings) } else { Change::of_cost(values[0], values[1], grain) };
        ComparedMeasure { measure, change, before: values[0], after: values[1] }
    });
    let mut measured: Vec<ComparedMeasure> = measured.collect();
    measured.sort_by_key(|row| row.change.rank());
    measured
}

fn of_findings(findings: &[ComparedFinding]) -> Change {
    let has = |changes: [Change; 2]| findings.iter().any(|finding| changes.contains(&finding.change));
    if has([Change::New, Change::Worse]) {
        Change::Worse
    } else if has([Change::Gone, Change::Better]) {
        Change::Better
    } else {
        Change::Same
    }
}

/// Failures and bytes of the lists or watches in one row of a table.
struct Row {
    failed: u64,
    bytes: u64,
}

fn requests(snapshot: &Snapshot) -> impl Iterator<Item = Row> {
    let lists = snapshot.lists.iter().map(|row| Row { failed: row.failed, bytes: row.bytes.or_zero() });
    lists.chain(snapshot.watches.iter().map(|row| Row { failed: row.failed, bytes: row.bytes.or_zero() }))
}

/// The counts of repeated objects, summed over all reflectors. The summed error is an upper bound of the actual error.
fn repeats(snapshot: &Snapshot) -> Repeats {
    let mut sum = Repeats::default();
    for row in &snapshot.reflectors {
        sum.objects = sum.objects.saturating_add(row.repeats.objects);
        sum.repeated = sum.repeated.saturating_add(row.repeats.repeated);
        sum.error = sum.error.saturating_add(row.repeats.error);
        sum.at_least |= row.repeats.at_least;
    }
    sum
}
