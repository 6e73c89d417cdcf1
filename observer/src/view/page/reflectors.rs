//! The table of reflectors.

use observer_core::exchange::Shape;
use observer_core::observer::Snapshot;
use observer_core::reflector::{ReflectorRow, ReflectorState};

use super::column::{Column, NANOSECONDS, THOUSANDTHS};
use super::filter_key::{FilterKey, NumberKey};
use super::row::{Cell, Row, RowKey};
use crate::view::client::ClientPods;
use crate::view::colour::Tone;
use crate::view::following;
use crate::view::quantity::{bytes, count};
use crate::view::report::state_tone;

pub(super) const COLUMNS: &[Column] = &[
    Column::words("CLIENT", 20),
    Column::words("RESOURCE", 12),
    Column::words("SCOPE", 14).rank(7),
    Column::word("STATE").rank(1),
    Column::number("IN STATE").measures(NumberKey::InState, NANOSECONDS).rank(4),
    Column::number("EVENTS/S").measures(NumberKey::Rate, THOUSANDTHS).rank(5),
    Column::number("BEHIND").counts(NumberKey::Behind).rank(6),
    Column::number("EVENTS").counts(NumberKey::Events).rank(11),
    Column::number("RESUMES").counts(NumberKey::Resumes).rank(10),
    Column::number("RELISTS").counts(NumberKey::Relists).rank(2),
    Column::words("LAST CAUSE", 16).rank(3),
    Column::number("UNCHANGED").counts(NumberKey::Unchanged).rank(9),
    Column::number("BYTES").counts(NumberKey::Bytes).rank(8),
];

pub(super) const FILTERS: &[FilterKey] =
    &[FilterKey::Client, FilterKey::Resource, FilterKey::Scope, FilterKey::State, FilterKey::Cause, FilterKey::Served];

/// The reflectors of a snapshot, and the clients that list or watch in other ways, in the snapshot's order.
pub(super) fn rows(snapshot: &Snapshot) -> Vec<Row> {
    let pods = ClientPods::of(snapshot);
    let of_row = |row: &ReflectorRow| {
        let client = pods.client(row.client_id, &row.client);
        let cells = cells(row, &client, snapshot);
        Row { key: RowKey::Reflector(row.reflector), cells, facts: facts(row, client) }
    };
    snapshot.reflectors.iter().map(of_row).collect()
}

/// The cells of a reflector's row.
pub(super) fn cells(row: &ReflectorRow, client: &str, snapshot: &Snapshot) -> Vec<Cell> {
    let age = u64::try_from(snapshot.at.since(row.since).as_nanos()).unwrap_or(u64::MAX);
    let cause = following::last_cause(row);
    let tone = if row.relists > 0 { Tone::Notable } else { Tone::Plain };
    vec![
        Cell::words(client),
        Cell::words(&row.shape.resource),
        Cell::words(&scope(&row.shape)),
        Cell::words(following::state(row)).toned(state_tone(row.state)),
        Cell::number(age, &following::age(row.since, snapshot.at)),
        Cell::number(row.events_per_second.thousandths(), &row.events_per_second.to_string()),
        row.behind.map_or_else(|| Cell::unknown("?"), |behind| Cell::number(behind, &count(behind))),
        Cell::number(row.events, &count(row.events)),
        Cell::number(row.resumes, &count(row.resumes)),
        Cell::number(row.relists, &count(row.relists)).toned(tone),
        Cell::words(&cause),
        Cell::number(row.repeats.repeated, &following::unchanged(row.repeats)),
        Cell::number(row.bytes, &bytes(row.bytes)),
    ]
}

/// `default/ · labels app=nginx`: a shape without its resource.
pub(super) fn scope(shape: &Shape) -> String {
    let scope = shape.scope.as_ref().map(ToString::to_string);
    let options = Some(&shape.options).filter(|options| !options.is_empty()).cloned();
    let upstream = shape.upstream.as_ref().map(|upstream| format!("at {}", upstream.0));
    scope.into_iter().chain(options).chain(upstream).collect::<Vec<_>>().join(" · ")
}

fn facts(row: &ReflectorRow, client: String) -> Vec<(FilterKey, String)> {
    let mut facts = vec![
        (FilterKey::Client, client),
        (FilterKey::Resource, row.shape.resource.clone()),
        (FilterKey::Scope, scope(&row.shape)),
        (FilterKey::State, following::state(row).to_owned()),
    ];
    facts.extend(row.causes.keys().map(|cause| (FilterKey::Cause, cause.clone())));
    let served = row.last_relist.as_ref().and_then(|relist| relist.served_from.as_ref());
    facts.extend(served.map(|served| (FilterKey::Served, served.to_string())));
    facts
}

/// Whether a reflector is stuck.
pub(super) fn is_stuck(row: &ReflectorRow) -> bool {
    row.state == ReflectorState::Stuck
}
