//! Derives the findings about clients with several reflectors, and about clients of one program.

use std::collections::BTreeMap;

use super::advice;
use super::found::{Finding, finding};
use crate::exchange::{Client, ClientId, Scope, Shape};
use crate::finding_kind::FindingKind;
use crate::observation::UpstreamName;
use crate::observer::server_errors::ServerErrorRow;
use crate::quantity::{self, counted, counted_as, length};
use crate::reflector::{GetPace, GetPoller, RateLimit, ReflectorRow, Spell};
use crate::thresholds::{HEAVY_OBJECTS, MANY_WATCHES, ROLLOUT_CLIENTS, ROLLOUT_WITHIN, SLOW_SYNC, SYNC_SHARE};
use crate::time::{Timestamp, microseconds};

/// Maximum number of reflectors that a finding about a client names.
const MOST_NAMED: usize = 32;

/// All findings about clients.
pub(super) fn of_clients(reflectors: &[ReflectorRow], limits: &[RateLimit]) -> Vec<Finding> {
    let limited = limits.iter().map(|limit| {
        let own = reflectors.iter().filter(|row| row.client_id == limit.client_id);
        let ids = own.take(MOST_NAMED).map(|row| row.reflector).collect();
        Finding { reflectors: ids, ..slow_sync(limit, reflectors).unwrap_or_else(|| held_back(limit)) }
    });
    let mut found: Vec<Finding> = limited.collect();
    found.extend(duplicates(reflectors));
    found.extend(many_watches(reflectors));
    found.extend(rollouts(reflectors));
    found
}

/// Findings about reflectors of one process that list or watch the same objects at the same time.
fn duplicates(reflectors: &[ReflectorRow]) -> Vec<Finding> {
    let mut alike: BTreeMap<_, Vec<&ReflectorRow>> = BTreeMap::new();
    for row in reflectors.iter().filter(|row| row.duplicates > 0) {
        alike.entry((row.client_id, &row.api_version, row.shape.clone(), row.representation)).or_default().push(row);
    }
    alike
        .into_values()
        .filter_map(|rows| {
            let first = rows.first()?;
            let pid = first.process.as_ref()?.pid;
            let ids = rows.iter().map(|row| row.reflector).collect();
            let seen = format!("{} informers for the same objects in process {pid}", first.duplicates.saturating_add(1));
            let found = finding(FindingKind::DuplicateInformers, Some(first.client.clone()), first.shape.clone(), ids, seen);
            Some(Finding { amount: first.duplicates.saturating_add(1), ..found })
        })
        .collect()
}

fn held_back(limit: &RateLimit) -> Finding {
    let seen = format!(
        "evenly spaced requests after a burst: the client limits its own rate to {} a second, burst {}",
        limit.qps, limit.burst
    );
    finding(FindingKind::ClientRateLimit, Some(limit.client.clone()), all_resources(), Vec::new(), seen)
}

/// A client that needed long until all its first lists were complete, mostly because of its own rate limit.
fn slow_sync(limit: &RateLimit, reflectors: &[ReflectorRow]) -> Option<Finding> {
    let mut own: Vec<&ReflectorRow> =
        reflectors.iter().filter(|row| row.client_id == limit.client_id && row.has_watched() && row.synced.is_some()).collect();
    own.sort_by_key(|row| row.first_seen);
    // Reflectors that start much later, such as those of a new custom resource, are not of the start.
    let later = own.windows(2).position(|pair| matches!(pair, [one, next] if next.first_seen.since(one.first_seen) > SLOW_SYNC));
    own.truncate(later.map_or(own.len(), |last| last + 1));
    let began = own.iter().map(|row| row.first_seen).min()?;
    let synced = own.iter().filter_map(|row| row.synced).max()?;
    let took = synced.since(began);
    let took_us = microseconds(took);
    let held_us = limit.held_us.min(took_us);
    if took < SLOW_SYNC || held_us.saturating_mul(u64::from(SYNC_SHARE)) < took_us {
        return None;
    }
    let seen = format!(
        "needed {} to get the state of {}, about {} of it in its own rate limit ({} a second, burst {})",
        quantity::microseconds(took_us),
        counted(own.len() as u64, "reflector"),
        quantity::microseconds(held_us),
        limit.qps,
        limit.burst
    );
    let found = finding(FindingKind::SlowSync, Some(limit.client.clone()), all_resources(), Vec::new(), seen);
    Some(Finding { amount: took_us, spell: Some(Spell::of_moments(1, began, synced)), ..found })
}

/// A client that gets objects again and again.
pub(super) fn of_gets(poller: &GetPoller) -> Finding {
    let (seen, amount, spell) = match poller.pace {
        GetPace::OneObject(polling) => {
            let every = quantity::microseconds(polling.every_us);
            let seen = format!("gets one object every {every} ({})", counted(polling.lists, "get"));
            (seen, polling.lists, Spell::of_moments(polling.lists, polling.since, polling.last))
        }
        GetPace::Many { gets, per_second, between: (since, until) } => {
            let seen = format!("up to {per_second} gets a second, {gets} in all");
            (seen, gets, Spell::of_moments(gets, since, until))
        }
    };
    let found = finding(FindingKind::GetPoller, Some(poller.client.clone()), poller.shape.clone(), Vec::new(), seen);
    Finding { amount, spell: Some(spell), ..found }
}

