//! The table of storms.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use observer_core::exchange::Client;
use observer_core::observer::Snapshot;
use observer_core::storm::StormRecord;

use super::clock::Clock;
use super::column::{Column, NANOSECONDS};
use super::filter_key::{FilterKey, NumberKey};
use super::row::{Cell, Row, RowKey};
use crate::view::client::program;
use crate::view::colour::Tone;
use crate::view::following::{lasted, layers};
use crate::view::quantity::{bytes, count, length};

pub(super) const COLUMNS: &[Column] = &[
    Column::number("STORM"),
    Column::word("STATE"),
    Column::number("BEGAN").rank(4),
    Column::number("JOINED WITHIN").measures(NumberKey::JoinedIn, NANOSECONDS).rank(6),
    Column::word("TRIGGER").rank(1),
    Column::number("REFLECTORS").counts(NumberKey::Reflectors).rank(2),
    Column::number("CLIENTS").counts(NumberKey::Clients).rank(7),
    Column::number("RELISTS").counts(NumberKey::Relists).rank(3),
    Column::number("PEAK").counts(NumberKey::Peak).rank(8),
    Column::number("OBJECTS").counts(NumberKey::Items).rank(9),
    Column::number("UNCHANGED").counts(NumberKey::Unchanged).rank(10),
    Column::number("BYTES").counts(NumberKey::Bytes).rank(5),
    Column::words("SERVED FROM", 14).rank(11),
];

pub(super) const FILTERS: &[FilterKey] =
    &[FilterKey::Client, FilterKey::Resource, FilterKey::State, FilterKey::Cause, FilterKey::Served, FilterKey::Kind];

/// The storms of a snapshot, the newest first, with times in the zone of `clock`.
pub(super) fn rows(snapshot: &Snapshot, clock: &Clock) -> Vec<Row> {
    let mut storms: Vec<&StormRecord> = snapshot.storms.iter().collect();
    storms.sort_by_key(|storm| Reverse((storm.began, storm.storm)));
    let row = |storm: &StormRecord| Row { key: RowKey::Storm(storm.storm), cells: cells(storm, clock), facts: facts(storm) };
    storms.into_iter().map(row).collect()
}

/// `ongoing`, `over`.
pub(super) const fn state(storm: &StormRecord) -> &'static str {
    if storm.ended.is_some() { "over" } else { "ongoing" }
}

fn cells(storm: &StormRecord, clock: &Clock) -> Vec<Cell> {
    let lasted = lasted(storm);
    let tone = if storm.ended.is_some() { Tone::Plain } else { Tone::Bad };
    vec![
        Cell::number(storm.storm.0, &count(storm.storm.0)),
        Cell::words(state(storm)).toned(tone),
        Cell::number(storm.began.as_nanos(), &clock.time_of_day(storm.began)),
        Cell::number(u64::try_from(lasted.as_nanos()).unwrap_or(u64::MAX), &length(lasted)),
        Cell::words(&storm.trigger.to_string()),
        Cell::number(storm.reflectors, &count(storm.reflectors)),
        Cell::number(storm.clients, &count(storm.clients)),
        Cell::number(storm.relists, &count(storm.relists)),
        Cell::number(storm.peak_per_second, &format!("{}/s", count(storm.peak_per_second))),
        Cell::number(storm.items, &count(storm.items)),
        Cell::number(storm.repeated, &count(storm.repeated)),
        Cell::number(storm.bytes, &bytes(storm.bytes)),
        Cell::words(&layers(storm)),
    ]
}

fn facts(storm: &StormRecord) -> Vec<(FilterKey, String)> {
    let mut facts = vec![(FilterKey::State, state(storm).to_owned()), (FilterKey::Kind, storm.trigger.to_string())];
    let clients: BTreeSet<&Client> = storm.members.iter().map(|member| &member.client).collect();
    facts.extend(clients.into_iter().map(|client| (FilterKey::Client, program(client))));
    let resources: BTreeSet<&String> = storm.members.iter().map(|member| &member.shape.resource).collect();
    facts.extend(resources.into_iter().map(|resource| (FilterKey::Resource, resource.clone())));
    facts.extend(storm.causes.keys().map(|cause| (FilterKey::Cause, cause.clone())));
    facts.extend(storm.served_from.keys().map(|layer| (FilterKey::Served, layer.clone())));
    facts
}
