//! Measures how long a client waits until its own writes arrive on its own watches.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde::Serialize;

use super::events::ReflectorEvent;
use crate::exchange::{Client, ClientId, Exchange};
use crate::k8s::{Resource, ResourceVersion, Verb};
use crate::observation::{ExchangeEnd, ExchangeId};
use crate::time::{Latency, Timestamp};
use crate::wire::{EventType, WatchFrame};

/// Bound for the clients that write, and for the measured pairs of client and resource.
const MAX_FOLLOWED: usize = 1_024;
/// Bound per client for writes under way, for awaited revisions, and for events that arrive before the response of their write.
const MAX_AWAITED: usize = 256;
/// Bound for awaited revisions and early events of all clients together.
const MAX_AWAITED_IN_ALL: usize = 4_096;

/// How long the event of a write is awaited.
const LONGEST: Duration = Duration::from_mins(1);

/// Writes of one client to one resource whose events arrived on a watch of the same client.
///
/// The time runs from the end of the write's response to the event with the same revision. Meanwhile the client knows of its write,
/// but its cache does not. Often the event arrives before the response; such a write counts as 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PropagationRow {
    /// The number of the client.
    pub client_id: ClientId,
    /// The client, as its requests identify it.
    pub client: Client,
    /// The resource that it writes and watches.
    pub resource: String,
    /// Number of writes whose event arrived on a watch.
    pub writes: u64,
    /// Number of these writes whose event arrived before the end of the response.
    pub before_answer: u64,
    /// Median time, in microseconds. This and the next two times have two significant digits.
    pub median_us: u64,
    /// 99th percentile of the time, in microseconds.
    pub p99_us: u64,
    /// Longest time, in microseconds.
    pub max_us: u64,
}

/// All measurements, bounded. Above the bounds, the entries of the client that was seen first are dropped.
#[derive(Debug)]
pub(super) struct Propagation {
    writers: BTreeMap<ClientId, Writer>,
    measured: BTreeMap<(ClientId, Written), Measured>,
    /// Number of revisions in all writers: awaited ones, and those of early events.
    kept: usize,
    forgotten: u64,
}

/// Resource of a revision: group and plural name.
type Written = (String, String);

/// A client with writes that are under way or awaited.
#[derive(Debug, Default)]
struct Writer {
    under_way: BTreeSet<ExchangeId>,
    /// Writes whose event is awaited: resource, revision, and the time when the response ended. The earliest comes first.
    awaited: VecDeque<(Written, u64, Timestamp)>,
    /// Resource and revision of events that arrived while a write was under way.
    early: VecDeque<(Written, u64)>,
}

#[derive(Debug)]
struct Measured {
    client: Client,
    resource: String,
    writes: u64,
    before_answer: u64,
    latency: Latency,
}

impl Propagation {
    pub(super) const fn new() -> Self {
        Self { writers: BTreeMap::new(), measured: BTreeMap::new(), kept: 0, forgotten: 0 }
    }

    /// Whether a request writes an object, so that its response carries the new revision.
    pub(super) fn is_write(exchange: &Exchange) -> bool {
        matches!(exchange.verb(), Some(Verb::Create | Verb::Update | Verb::Patch))
            && exchange
                .request
                .info
                .as_ref()
                .is_some_and(|info| info.resource.is_some() && matches!(info.subresource.as_str(), "" | "status" | "scale"))
    }

    /// Notes a request to write.
    pub(super) fn asked(&mut self, client: ClientId, exchange: &Exchange) {
        if self.writers.len() >= MAX_FOLLOWED && !self.writers.contains_key(&client) {
            // Drops the client that was seen first. Its next write adds it again.
            if let Some((forgotten, writer)) = self.writers.pop_first() {
                self.kept = self.kept.saturating_sub(writer.kept());
                writer.awaited.into_iter().for_each(|(of, ..)| self.count_forgotten(forgotten, of));
            }
        }
        let writer = self.writers.entry(client).or_default();
        if writer.under_way.len() < MAX_AWAITED {
            writer.under_way.insert(exchange.id);
        } else {
            self.forgotten = self.forgotten.saturating_add(1);
        }
    }

    /// Processes the end of a write.
    pub(super) fn written(&mut self, client: ClientId, exchange: &Exchange, emit: &mut dyn FnMut(ReflectorEvent)) {
        let Some(writer) = self.writers.get_mut(&client).filter(|writer| writer.under_way.contains(&exchange.id)) else { return };
        let before = writer.kept();
        writer.under_way.remove(&exchange.id);
        let revision = exchange.object.as_ref().and_then(|object| ResourceVersion::number(&object.resource_version));
        let resource = exchange.request.resource();
        let (mut came_back, mut forgotten) = (None, None);
        if let (Some((at, ExchangeEnd::Complete)), Some(revision), Some(resource)) = (exchange.ended, revision, resource) {
            let what = (written(resource), revision);
            if writer.early.contains(&what) {
                came_back = Some(resource);
            } else {
                writer.awaited.push_back((what.0, what.1, at));
                if writer.awaited.len() > MAX_AWAITED || self.kept >= MAX_AWAITED_IN_ALL {
                    forgotten = writer.awaited.pop_front();
                }
            }
        }
        if writer.under_way.is_empty() {
            writer.early.clear();
        }
        self.kept = (self.kept + writer.kept()).saturating_sub(before);
        if writer.is_done() {
            self.writers.remove(&client);
        }
        if let Some(resource) = came_back {
            self.measure(client, exchange, resource, None);
            emit(ReflectorEvent::WriteArrived { after: None });
        }
        if let Some((of, ..)) = forgotten {
            self.count_forgotten(client, of);
        }
    }

