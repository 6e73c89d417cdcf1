//! How long a client waits for its own writes to come back by its own watch.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde::Serialize;

use super::clients::ClientId;
use crate::exchange::{Client, Exchange};
use crate::k8s::{Resource, ResourceVersion, Verb};
use crate::observation::{ExchangeEnd, ExchangeId};
use crate::time::{Latency, Timestamp};
use crate::wire::{EventType, WatchFrame};

/// Clients that write, and pairs of a client and a resource, that are followed.
const MAX_FOLLOWED: usize = 1_024;
/// Writes under way, and written revisions that have not come back, of one client.
const MAX_AWAITED: usize = 256;
/// The same of all clients together.
const MAX_AWAITED_IN_ALL: usize = 4_096;

/// How long a write is waited for.
const LONGEST: Duration = Duration::from_mins(1);

/// Own writes of one client to one resource that came back by a watch of the same client.
///
/// The time is that from the end of the write's answer to the event with the same revision: for so long the client knows of its write, and
/// its cache does not. Often the event is there before the answer is; those count as no time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PropagationRow {
    /// The number of the client.
    pub client_id: ClientId,
    /// The client.
    pub client: Client,
    /// What it writes and watches.
    pub resource: String,
    /// Writes that came back.
    pub writes: u64,
    /// Those among them that came before the answer.
    pub before_answer: u64,
    /// Median of the time, in microseconds (two significant digits, as in the next two).
    pub median_us: u64,
    /// What 99 of 100 are not above, in microseconds.
    pub p99_us: u64,
    /// The longest, in microseconds.
    pub max_us: u64,
}

/// All of them, bounded; beyond the bounds those that were first seen are forgotten.
#[derive(Debug)]
pub(super) struct Propagation {
    writers: BTreeMap<ClientId, Writer>,
    measured: BTreeMap<(ClientId, Written), Measured>,
    forgotten: u64,
}

/// What a revision is of: group and plural name.
type Written = (String, String);

/// A client that has written, as long as something of that is under way.
#[derive(Debug, Default)]
struct Writer {
    under_way: BTreeSet<ExchangeId>,
    /// Written, and when the answer was over, in this order.
    awaited: VecDeque<(Written, u64, Timestamp)>,
    /// Events that came while a write was under way.
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
        Self { writers: BTreeMap::new(), measured: BTreeMap::new(), forgotten: 0 }
    }

    /// Whether a request writes an object whose new revision its answer tells.
    pub(super) fn is_write(exchange: &Exchange) -> bool {
        matches!(exchange.verb(), Some(Verb::Create | Verb::Update | Verb::Patch))
            && exchange
                .request
                .info
                .as_ref()
                .is_some_and(|info| info.resource.is_some() && matches!(info.subresource.as_str(), "" | "status" | "scale"))
    }

    /// A write was asked for.
    pub(super) fn asked(&mut self, client: ClientId, exchange: &Exchange) {
        if self.writers.len() >= MAX_FOLLOWED && !self.writers.contains_key(&client) {
            // The one that was first seen; who still writes is followed again.
            if let Some((forgotten, writer)) = self.writers.pop_first() {
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

    /// A write is over.
    pub(super) fn written(&mut self, client: ClientId, exchange: &Exchange) {
        let is_full = self.is_full();
        let Some(writer) = self.writers.get_mut(&client).filter(|writer| writer.under_way.contains(&exchange.id)) else { return };
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
                if writer.awaited.len() > MAX_AWAITED || is_full {
                    forgotten = writer.awaited.pop_front();
                }
            }
        }
        if writer.under_way.is_empty() {
            writer.early.clear();
        }
        if writer.is_done() {
            self.writers.remove(&client);
        }
        if let Some(resource) = came_back {
            self.measure(client, exchange, resource, None);
        }
        if let Some((of, ..)) = forgotten {
            self.count_forgotten(client, of);
        }
    }

    /// Events of a watch came.
    pub(super) fn delivered(&mut self, client: ClientId, watch: &Exchange, frames: &[WatchFrame], at: Timestamp) {
        let is_full = self.is_full();
        let Some(writer) = self.writers.get_mut(&client) else { return };
        writer.forget_before(at);
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
                if writer.early.len() > MAX_AWAITED || is_full {
                    writer.early.pop_front();
                }
            }
        }
        if writer.is_done() {
            self.writers.remove(&client);
        }
        for delay in measured {
            self.measure(client, watch, resource, Some(delay));
        }
    }

    /// How many writes were not waited for any longer, and times of clients dropped, for others. Writes to what the client was never seen to
    /// watch do not count: they would not have come back.
    pub(super) const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// All that was measured, the slowest first.
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

    /// Whether all clients together have as many as they may.
    fn is_full(&self) -> bool {
        self.writers.values().map(|writer| writer.awaited.len() + writer.early.len()).sum::<usize>() >= MAX_AWAITED_IN_ALL
    }

    fn count_forgotten(&mut self, client: ClientId, of: Written) {
        let would_come_back = self.measured.contains_key(&(client, of));
        self.forgotten = self.forgotten.saturating_add(u64::from(would_come_back));
    }

    /// `delay` is nothing where the event came before the answer.
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
    /// The histogram knows nothing shorter than a microsecond.
    fn quantile_us(&self, share: f64) -> u64 {
        Some(self.latency.quantile_us(share)).filter(|micros| *micros > 1).unwrap_or(0)
    }
}

impl Writer {
    /// What has not come back for so long will not: it is not watched, or nothing was changed.
    fn forget_before(&mut self, now: Timestamp) {
        while self.awaited.front().is_some_and(|(_, _, written)| now.since(*written) > LONGEST) {
            self.awaited.pop_front();
        }
    }

    fn is_done(&self) -> bool {
        self.under_way.is_empty() && self.awaited.is_empty()
    }
}

fn written(resource: &Resource) -> Written {
    (resource.group.clone(), resource.resource.clone())
}
