//! The tables of lists, watches and other requests from which a snapshot is made.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use super::limits::Limits;
use super::record::VerdictRecord;
use super::rows::{ListRow, OtherRow, WatchRow};
use super::scopes::Scopes;
use crate::exchange::{Exchange, MemoryUse, Scope, Shape, ending};
use crate::k8s::Verb;
use crate::quantity::Amount;
use crate::routing::{Certainty, Fallback, Layer, ProofId, ServedFrom, rules};
use crate::thresholds::{LIMITS_IGNORED, WAIT_FOR_CACHE};
use crate::time::{Latency, Timestamp, microseconds};

/// Key of a row. All exchanges of a row have one layer and one reason for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    verb: Option<Verb>,
    shape: Shape,
    rule: Option<&'static str>,
    layer: Option<Layer>,
    /// Status of a predicted or proven refusal.
    refused: Option<u16>,
    /// Whether the answer contradicted the rule.
    contradicted: bool,
}

/// Sums over exchanges that share a [`Key`]. The exchanges are finished, except for watches, which may be open.
#[derive(Debug)]
struct Row {
    /// Memory that was counted for the row, in bytes.
    memory: usize,
    verdict: Option<VerdictRecord>,
    etcd_reads_vary: bool,
    unread: u64,
    missed_bytes: u64,
    count: u64,
    failed: u64,
    items: Amount,
    bytes: Amount,
    ignored_limit: u64,
    waited_for_cache: u64,
    first_byte: Latency,
    total: Latency,
    events: Amount,
    bookmarks: Amount,
    open_time: Duration,
    last_end: String,
}

/// All rows, bounded in number and memory.
#[derive(Debug)]
pub(super) struct Tables {
    rows: BTreeMap<Key, Row>,
    most: usize,
    memory: MemoryUse,
}

/// No row could be added, because the tables are full.
pub(super) struct TableFull;

impl Tables {
    pub(super) const fn new(limits: &Limits) -> Self {
        Self { rows: BTreeMap::new(), most: limits.rows, memory: MemoryUse::of(limits.rows_memory) }
    }

    /// Adds a finished exchange of this shape. Returns the shape.
    pub(super) fn add(&mut self, exchange: &Exchange, shape: Shape) -> (Shape, Result<(), TableFull>) {
        let key = key(exchange, shape);
        if let Some(row) = self.rows.get_mut(&key) {
            row.add(exchange);
            return (key.shape, Ok(()));
        }
        // A row holds the names and selectors of its exchanges, and their reads from etcd.
        let memory = exchange.memory();
        if self.rows.len() >= self.most || !self.memory.has_room(memory) {
            return (key.shape, Err(TableFull));
        }
        self.memory.add(memory);
        let mut row = Row { memory, ..Row::new(exchange) };
        row.add(exchange);
        let shape = key.shape.clone();
        self.rows.insert(key, row);
        (shape, Ok(()))
    }

    /// Merges rows that turn out to ask for the same objects.
    pub(super) fn clarify(&mut self, scopes: &Scopes) {
        let unclear: Vec<Key> = self.rows.keys().filter(|key| key.shape.scope == Some(Scope::All)).cloned().collect();
        for key in unclear {
            let mut clear = key.clone();
            scopes.clarify(&mut clear.shape);
            if clear == key {
                continue;
            }
            let Some(row) = self.rows.remove(&key) else { continue };
            match self.rows.entry(clear) {
                Entry::Vacant(place) => drop(place.insert(row)),
                Entry::Occupied(mut same) => {
                    self.memory.remove(row.memory);
                    same.get_mut().merge(&row);
                }
            }
        }
    }

