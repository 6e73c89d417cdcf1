//! Compares the findings of two runs. Findings correspond if kind, program without version, resource and scope are the same.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::change::{Change, SIZE_GRAIN, TIME_GRAIN};
use crate::finding_kind::FindingKind;
use crate::observer::alike::Alike;
use crate::observer::finding::{AmountUnit, Finding};
use crate::observer::snapshot::Snapshot;

/// A finding of either run. Findings of several processes of one program count as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedFinding {
    /// Identifier in the second run, otherwise in the first.
    pub id: String,
    /// Kind of the diagnosis.
    pub kind: FindingKind,
    /// How its amount changed.
    pub change: Change,
    /// Unit of the amounts; `None` if the kind has none.
    pub unit: Option<AmountUnit>,
    /// The finding in the first run; `None` if it was not found there.
    pub before: Option<FindingSide>,
    /// The finding in the second run; `None` if it was not found there.
    pub after: Option<FindingSide>,
    /// The recommended change.
    pub advice: &'static str,
}

/// A finding in one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingSide {
    /// Amount in the unit of the kind. For several findings, it is the longest duration, or the sum of the counts.
    pub amount: u64,
    /// Whether it was ongoing at the end of the run.
    pub lasts: bool,
    /// The evidence, in words and numbers.
    pub seen: String,
}

/// Kind, program without version, resource and scope.
type Key = (FindingKind, String, String, String);

/// All findings of either run, the worst change first.
pub(super) fn findings(before: &Snapshot, after: &Snapshot, alike: &Alike) -> Vec<ComparedFinding> {
    let mut both: BTreeMap<Key, (Vec<&Finding>, Vec<&Finding>)> = BTreeMap::new();
    for finding in &before.findings {
        both.entry(key(finding, alike)).or_default().0.push(finding);
    }
    for finding in &after.findings {
        both.entry(key(finding, alike)).or_default().1.push(finding);
    }
    let rows = both.into_iter().filter_map(|((kind, ..), (before, after))| row(kind, &before, &after));
    let mut rows: Vec<ComparedFinding> = rows.collect();
    rows.sort_by_key(|row| (row.change.rank(), row.kind, Reverse(row.difference())));
    rows
}

impl ComparedFinding {
    fn difference(&self) -> u64 {
        let amount = |side: &Option<FindingSide>| side.as_ref().map_or(0, |side| side.amount);
        amount(&self.before).abs_diff(amount(&self.after))
    }
}

fn key(finding: &Finding, alike: &Alike) -> Key {
    let program = finding.client.as_ref().map_or("", |client| client.program.as_str());
    let name = program.split('/').next().unwrap_or_default();
    let shape = alike.key(&finding.shape);
    let scope = shape.scope.as_ref().map(ToString::to_string).unwrap_or_default();
    (finding.kind, name.to_owned(), shape.resource, scope)
}

fn row(kind: FindingKind, before: &[&Finding], after: &[&Finding]) -> Option<ComparedFinding> {
    let shown = after.first().or(before.first())?;
    let (before, after) = (side(kind, before), side(kind, after));
    let change = match (&before, &after) {
        (None, _) => Change::New,
        (_, None) => Change::Gone,
        (Some(before), Some(after)) => Change::of_cost(before.amount, after.amount, grain(kind, before.amount)),
    };
    Some(ComparedFinding { id: shown.id.clone(), kind, change, unit: kind.unit(), before, after, advice: shown.advice })
}

fn side(kind: FindingKind, findings: &[&Finding]) -> Option<FindingSide> {
    let first = findings.first()?;
    let lasts = findings.iter().any(|finding| finding.lasts());
    let amount = kind.together(findings.iter().map(|finding| finding.amount));
    Some(FindingSide { amount, lasts, seen: first.seen.clone() })
}

/// The largest difference that is still `same`: durations and numbers of objects vary between runs that do the same work.
const fn grain(kind: FindingKind, before: u64) -> u64 {
    match kind.unit() {
        Some(AmountUnit::Microseconds) => before / TIME_GRAIN,
        Some(AmountUnit::Objects) => before / SIZE_GRAIN,
        Some(
            AmountUnit::Relists
            | AmountUnit::Lists
            | AmountUnit::StreamingLists
            | AmountUnit::Watches
            | AmountUnit::Gets
            | AmountUnit::Requests
            | AmountUnit::Informers,
        )
        | None => 0,
    }
}
