//! A row of a table, and the key that identifies it across snapshots.

use std::cmp::Ordering;

use observer_core::exchange::{ClientId, Shape};
use observer_core::k8s::Verb;
use observer_core::quantity::Amount;
use observer_core::reflector::ReflectorId;
use observer_core::routing::Layer;
use observer_core::storm::StormId;

use super::cells::printable;
use super::filter_key::FilterKey;
use crate::view::colour::Tone;

/// The subject of a row, which stays the same in the next snapshot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RowKey {
    Reflector(ReflectorId),
    Request(Box<RequestKey>),
    Storm(StormId),
    Client(ClientId),
    /// The identifier of a finding.
    Finding(String),
}

/// The facts that all requests of a row share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequestKey {
    pub verb: Option<Verb>,
    pub shape: Shape,
    pub rule: Option<&'static str>,
    pub layer: Option<Layer>,
    /// The status of a refusal.
    pub refused: Option<u16>,
    pub contradicted: bool,
}

/// A row of any table.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub key: RowKey,
    /// One per column of its table.
    pub cells: Vec<Cell>,
    /// The facts that filters match.
    pub facts: Vec<(FilterKey, String)>,
}

/// A cell: its text, and its rank among others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub text: String,
    pub tone: Tone,
    rank: Option<u64>,
    /// Whether the rank is the number that the cell shows.
    is_known: bool,
}

impl Row {
    /// The order by one column: largest first for numbers, alphabetical for words.
    pub(super) fn compare(&self, other: &Self, column: usize) -> Ordering {
        let (Some(one), Some(two)) = (self.cells.get(column), other.cells.get(column)) else { return Ordering::Equal };
        two.rank.cmp(&one.rank).then_with(|| match one.rank {
            Some(_) => Ordering::Equal,
            None => one.text.cmp(&two.text),
        })
    }
}

impl Cell {
    /// A cell of words, which has no rank.
    pub(super) fn words(text: &str) -> Self {
        Self { text: printable(text), tone: Tone::Plain, rank: None, is_known: false }
    }

    /// A cell with a number, shown as `text`.
    pub(super) fn number(number: impl Into<Amount>, text: &str) -> Self {
        match number.into().known() {
            Some(number) => Self { rank: Some(number), is_known: true, ..Self::words(text) },
            None => Self::unknown(text),
        }
    }

    /// A cell in a column of numbers. The number of this cell is unknown, or does not exist.
    pub(super) fn unknown(text: &str) -> Self {
        Self { rank: Some(0), ..Self::words(text) }
    }

    /// Its number; `None` for words, and if it is unknown.
    pub(super) fn number_if_known(&self) -> Option<u64> {
        self.rank.filter(|_| self.is_known)
    }

    /// The same cell in a tone.
    pub(super) fn toned(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}