    pub(super) fn lists(&self) -> Vec<ListRow> {
        let mut rows: Vec<ListRow> = self.of(|verb| verb == Some(Verb::List)).map(|(key, row)| row.list(&key.shape)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.bytes, row.count)));
        rows
    }

    /// Rows of finished and `open` watches. The time of open watches counts until `now`.
    pub(super) fn watches<'e>(&self, open: impl Iterator<Item = &'e Exchange>, now: Timestamp, scopes: &Scopes) -> Vec<WatchRow> {
        let mut rows: BTreeMap<Key, WatchRow> =
            self.of(|verb| verb == Some(Verb::Watch)).map(|(key, row)| (key.clone(), row.watch(&key.shape))).collect();
        for exchange in open {
            let mut key = key(exchange, Shape::of(exchange));
            scopes.clarify(&mut key.shape);
            let mut so_far = Row::new(exchange);
            so_far.add(exchange);
            let fresh = so_far.watch(&key.shape);
            let row = rows.entry(key).or_insert_with(|| WatchRow {
                count: 0,
                events: Amount::ZERO,
                bookmarks: Amount::ZERO,
                bytes: Amount::ZERO,
                unread: 0,
                missed_bytes: 0,
                ..fresh.clone()
            });
            row.count += 1;
            row.open += 1;
            row.events = row.events.saturating_add(fresh.events);
            row.bookmarks = row.bookmarks.saturating_add(fresh.bookmarks);
            row.bytes = row.bytes.saturating_add(fresh.bytes);
            row.unread = row.unread.saturating_add(fresh.unread);
            row.missed_bytes = row.missed_bytes.saturating_add(fresh.missed_bytes);
            row.open_us = row.open_us.saturating_add(microseconds(now.since(exchange.started)));
        }
        let mut rows: Vec<WatchRow> = rows.into_values().collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.bytes, row.count)));
        rows
    }

    pub(super) fn others(&self) -> Vec<OtherRow> {
        let neither = |verb| !matches!(verb, Some(Verb::List | Verb::Watch));
        let mut rows: Vec<OtherRow> = self.of(neither).map(|(key, row)| row.other(key.verb, &key.shape)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.bytes, row.count)));
        rows
    }

    fn of(&self, wanted: impl Fn(Option<Verb>) -> bool) -> impl Iterator<Item = (&Key, &Row)> {
        self.rows.iter().filter(move |(key, _)| wanted(key.verb))
    }
}

fn key(exchange: &Exchange, shape: Shape) -> Key {
    let verdict = exchange.verdict.as_ref();
    let refused = match verdict.map(|verdict| &verdict.served_from) {
        Some(ServedFrom::Rejected { status, .. }) => Some(*status),
        Some(
            ServedFrom::Cache
            | ServedFrom::CacheConsistent
            | ServedFrom::Snapshot
            | ServedFrom::Etcd
            | ServedFrom::Proxied
            | ServedFrom::Unknown { .. },
        )
        | None => None,
    };
    Key {
        verb: exchange.verb(),
        shape,
        rule: verdict.map(|verdict| verdict.rule.as_str()),
        layer: verdict.and_then(|verdict| verdict.served_from.layer()),
        refused,
        contradicted: verdict.is_some_and(|verdict| verdict.certainty == Certainty::Contradicted),
    }
}

/// Whether the watch cache answered a list with many times more objects than its limit. The cache ignores limits at
/// `resourceVersion=0`.
fn ignores_limit(exchange: &Exchange) -> bool {
    let limit = exchange.request.options.limit;
    let rule = exchange.verdict.as_ref().map(|verdict| verdict.rule);
    limit > 0 && rule == Some(rules::LIST_RV0) && exchange.items >= limit.saturating_mul(LIMITS_IGNORED)
}

/// Whether a consistent read took as long as the API server waits for its watch cache before it reads etcd.
fn waited_for_cache(exchange: &Exchange) -> bool {
    let falls_back = exchange.verdict.as_ref().is_some_and(|verdict| {
        verdict.served_from == ServedFrom::CacheConsistent
            && verdict.otherwise.as_ref().is_some_and(|otherwise| otherwise.then == Fallback::Etcd)
    });
    let waited = exchange.first_byte().or_else(|| exchange.total());
    falls_back && !exchange.has_failed() && waited.is_some_and(|waited| waited >= WAIT_FOR_CACHE)
}

impl Row {
    fn new(exchange: &Exchange) -> Self {
        Self {
            memory: 0,
            verdict: exchange.verdict.as_ref().map(VerdictRecord::from),
            etcd_reads_vary: false,
            unread: 0,
            missed_bytes: 0,
            count: 0,
            failed: 0,
            items: Amount::ZERO,
            bytes: Amount::ZERO,
            ignored_limit: 0,
            waited_for_cache: 0,
            first_byte: Latency::default(),
            total: Latency::default(),
            events: Amount::ZERO,
            bookmarks: Amount::ZERO,
            open_time: Duration::ZERO,
            last_end: String::new(),
        }
    }