/// Gets and writes of any client that the server answered with 5xx. For lists and watches, `refused-requests` names the client.
pub(super) fn server_errors(row: &ServerErrorRow) -> Finding {
    let verb = row.verb.as_str();
    let seen = format!("{} answered with 5xx ({verb})", counted(row.spell.times, "request"));
    let found = finding(FindingKind::ServerErrors, None, row.shape.clone(), Vec::new(), seen);
    Finding { id: format!("{}:{verb}", found.id), amount: row.spell.times, spell: Some(row.spell), ..found }
}

/// Clients with many open watches of one object each.
fn many_watches(reflectors: &[ReflectorRow]) -> Vec<Finding> {
    let mut of_client: BTreeMap<(ClientId, &str), Vec<&ReflectorRow>> = BTreeMap::new();
    // Without a process, several clients may look like one.
    for row in reflectors.iter().filter(|row| row.is_watching() && row.shape.names_one() && row.process.is_some()) {
        of_client.entry((row.client_id, &row.shape.resource)).or_default().push(row);
    }
    let many = of_client.into_values().filter(|rows| rows.len() >= MANY_WATCHES);
    many.filter_map(|rows| {
        let first = rows.first()?;
        let seen = format!("{} of one object each", counted_as(rows.len() as u64, "open watch", "open watches"));
        let shape = Shape { scope: None, options: String::new(), ..first.shape.clone() };
        let ids = rows.iter().take(MOST_NAMED).map(|row| row.reflector).collect();
        let found = finding(FindingKind::ManyWatches, Some(first.client.clone()), shape, ids, seen);
        Some(Finding { advice: advice::to_many_watches(&first.client), amount: rows.len() as u64, ..found })
    })
    .collect()
}

/// Clients of one program that started within minutes, and what they listed together.
fn rollouts(reflectors: &[ReflectorRow]) -> Vec<Finding> {
    let mut alike: BTreeMap<Program<'_>, BTreeMap<(ClientId, &str), Began<'_>>> = BTreeMap::new();
    // Only initial lists are of a start; a client without a name is no program.
    for row in reflectors.iter().filter(|row| row.synced.is_some() && !row.client.program.is_empty()) {
        let key = (&row.client, row.shape.resource.as_str(), row.shape.scope.as_ref(), row.shape.upstream.as_ref());
        let began = Began { row, at: row.first_seen, objects: 0, bytes: 0 };
        let client = alike.entry(key).or_default().entry((row.client_id, node(row))).or_insert(began);
        client.at = client.at.min(row.first_seen);
        client.objects = client.objects.saturating_add(row.first_list_items);
        client.bytes = client.bytes.saturating_add(row.last_list_bytes.or_zero());
    }
    alike.into_values().filter_map(|clients| rollout(clients.into_values().collect())).collect()
}

/// The options of a reflector that reads the objects of one node; empty for other reflectors. They distinguish the agents of
/// several nodes, which look like one client if the process is unknown.
fn node(row: &ReflectorRow) -> &str {
    if row.shape.options.contains("spec.nodeName=") { &row.shape.options } else { "" }
}

/// A program, and the objects that it lists: client, resource, scope and API server.
type Program<'r> = (&'r Client, &'r str, Option<&'r Scope>, Option<&'r UpstreamName>);

/// A client of a rollout: its start, and what it listed.
struct Began<'r> {
    row: &'r ReflectorRow,
    at: Timestamp,
    objects: u64,
    bytes: u64,
}

fn rollout(mut clients: Vec<Began<'_>>) -> Option<Finding> {
    clients.sort_by_key(|client| client.at);
    // The clients that start within the time, from each of them on; the largest group counts.
    let group = |first: usize| {
        let rest = clients.get(first..).unwrap_or_default();
        let start = rest.first().map(|client| client.at).unwrap_or_default();
        let many = rest.partition_point(|client| client.at.since(start) <= ROLLOUT_WITHIN);
        rest.get(..many).unwrap_or_default()
    };
    let largest = (0..clients.len()).map(group).max_by_key(|group| group.len())?;
    let (first, last) = largest.first().zip(largest.last())?;
    let objects: u64 = largest.iter().map(|client| client.objects).sum();
    let bytes: u64 = largest.iter().map(|client| client.bytes).sum();
    if largest.len() < ROLLOUT_CLIENTS || objects < HEAVY_OBJECTS {
        return None;
    }
    let seen = format!(
        "{} of one program started within {}, and listed {} ({}) together",
        counted(largest.len() as u64, "client"),
        length(last.at.since(first.at)),
        counted(objects, "object"),
        quantity::bytes(bytes)
    );
    let shape = Shape { options: String::new(), ..first.row.shape.clone() };
    let ids = largest.iter().map(|client| client.row.reflector).collect();
    let found = finding(FindingKind::Rollout, Some(first.row.client.clone()), shape, ids, seen);
    Some(Finding { amount: objects, spell: Some(Spell::of_moments(largest.len() as u64, first.at, last.at)), ..found })
}

pub(super) fn all_resources() -> Shape {
    Shape { resource: "all resources".to_owned(), scope: None, options: String::new(), upstream: None }
}
