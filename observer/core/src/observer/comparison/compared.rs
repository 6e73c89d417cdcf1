//! A comparison of two runs, as plain data.

use serde::Serialize;

use super::findings::{ComparedFinding, findings};
use super::measures::{ComparedMeasure, measures};
use super::relists::{ComparedRelists, relists};
use super::requests::{ComparisonRow, rows};
use crate::observer::alike::Alike;
use crate::observer::snapshot::{Snapshot, Totals};
use crate::time::Timestamp;

/// The changes from one run to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The first run.
    pub before: ComparedRun,
    /// The second run.
    pub after: ComparedRun,
    /// The quantities that a fix should reduce: worse ones first, then better ones, then unchanged ones.
    pub measures: Vec<ComparedMeasure>,
    /// All findings of either run, the worst change first.
    pub findings: Vec<ComparedFinding>,
    /// The relists of both runs by cause, the worst change first.
    pub relists: Vec<ComparedRelists>,
    /// All shapes of requests in either run, the worst change first.
    pub rows: Vec<ComparisonRow>,
}

/// One of the compared runs, without its tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedRun {
    /// When its first observation was made; `None` if it has none.
    pub started: Option<Timestamp>,
    /// When its last observation was made.
    pub at: Timestamp,
    /// Counts over the run.
    pub totals: Totals,
    /// Whether traffic was missed or a table was full, so that counts are lower bounds and shapes may be missing.
    pub unseen: bool,
    /// Whether reflectors or storms are missing for lack of room. Findings, relists by cause, unchanged objects and the costs of
    /// storms are then lower bounds.
    pub dropped: bool,
}

impl Comparison {
    /// Compares `after` with `before`.
    pub fn of(before: &Snapshot, after: &Snapshot) -> Self {
        let alike = Alike::of([before, after]);
        let findings = findings(before, after, &alike);
        Self {
            before: ComparedRun::of(before),
            after: ComparedRun::of(after),
            measures: measures(before, after, &findings),
            relists: relists(before, after),
            rows: rows(before, after, &alike),
            findings,
        }
    }
}

impl ComparedRun {
    fn of(snapshot: &Snapshot) -> Self {
        let Snapshot { started, at, totals, missed, storms, .. } = snapshot;
        let reflectors = missed.reflectors.forgotten > 0 || missed.reflectors.requests > 0 || missed.reflectors_not_shown > 0;
        let dropped = reflectors || (storms.len() as u64) < totals.storms;
        Self { started: *started, at: *at, totals: totals.clone(), unseen: missed.unseen(), dropped }
    }
}
