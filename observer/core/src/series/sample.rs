//! The number of one label set, as plain data.

use std::borrow::Cow;

use super::histogram::Histogram;

/// One label set of a family, with its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample<'s> {
    /// Names and values of the labels.
    pub labels: Vec<(&'static str, Cow<'s, str>)>,
    /// The number.
    pub value: Value<'s>,
}

/// A number of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'s> {
    /// That of a counter or a gauge.
    Count(u64),
    /// Durations by bucket, and their sum.
    Histogram(&'s Histogram),
}

impl Sample<'_> {
    /// The value of a label; `None` if the family does not have it.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|(label, _)| *label == name).map(|(_, value)| &**value)
    }

    /// The count; of a histogram, the number of its durations.
    pub fn count(&self) -> u64 {
        match self.value {
            Value::Count(count) => count,
            Value::Histogram(histogram) => histogram.count(),
        }
    }
}
