//! The table of clients, with sums over their reflectors.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use observer_core::exchange::ClientId;
use observer_core::http::Identity;
use observer_core::observer::Snapshot;
use observer_core::quantity::Amount;
use observer_core::reflector::{ReflectorRow, Repeats};

use super::column::Column;
use super::filter_key::{FilterKey, NumberKey};
use super::reflectors::is_stuck;
use super::row::{Cell, Row, RowKey};
use crate::view::client::ClientPods;
use crate::view::colour::Tone;
use crate::view::following;
use crate::view::quantity::{bytes, count};

pub(super) const COLUMNS: &[Column] = &[
    Column::words("CLIENT", 20),
    Column::words("IDENTITY", 14).rank(7),
    Column::words("PROCESS", 12).rank(8),
    Column::number("REFLECTORS").counts(NumberKey::Reflectors).rank(1),
    Column::number("STUCK").counts(NumberKey::Stuck).rank(2),
    Column::number("WATCHING").counts(NumberKey::Watching).rank(5),
    Column::number("LISTS").counts(NumberKey::Lists).rank(10),
    Column::number("WATCHES").counts(NumberKey::Watches).rank(11),
    Column::number("RESUMES").counts(NumberKey::Resumes).rank(12),
    Column::number("RELISTS").counts(NumberKey::Relists).rank(3),
    Column::number("EVENTS").counts(NumberKey::Events).rank(6),
    Column::number("UNCHANGED").counts(NumberKey::Unchanged).rank(9),
    Column::number("BYTES").counts(NumberKey::Bytes).rank(4),
];

pub(super) const FILTERS: &[FilterKey] = &[FilterKey::Client, FilterKey::Resource, FilterKey::State, FilterKey::Cause];

/// A client's reflectors, worst first.
pub(super) fn reflectors_of(snapshot: &Snapshot, client: ClientId) -> Vec<&ReflectorRow> {
    snapshot.reflectors.iter().filter(|row| row.client_id == client).collect()
}

/// The number of clients with reflectors.
pub(super) fn number(snapshot: &Snapshot) -> usize {
    by_client(snapshot).len()
}

/// The clients of a snapshot, sorted by their sums: by stuck reflectors, then by relists, then by bytes, the highest first.
pub(super) fn rows(snapshot: &Snapshot) -> Vec<Row> {
    let mut sums: Vec<Sum<'_>> = by_client(snapshot).into_values().filter_map(Sum::of).collect();
    sums.sort_by_key(|sum| (Reverse(sum.stuck), Reverse(sum.relists), Reverse(sum.bytes), sum.first.client_id));
    let pods = ClientPods::of(&snapshot.reflectors);
    let of_client = |sum: &Sum<'_>| {
        let client = pods.client(sum.first.client_id, &sum.first.client);
        Row { key: RowKey::Client(sum.first.client_id), cells: cells(sum, &client), facts: facts(sum, client) }
    };
    sums.iter().map(of_client).collect()
}

fn by_client(snapshot: &Snapshot) -> BTreeMap<ClientId, Vec<&ReflectorRow>> {
    let mut clients: BTreeMap<ClientId, Vec<&ReflectorRow>> = BTreeMap::new();
    for row in &snapshot.reflectors {
        clients.entry(row.client_id).or_default().push(row);
    }
    clients
}

/// Sums over all reflectors of a client.
struct Sum<'s> {
    first: &'s ReflectorRow,
    all: Vec<&'s ReflectorRow>,
    stuck: u64,
    watching: u64,
    relists: u64,
    bytes: Amount,
    repeats: Repeats,
}

impl<'s> Sum<'s> {
    fn of(all: Vec<&'s ReflectorRow>) -> Option<Self> {
        let first = *all.first()?;
        let number = |is: fn(&ReflectorRow) -> bool| all.iter().filter(|row| is(row)).count() as u64;
        let (stuck, watching) = (number(is_stuck), number(ReflectorRow::is_watching));
        let relists = sum(&all, |row| row.relists);
        let bytes = all.iter().map(|row| row.bytes).sum();
        let repeats = Repeats {
            objects: all.iter().map(|row| row.repeats.objects).sum(),
            repeated: all.iter().map(|row| row.repeats.repeated).sum(),
            error: sum(&all, |row| row.repeats.error),
            at_least: all.iter().any(|row| row.repeats.at_least),
        };
        Some(Self { first, all, stuck, watching, relists, bytes, repeats })
    }
}

fn sum(rows: &[&ReflectorRow], of: fn(&ReflectorRow) -> u64) -> u64 {
    rows.iter().map(|row| of(row)).fold(0, u64::saturating_add)
}

fn cells(client: &Sum<'_>, name: &str) -> Vec<Cell> {
    let number = |number: u64| Cell::number(number, &count(number));
    let total = |of: fn(&ReflectorRow) -> u64| number(sum(&client.all, of));
    let toned = |amount: u64, tone: Tone| number(amount).toned(if amount > 0 { tone } else { Tone::Plain });
    let events: Amount = client.all.iter().map(|row| row.events).sum();
    vec![
        Cell::words(name),
        Cell::words(&identity(client.first)),
        Cell::words(&process(client.first).unwrap_or_else(|| "-".to_owned())),
        number(client.all.len() as u64),
        toned(client.stuck, Tone::Bad),
        number(client.watching),
        total(|row| row.list_requests),
        total(|row| row.watch_requests),
        total(|row| row.resumes),
        toned(client.relists, Tone::Notable),
        Cell::number(events, &count(events)),
        Cell::number(client.repeats.repeated, &following::unchanged(client.repeats)),
        Cell::number(client.bytes, &bytes(client.bytes)),
    ]
}

fn facts(client: &Sum<'_>, name: String) -> Vec<(FilterKey, String)> {
    let mut facts = vec![(FilterKey::Client, name)];
    for row in &client.all {
        facts.push((FilterKey::Resource, row.shape.resource.clone()));
        facts.push((FilterKey::State, following::state(row).to_owned()));
        facts.extend(row.causes.keys().map(|cause| (FilterKey::Cause, cause.clone())));
    }
    facts
}

/// The user named by the credential of a reflector's client.
pub(super) fn identity(row: &ReflectorRow) -> String {
    user(row.client.identity.as_ref())
}

/// A user, as far as it is known.
pub(super) fn user(identity: Option<&Identity>) -> String {
    match identity {
        None => "-".to_owned(),
        Some(Identity::ServiceAccount { namespace, name }) => format!("{namespace}/{name}"),
        Some(Identity::Subject { subject }) => subject.clone(),
        Some(Identity::Bearer) => "opaque bearer token".to_owned(),
        Some(Identity::OtherScheme) => "credential other than a token".to_owned(),
    }
}

/// The name and pid of a reflector's client, and its systemd unit if that is known; if they are unknown, the possible reasons.
pub(super) fn process_or_reason(row: &ReflectorRow) -> String {
    let reasons = "unknown: it runs on another machine or in another PID namespace, belongs to another user, is watchtap itself, or exited before the lookup";
    process(row).unwrap_or_else(|| reasons.to_owned())
}

fn process(row: &ReflectorRow) -> Option<String> {
    let unit = |unit: &String| format!(" in {unit}");
    row.process.as_ref().map(|process| {
        let unit = process.unit.as_ref().map(unit).unwrap_or_default();
        format!("{} {}{unit}", process.name, process.pid)
    })
}
