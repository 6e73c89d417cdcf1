//! The tables of the page.

use observer_core::observer::Snapshot;

use super::clock::Clock;
use super::column::Column;
use super::filter::Answers;
use super::filter_key::FilterKey;
use super::row::Row;
use super::{clients, findings, reflectors, requests, storms};
use crate::view::quantity::counted;

/// A table of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tab {
    Reflectors,
    Requests,
    Storms,
    Clients,
    Findings,
}

impl Tab {
    /// All tables, from left to right.
    pub(super) const ALL: [Self; 5] = [Self::Reflectors, Self::Requests, Self::Storms, Self::Clients, Self::Findings];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Reflectors => "Reflectors",
            Self::Requests => "Requests",
            Self::Storms => "Storms",
            Self::Clients => "Clients",
            Self::Findings => "Findings",
        }
    }

    /// Its name in a narrow terminal.
    pub(super) const fn short_name(self) -> &'static str {
        match self {
            Self::Reflectors => "Refl",
            Self::Requests => "Req",
            Self::Storms => "Storms",
            Self::Clients => "Clients",
            Self::Findings => "Find",
        }
    }

    /// Its place from the left, from 0.
    pub(super) const fn place(self) -> usize {
        self as usize
    }

    /// The table to the right; after the last, the first.
    #[must_use]
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Reflectors => Self::Requests,
            Self::Requests => Self::Storms,
            Self::Storms => Self::Clients,
            Self::Clients => Self::Findings,
            Self::Findings => Self::Reflectors,
        }
    }

    /// The table to the left; before the first, the last.
    #[must_use]
    pub(super) const fn previous(self) -> Self {
        match self {
            Self::Reflectors => Self::Findings,
            Self::Requests => Self::Reflectors,
            Self::Storms => Self::Requests,
            Self::Clients => Self::Storms,
            Self::Findings => Self::Clients,
        }
    }

    pub(super) const fn columns(self) -> &'static [Column] {
        match self {
            Self::Reflectors => reflectors::COLUMNS,
            Self::Requests => requests::COLUMNS,
            Self::Storms => storms::COLUMNS,
            Self::Clients => clients::COLUMNS,
            Self::Findings => findings::COLUMNS,
        }
    }

    /// The facts of its rows that filters can match.
    const fn facts(self) -> &'static [FilterKey] {
        match self {
            Self::Reflectors => reflectors::FILTERS,
            Self::Requests => requests::FILTERS,
            Self::Storms => storms::FILTERS,
            Self::Clients => clients::FILTERS,
            Self::Findings => findings::FILTERS,
        }
    }

    /// The names that filters can use.
    pub(super) const fn answers(self) -> Answers {
        Answers { facts: self.facts(), columns: self.columns() }
    }

    /// Its rows, worst first, with times in the zone of `clock`.
    pub(super) fn rows(self, snapshot: &Snapshot, clock: &Clock) -> Vec<Row> {
        match self {
            Self::Reflectors => reflectors::rows(snapshot),
            Self::Requests => requests::rows(snapshot),
            Self::Storms => storms::rows(snapshot, clock),
            Self::Clients => clients::rows(snapshot),
            Self::Findings => findings::rows(snapshot),
        }
    }

    /// The number of its rows.
    pub(super) fn number(self, snapshot: &Snapshot) -> usize {
        match self {
            Self::Reflectors => snapshot.reflectors.len(),
            Self::Requests => snapshot.lists.len() + snapshot.watches.len() + snapshot.others.len(),
            Self::Storms => snapshot.storms.len(),
            Self::Clients => clients::number(snapshot),
            Self::Findings => snapshot.findings.len(),
        }
    }

    /// Why it has no rows, although clients have connected.
    pub(super) fn emptiness(self, snapshot: &Snapshot) -> String {
        let requests = counted(snapshot.totals.requests, "request");
        match self {
            Self::Reflectors | Self::Clients => {
                format!("No lists or watches yet. Tab 2 shows all {requests}.")
            }
            Self::Requests => format!("No request is over yet; {} under way.", counted(snapshot.totals.open, "request")),
            Self::Storms => {
                let relists = counted(snapshot.totals.relists, "relist");
                format!("No storm so far, with {relists}. A storm is many reflectors that relist within seconds.")
            }
            Self::Findings => format!("No findings so far, among {requests}. Tab 1 shows the clients that list and watch."),
        }
    }
}
