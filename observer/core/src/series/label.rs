//! The table of all labels: their names and their values.
//!
//! Names and values that kube-apiserver's own metrics have are theirs (kubernetes/apiserver pkg/endpoints/metrics/metrics.go,
//! 0.31.14, 0.34.4 and 0.37.0), so that queries can join both.

use super::words::{CertaintyWord, EndWord, EventWord, LayerWord, ScopeWord, VerbWord};
use crate::exchange::ValueNumber;

/// A label. Values that only have a meaning together are one label, with several names: a resource and its group, for example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// The program that made a request, and its `ServiceAccount`.
    Client,
    /// Group and resource; both are empty for a path that is not a resource.
    Resource,
    /// Such as `LIST`; the values are words of kube-apiserver.
    Verb,
    /// Such as `status`; empty for the object itself.
    Subresource,
    /// The objects that a request is for.
    Scope,
    /// The status of a response; empty when it is unknown.
    Code,
    /// The layer of an answer.
    ServedFrom,
    /// The rule of a verdict.
    Rule,
    /// Whether an answer proved the layer of a verdict.
    Certainty,
    /// How a watch ended.
    End,
    /// The type of a watch event.
    Type,
}

/// The values that a label can have, apart from `other`.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// Those that come first; [`super::SeriesLimits`] has their number.
    FirstCome,
    /// The identifiers of all rules of `routing`.
    Rules,
    /// These words.
    Words(&'static [&'static str]),
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct LabelRow {
    /// The label in code.
    pub label: Label,
    /// In the output, one for each part of a value.
    pub names: &'static [&'static str],
    /// All that it can have.
    pub values: Values,
}

/// The value of all labels for which there was no room.
pub(super) const OTHER: &str = "other";

/// All labels, in the order of [`Label`].
pub const LABELS: &[LabelRow] = &[
    LabelRow { label: Label::Client, names: &["client", "service_account"], values: Values::FirstCome },
    LabelRow { label: Label::Resource, names: &["group", "resource"], values: Values::FirstCome },
    LabelRow { label: Label::Verb, names: &["verb"], values: Values::Words(VerbWord::WORDS) },
    LabelRow { label: Label::Subresource, names: &["subresource"], values: Values::FirstCome },
    LabelRow { label: Label::Scope, names: &["scope"], values: Values::Words(ScopeWord::WORDS) },
    LabelRow { label: Label::Code, names: &["code"], values: Values::FirstCome },
    LabelRow { label: Label::ServedFrom, names: &["served_from"], values: Values::Words(LayerWord::WORDS) },
    LabelRow { label: Label::Rule, names: &["rule"], values: Values::Rules },
    LabelRow { label: Label::Certainty, names: &["certainty"], values: Values::Words(CertaintyWord::WORDS) },
    LabelRow { label: Label::End, names: &["end"], values: Values::Words(EndWord::WORDS) },
    LabelRow { label: Label::Type, names: &["type"], values: Values::Words(EventWord::WORDS) },
];

/// A value of each label, as its number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LabelSet([ValueNumber; LABELS.len()]);

/// The largest number of labels of a family.
pub(super) const MOST_LABELS: usize = 8;

/// The values of a family's labels, in their order, as one number: the first label has the highest byte. A lookup compares many keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

impl LabelSet {
    /// The set that stands for all sets without room.
    pub(super) const OTHERS: Self = Self([ValueNumber::OTHER; LABELS.len()]);

    /// The set, with another value of `label`.
    #[must_use]
    pub(super) fn with(mut self, label: Label, number: ValueNumber) -> Self {
        if let Some(place) = self.0.get_mut(label as usize) {
            *place = number;
        }
        self
    }

    /// The part that `labels` select.
    pub(super) fn key(&self, labels: &[Label]) -> Key {
        let mut key = [0; MOST_LABELS];
        for (place, label) in key.iter_mut().zip(labels) {
            *place = self.0.get(*label as usize).copied().unwrap_or_default().0;
        }
        Key(u64::from_be_bytes(key))
    }
}

impl Key {
    /// Whether a value had no room.
    pub(super) fn is_folded(self) -> bool {
        self.0.to_be_bytes().contains(&ValueNumber::OTHER.0)
    }

    /// Its values, in the order of the family's labels.
    pub(super) fn iter(self) -> impl Iterator<Item = ValueNumber> {
        self.0.to_be_bytes().into_iter().map(ValueNumber)
    }
}
