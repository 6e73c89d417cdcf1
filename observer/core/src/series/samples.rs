//! The numbers of all families at one moment, as plain data.

use super::family::{FAMILIES, Family, FamilyRow};
use super::sample::Sample;
use super::store::Series;
use crate::time::Timestamp;

/// The numbers of all families at one moment. Outputs need only this and [`FAMILIES`].
#[derive(Clone, Debug)]
pub struct Samples {
    /// When the first observation was made, from which all counters start; `None` before it.
    pub started: Option<Timestamp>,
    /// When the last one was made.
    pub at: Timestamp,
    pub(super) series: Series,
}

impl Samples {
    /// The numbers of `series`, which are complete but for the label sets without room.
    pub(crate) fn new(mut series: Series, started: Option<Timestamp>, at: Timestamp) -> Self {
        series.add_folded();
        Self { started, at, series }
    }

    /// All families in the order of the table, each with its samples. A family without any has never counted.
    pub fn families(&self) -> impl Iterator<Item = (&'static FamilyRow, impl Iterator<Item = Sample<'_>>)> {
        FAMILIES.iter().map(|row| (row, self.of(row.family)))
    }

    /// The samples of one family, in an order that depends only on the order of the traffic.
    pub fn of(&self, family: Family) -> impl Iterator<Item = Sample<'_>> {
        self.series.samples(family)
    }

    /// How often a label set of this family had no room, so that it was counted with the label value `other`; 0 for gauges. Of watch
    /// events, the first of each type of a watch is counted.
    pub fn folded(&self, family: Family) -> u64 {
        self.series.folded(family)
    }
}
