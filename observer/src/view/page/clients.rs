//! The table of clients, with their requests and sums over their reflectors.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use observer_core::exchange::{Client, ClientId};
use observer_core::http::Identity;
use observer_core::observation::Process;
use observer_core::observer::Snapshot;
use observer_core::quantity::Amount;
use observer_core::reflector::{ClientRequests, ClientRow, ReflectorRow, Repeats};

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
    Column::words("IDENTITY", 14).rank(9),
    Column::words("PLACE", 12).rank(10),
    Column::number("REQUESTS").counts(NumberKey::Requests).rank(1),
    Column::number("FAILED").counts(NumberKey::Failed).rank(2),
    Column::number("REFLECTORS").counts(NumberKey::Reflectors).rank(6),
    Column::number("STUCK").counts(NumberKey::Stuck).rank(5),
    Column::number("WATCHING").counts(NumberKey::Watching).rank(8),
    Column::number("LISTS").counts(NumberKey::Lists).rank(12),
    Column::number("WATCHES").counts(NumberKey::Watches).rank(13),
    Column::number("RESUMES").counts(NumberKey::Resumes).rank(14),
    Column::number("RELISTS").counts(NumberKey::Relists).rank(3),
    Column::number("EVENTS").counts(NumberKey::Events).rank(7),
    Column::number("UNCHANGED").counts(NumberKey::Unchanged).rank(11),
    Column::number("BYTES").counts(NumberKey::Bytes).rank(4),
];

pub(super) const FILTERS: &[FilterKey] = &[FilterKey::Client, FilterKey::Resource, FilterKey::State, FilterKey::Cause];

/// A client's reflectors, worst first.
pub(super) fn reflectors_of(snapshot: &Snapshot, client: ClientId) -> Vec<&ReflectorRow> {
    snapshot.reflectors.iter().filter(|row| row.client_id == client).collect()
}

/// The requests of a client; `None` if it is not among the rows.
pub(super) fn row_of(snapshot: &Snapshot, client: ClientId) -> Option<&ClientRow> {
    snapshot.clients.iter().find(|row| row.client_id == client)
}

/// The number of clients.
pub(super) fn number(snapshot: &Snapshot) -> usize {
    by_client(snapshot).len()
}

/// The clients of a snapshot, sorted by their sums: by stuck reflectors, then by relists, then by bytes, then by requests, the highest
/// first.
pub(super) fn rows(snapshot: &Snapshot) -> Vec<Row> {
    let mut sums: Vec<Sum<'_>> = by_client(snapshot).into_iter().filter_map(|(id, of)| Sum::of(id, of)).collect();
    sums.sort_by_key(|sum| Reverse((sum.stuck, sum.relists, sum.bytes, sum.requests.requests, Reverse(sum.id))));
    let pods = ClientPods::of(snapshot);
    let of_client = |sum: &Sum<'_>| {
        let client = pods.client(sum.id, sum.client);
        Row { key: RowKey::Client(sum.id), cells: cells(sum, &client), facts: facts(sum, client) }
    };
    sums.iter().map(of_client).collect()
}

/// A client's requests and its reflectors, as far as they are among the rows.
type OfClient<'s> = (Option<&'s ClientRow>, Vec<&'s ReflectorRow>);

fn by_client(snapshot: &Snapshot) -> BTreeMap<ClientId, OfClient<'_>> {
    let mut clients: BTreeMap<ClientId, OfClient<'_>> = BTreeMap::new();
    for row in &snapshot.clients {
        clients.entry(row.client_id).or_default().0 = Some(row);
    }
    for row in &snapshot.reflectors {
        clients.entry(row.client_id).or_default().1.push(row);
    }
    clients
}

/// The counts of a client, and sums over its reflectors.
struct Sum<'s> {
    id: ClientId,
    client: &'s Client,
    process: Option<&'s Process>,
    /// In a log.
    address: Option<&'s String>,
    requests: ClientRequests,
    all: Vec<&'s ReflectorRow>,
    stuck: u64,
    watching: u64,
    relists: u64,
    bytes: Amount,
    repeats: Repeats,
}

impl<'s> Sum<'s> {
    fn of(id: ClientId, (row, all): OfClient<'s>) -> Option<Self> {
        let of_reflectors = || all.first().map(|first| (&first.client, first.process.as_ref()));
        let (client, process) = row.map(|row| (&row.client, row.process.as_ref())).or_else(of_reflectors)?;
        let number = |is: fn(&ReflectorRow) -> bool| all.iter().filter(|row| is(row)).count() as u64;
        let (stuck, watching) = (number(is_stuck), number(ReflectorRow::is_watching));
        let relists = sum(&all, |row| row.relists);
        // Without its own row, as many requests as its reflectors made.
        let (lists, watches) = (sum(&all, |row| row.list_requests), sum(&all, |row| row.watch_requests));
        let requests = row
            .map_or(ClientRequests { requests: lists.saturating_add(watches), lists, watches, ..ClientRequests::NONE }, |row| {
                row.requests
            });
        let bytes = row.map_or_else(|| all.iter().map(|row| row.bytes).sum(), |row| row.requests.bytes);
        let repeats = Repeats {
            objects: all.iter().map(|row| row.repeats.objects).sum(),
            repeated: all.iter().map(|row| row.repeats.repeated).sum(),
            error: sum(&all, |row| row.repeats.error),
            at_least: all.iter().any(|row| row.repeats.at_least),
        };
        let address = row.and_then(|row| row.address.as_ref());
        Some(Self { id, client, process, address, requests, all, stuck, watching, relists, bytes, repeats })
    }
}

fn sum(rows: &[&ReflectorRow], of: fn(&ReflectorRow) -> u64) -> u64 {
    rows.iter().map(|row| of(row)).fold(0, u64::saturating_add)
}

fn cells(client: &Sum<'_>, name: &str) -> Vec<Cell> {
    let number = |number: u64| Cell::number(number, &count(number));
    let toned = |amount: u64, tone: Tone| number(amount).toned(if amount > 0 { tone } else { Tone::Plain });
    let events: Amount = client.all.iter().map(|row| row.events).sum();
    vec![
        Cell::words(name),
        Cell::words(&user(client.client.identity.as_ref())),
        Cell::words(&client.process.map(process).or_else(|| client.address.cloned()).unwrap_or_else(|| "-".to_owned())),
        number(client.requests.requests),
        toned(client.requests.failed, Tone::Notable),
        number(client.all.len() as u64),
        toned(client.stuck, Tone::Bad),
        number(client.watching),
        number(client.requests.lists),
        number(client.requests.watches),
        number(sum(&client.all, |row| row.resumes)),
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

/// Where a client runs, with its label: its address in a log, or else the name and pid of its process with its systemd unit. If these
/// are unknown, the possible reasons.
pub(super) fn place(row: Option<&ClientRow>, known: Option<&Process>) -> (&'static str, String) {
    let reasons = "unknown: it runs on another machine or in another PID namespace, belongs to another user, is watchtap itself, or exited before the lookup";
    match row.and_then(|row| row.address.clone()) {
        Some(address) => ("address", address),
        None => ("process", known.map_or_else(|| reasons.to_owned(), process)),
    }
}

fn process(process: &Process) -> String {
    let unit = process.unit.as_ref().map(|unit| format!(" in {unit}")).unwrap_or_default();
    format!("{} {}{unit}", process.name, process.pid)
}
