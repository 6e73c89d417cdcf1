//! Compares the relists of two runs by cause.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::change::Change;
use crate::observer::snapshot::Snapshot;

/// The relists of both runs for one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedRelists {
    /// Identifier of the cause. `new-process` and `rebuilt` are lists of clients that had lost their state; they do not count as
    /// relists in [`crate::observer::Totals::relists`].
    pub cause: String,
    /// How their number changed.
    pub change: Change,
    /// Number in the first run.
    pub before: u64,
    /// Number in the second run.
    pub after: u64,
}

/// All causes in either run, the worst change first.
pub(super) fn relists(before: &Snapshot, after: &Snapshot) -> Vec<ComparedRelists> {
    let mut both: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (cause, number) in causes(before) {
        let (before, _) = both.entry(cause).or_default();
        *before = before.saturating_add(number);
    }
    for (cause, number) in causes(after) {
        let (_, after) = both.entry(cause).or_default();
        *after = after.saturating_add(number);
    }
    let rows = both.into_iter().map(|(cause, (before, after))| {
        let change = Change::of_occurrence(before, after);
        ComparedRelists { cause: cause.to_owned(), change, before, after }
    });
    let mut rows: Vec<ComparedRelists> = rows.collect();
    rows.sort_by_key(|row| (row.change.rank(), Reverse(row.before.abs_diff(row.after))));
    rows
}

fn causes(snapshot: &Snapshot) -> impl Iterator<Item = (&str, u64)> {
    snapshot.reflectors.iter().flat_map(|row| &row.causes).map(|(cause, number)| (cause.as_str(), *number))
}