    fn add(&mut self, exchange: &Exchange) {
        self.count = self.count.saturating_add(1);
        self.unread = self.unread.saturating_add(u64::from(exchange.not_read.is_some()));
        self.missed_bytes = self.missed_bytes.saturating_add(exchange.missed_bytes);
        let reads = |verdict: &VerdictRecord| exchange.verdict.as_ref().is_some_and(|other| other.reads != verdict.etcd_reads);
        self.etcd_reads_vary |= self.verdict.as_ref().is_some_and(reads);
        self.weaken(exchange.verdict.as_ref().map(|verdict| (verdict.proof, verdict.certainty)));
        self.failed = self.failed.saturating_add(u64::from(exchange.has_failed()));
        self.items = self.items.saturating_add(exchange.amount(exchange.items));
        self.bytes = self.bytes.saturating_add(exchange.amount(exchange.response_bytes));
        self.ignored_limit = self.ignored_limit.saturating_add(u64::from(ignores_limit(exchange)));
        self.waited_for_cache = self.waited_for_cache.saturating_add(u64::from(waited_for_cache(exchange)));
        self.time(exchange);
        self.open_time = self.open_time.saturating_add(exchange.total().unwrap_or_default());
        if let Some(watch) = &exchange.watch {
            self.events = self.events.saturating_add(exchange.amount(watch.events()));
            self.bookmarks = self.bookmarks.saturating_add(exchange.amount(watch.bookmarks));
        }
        if let Some(ending) = ending::of(exchange) {
            self.last_end = ending;
        }
    }

    /// Adds the counts of a row that asks for the same objects.
    fn merge(&mut self, other: &Self) {
        let reads = |row: &Self| row.verdict.as_ref().map(|verdict| verdict.etcd_reads.clone());
        self.etcd_reads_vary |= other.etcd_reads_vary || reads(self) != reads(other);
        self.weaken(other.verdict.as_ref().map(|verdict| (verdict.proof, verdict.certainty)));
        for (own, more) in [
            (&mut self.unread, other.unread),
            (&mut self.missed_bytes, other.missed_bytes),
            (&mut self.count, other.count),
            (&mut self.failed, other.failed),
            (&mut self.ignored_limit, other.ignored_limit),
            (&mut self.waited_for_cache, other.waited_for_cache),
        ] {
            *own = own.saturating_add(more);
        }
        for (own, more) in [
            (&mut self.items, other.items),
            (&mut self.bytes, other.bytes),
            (&mut self.events, other.events),
            (&mut self.bookmarks, other.bookmarks),
        ] {
            *own = own.saturating_add(more);
        }
        self.first_byte.merge(&other.first_byte);
        self.total.merge(&other.total);
        self.open_time = self.open_time.saturating_add(other.open_time);
        if self.last_end.is_empty() {
            self.last_end.clone_from(&other.last_end);
        }
    }

    /// Reduces the certainty of the row to the certainty of its least certain request.
    fn weaken(&mut self, other: Option<(Option<ProofId>, Certainty)>) {
        if let (Some(verdict), Some((proof, certainty))) = (&mut self.verdict, other)
            && proof != verdict.proof
        {
            verdict.proof = None;
            if certainty == Certainty::Predicted {
                verdict.certainty = Certainty::Predicted;
            }
        }
    }

    /// Records the durations that a row of this verb reports. Watches have none.
    fn time(&mut self, exchange: &Exchange) {
        let verb = exchange.verb();
        if verb == Some(Verb::List) {
            self.first_byte.record(exchange.first_byte());
        }
        if verb != Some(Verb::Watch) {
            self.total.record(exchange.total());
        }
    }

    fn list(&self, shape: &Shape) -> ListRow {
        ListRow {
            shape: shape.clone(),
            verdict: self.verdict.clone(),
            etcd_reads_vary: self.etcd_reads_vary,
            count: self.count,
            failed: self.failed,
            items: self.items,
            unread: self.unread,
            missed_bytes: self.missed_bytes,
            bytes: self.bytes,
            ignored_limit: self.ignored_limit,
            waited_for_cache: self.waited_for_cache,
            first_byte_us: self.first_byte.median_us(),
            total_us: self.total.median_us().unwrap_or_default(),
        }
    }

    fn watch(&self, shape: &Shape) -> WatchRow {
        WatchRow {
            shape: shape.clone(),
            verdict: self.verdict.clone(),
            etcd_reads_vary: self.etcd_reads_vary,
            count: self.count,
            open: 0,
            failed: self.failed,
            events: self.events,
            unread: self.unread,
            missed_bytes: self.missed_bytes,
            bookmarks: self.bookmarks,
            bytes: self.bytes,
            open_us: microseconds(self.open_time),
            last_end: self.last_end.clone(),
        }
    }

    fn other(&self, verb: Option<Verb>, shape: &Shape) -> OtherRow {
        OtherRow {
            verb,
            shape: shape.clone(),
            verdict: self.verdict.clone(),
            etcd_reads_vary: self.etcd_reads_vary,
            count: self.count,
            failed: self.failed,
            bytes: self.bytes,
            total_us: self.total.median_us().unwrap_or_default(),
        }
    }
}
