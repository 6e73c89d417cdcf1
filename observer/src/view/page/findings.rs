//! The table of findings.

use observer_core::observer::{Finding, Snapshot};

use super::column::Column;
use super::filter_key::FilterKey;
use super::reflectors::scope;
use super::row::{Cell, Row, RowKey};
use crate::view::client::program;

pub(super) const COLUMNS: &[Column] = &[
    Column::words("FINDING", 16),
    Column::words("CLIENT", 14).rank(1),
    Column::words("RESOURCE", 8).rank(3),
    Column::words("SCOPE", 12).rank(4),
    Column::words("EVIDENCE", 24).rank(2),
];

pub(super) const FILTERS: &[FilterKey] = &[FilterKey::Kind, FilterKey::Client, FilterKey::Resource, FilterKey::Scope];

/// The findings of a snapshot, worst first.
pub(super) fn rows(snapshot: &Snapshot) -> Vec<Row> {
    let row = |finding: &Finding| Row { key: RowKey::Finding(finding.id.clone()), cells: cells(finding), facts: facts(finding) };
    snapshot.findings.iter().map(row).collect()
}

/// The client; `-` if several clients may have made the requests.
pub(super) fn client(finding: &Finding) -> String {
    finding.client.as_ref().map_or_else(|| "-".to_owned(), program)
}

fn cells(finding: &Finding) -> Vec<Cell> {
    vec![
        Cell::words(finding.kind.as_str()),
        Cell::words(&client(finding)),
        Cell::words(&finding.shape.resource),
        Cell::words(&scope(&finding.shape)),
        Cell::words(&finding.seen),
    ]
}

fn facts(finding: &Finding) -> Vec<(FilterKey, String)> {
    vec![
        (FilterKey::Kind, finding.kind.to_string()),
        (FilterKey::Client, client(finding)),
        (FilterKey::Resource, finding.shape.resource.clone()),
        (FilterKey::Scope, scope(&finding.shape)),
    ]
}
