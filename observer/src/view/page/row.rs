//! A row of a table, and what it stays the same by.

use std::cmp::Ordering;

use observer_core::exchange::Shape;
use observer_core::k8s::Verb;
use observer_core::reflector::{ClientId, ReflectorId};
use observer_core::routing::Layer;
use observer_core::storm::StormId;

use super::cells::printable;
use super::filter::FilterKey;
use crate::view::colour::Tone;

/// What a row is about: the same in the next snapshot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RowKey {
    Reflector(ReflectorId),
    Request(Box<RequestKey>),
    Storm(StormId),
    Client(ClientId),
    /// The identifier of a finding.
    Finding(String),
}

/// In what all requests of a row agree.
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

/// A row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub key: RowKey,
    /// One for each column of its table.
    pub cells: Vec<Cell>,
    /// What filters ask for.
    pub facts: Vec<(FilterKey, String)>,
}

/// A cell: what it says, and where that stands among others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub text: String,
    pub tone: Tone,
    rank: Option<u64>,
}

impl Row {
    /// The order by one column: most first for numbers, alphabetical for words.
    pub(super) fn compare(&self, other: &Self, column: usize) -> Ordering {
        let (Some(one), Some(two)) = (self.cells.get(column), other.cells.get(column)) else { return Ordering::Equal };
        two.rank.cmp(&one.rank).then_with(|| match one.rank {
            Some(_) => Ordering::Equal,
            None => one.text.cmp(&two.text),
        })
    }
}

impl Cell {
    /// Words.
    pub(super) fn words(text: &str) -> Self {
        Self { text: printable(text), tone: Tone::Plain, rank: None }
    }

    /// A number, as `text` says it.
    pub(super) fn number(number: u64, text: &str) -> Self {
        Self { rank: Some(number), ..Self::words(text) }
    }

    /// The cell in a tone.
    pub(super) fn toned(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}
