//! The change from one run to another.

use serde::Serialize;

/// Divisor for counts of bytes and objects. Two counts are equal if they differ by at most the first count divided by this number:
/// revisions and timestamps in bodies grow.
pub(super) const SIZE_GRAIN: u64 = 20;
/// Divisor for durations. Two durations are equal if they differ by at most the first duration divided by this number.
pub(super) const TIME_GRAIN: u64 = 5;

/// The change of requests, a finding or a measure from the first run to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// It occurs in the second run only.
    New,
    /// It occurs in the first run only.
    Gone,
    /// It costs more. For requests, the first measure that differs decides: reads from etcd, failures, bytes, number of requests, time.
    Worse,
    /// It costs less. For requests, the same measures decide in the same order.
    Better,
    /// It costs the same, but another layer or rule answers.
    Moved,
    /// The number of gets, writes or other requests differs, which is neither better nor worse.
    Changed,
    /// Neither its cost nor its layers and rules changed.
    Same,
}

impl Change {
    /// The change of a cost. Values that differ by at most `grain` are equal.
    pub(super) const fn of_cost(before: u64, after: u64, grain: u64) -> Self {
        if before.abs_diff(after) <= grain {
            Self::Same
        } else if after > before {
            Self::Worse
        } else {
            Self::Better
        }
    }

    /// The change of a number of occurrences. 0 means that there were none.
    pub(super) const fn of_occurrence(before: u64, after: u64) -> Self {
        match (before, after) {
            (0, 1..) => Self::New,
            (1.., 0) => Self::Gone,
            (_, _) => Self::of_cost(before, after, 0),
        }
    }

    /// The rank by which rows are sorted, the lowest first: new and worse rows, gone and better rows, other changes, unchanged
    /// rows.
    pub(super) const fn rank(self) -> u8 {
        match self {
            Self::New | Self::Worse => 0,
            Self::Gone | Self::Better => 1,
            Self::Moved | Self::Changed => 2,
            Self::Same => 3,
        }
    }
}