    /// Processes events of a watch.
    pub(super) fn delivered(
        &mut self,
        client: ClientId,
        watch: &Exchange,
        (frames, at): (&[WatchFrame], Timestamp),
        emit: &mut dyn FnMut(ReflectorEvent),
    ) {
        let Some(writer) = self.writers.get_mut(&client) else { return };
        let others = self.kept.saturating_sub(writer.kept());
        writer.forget_before(at);
        self.kept = others + writer.kept();
        let streams = watch.request.options.send_initial_events == Some(true);
        if streams && watch.watch.as_ref().is_none_or(|stream| stream.initial_events_end.is_none()) {
            return;
        }
        let Some(resource) = watch.request.resource() else { return };
        let of = written(resource);
        let mut measured = Vec::new();
        let is_news = |frame: &&WatchFrame| matches!(frame.event_type, EventType::Added | EventType::Modified);
        for revision in frames.iter().filter(is_news).filter_map(|frame| ResourceVersion::number(&frame.object.resource_version)) {
            let awaited = writer.awaited.iter().position(|(what, awaited, _)| *awaited == revision && *what == of);
            if let Some((_, _, written)) = awaited.and_then(|place| writer.awaited.remove(place)) {
                measured.push(at.since(written));
            } else if !writer.under_way.is_empty() {
                writer.early.push_back((of.clone(), revision));
                if writer.early.len() > MAX_AWAITED || others + writer.kept() > MAX_AWAITED_IN_ALL {
                    writer.early.pop_front();
                }
            }
        }
        self.kept = others + writer.kept();
        if writer.is_done() {
            self.writers.remove(&client);
        }
        for delay in measured {
            self.measure(client, watch, resource, Some(delay));
            emit(ReflectorEvent::WriteArrived { after: Some(delay) });
        }
    }

    /// Number of awaited writes, and of measurements, that were dropped to make room. Excludes writes to resources that the client
    /// was never seen to watch: their events would not arrive.
    pub(super) const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// All measurements, the slowest first.
    pub(super) fn rows(&self) -> Vec<PropagationRow> {
        let row = |((client_id, _), measured): (&(ClientId, Written), &Measured)| PropagationRow {
            client_id: *client_id,
            client: measured.client.clone(),
            resource: measured.resource.clone(),
            writes: measured.writes,
            before_answer: measured.before_answer,
            median_us: measured.quantile_us(0.5),
            p99_us: measured.quantile_us(0.99),
            max_us: measured.quantile_us(1.0),
        };
        let mut rows: Vec<PropagationRow> = self.measured.iter().map(row).collect();
        rows.sort_by_key(|row| Reverse((row.p99_us, row.writes)));
        rows
    }

    fn count_forgotten(&mut self, client: ClientId, of: Written) {
        let would_come_back = self.measured.contains_key(&(client, of));
        self.forgotten = self.forgotten.saturating_add(u64::from(would_come_back));
    }

    /// Adds a measured write. `delay` is `None` if the event arrived before the response ended.
    fn measure(&mut self, client: ClientId, exchange: &Exchange, resource: &Resource, delay: Option<Duration>) {
        let key = (client, written(resource));
        if self.measured.len() >= MAX_FOLLOWED && !self.measured.contains_key(&key) {
            self.measured.pop_first();
            self.forgotten = self.forgotten.saturating_add(1);
        }
        let measured = self.measured.entry(key).or_insert_with(|| Measured {
            client: Client::of(exchange),
            resource: resource.to_string(),
            writes: 0,
            before_answer: 0,
            latency: Latency::default(),
        });
        measured.writes = measured.writes.saturating_add(1);
        measured.before_answer = measured.before_answer.saturating_add(u64::from(delay.is_none()));
        measured.latency.record(Some(delay.unwrap_or_default()));
    }
}

impl Measured {
    /// A quantile in microseconds. The histogram starts at 1 µs, so 1 counts as 0.
    fn quantile_us(&self, share: f64) -> u64 {
        Some(self.latency.quantile_us(share)).filter(|micros| *micros > 1).unwrap_or(0)
    }
}

impl Writer {
    /// Drops writes whose event was awaited for too long: the client does not watch the resource, or the write changed nothing.
    fn forget_before(&mut self, now: Timestamp) {
        while self.awaited.front().is_some_and(|(_, _, written)| now.since(*written) > LONGEST) {
            self.awaited.pop_front();
        }
    }

    fn kept(&self) -> usize {
        self.awaited.len() + self.early.len()
    }

    fn is_done(&self) -> bool {
        self.under_way.is_empty() && self.awaited.is_empty()
    }
}

fn written(resource: &Resource) -> Written {
    (resource.group.clone(), resource.resource.clone())
}
