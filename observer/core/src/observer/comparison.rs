//! Compares two runs by request shape: which requests are new, gone, cheaper, more expensive, or answered by another layer.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::alike::Alike;
use super::record::VerdictRecord;
use super::snapshot::{Snapshot, Totals};
use crate::exchange::Shape;
use crate::k8s::Verb;
use crate::routing::ServedFrom;
use crate::time::Timestamp;

/// Durations count as equal if they differ by at most a fifth, or by at most this many microseconds. Latencies of unchanged
/// requests vary that much.
const LATENCY_GRAIN_US: u64 = 1_000;
/// Byte counts are equal if they differ by at most one part in this many: revisions and timestamps in the bodies grow.
const BYTES_GRAIN: u64 = 20;

/// The changes from one run to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The first run.
    pub before: ComparedRun,
    /// The second run.
    pub after: ComparedRun,
    /// All shapes of requests in either run, the worst change first.
    pub rows: Vec<ComparisonRow>,
}

/// One of the compared runs, without its tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedRun {
    /// When its first observation was made; `None` if it has none.
    pub started: Option<Timestamp>,
    /// When its last observation was made.
    pub at: Timestamp,
    /// Counts over the run.
    pub totals: Totals,
    /// Whether traffic was missed or a table was full, so that counts are lower bounds and shapes may be missing.
    pub unseen: bool,
}

/// Requests of one shape in both runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparisonRow {
    /// The verb; `None` when method or path is unknown.
    pub verb: Option<Verb>,
    /// Resource, objects and options of the requests.
    #[serde(flatten)]
    pub shape: Shape,
    /// How its cost or its layer changed.
    pub change: Change,
    /// The requests in the first run; `None` if there were none.
    pub before: Option<Side>,
    /// The requests in the second run; `None` if there were none.
    pub after: Option<Side>,
}

/// The change of a shape from the first run to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// It occurs in the second run only.
    New,
    /// It occurs in the first run only.
    Gone,
    /// It costs more. The first of these that differs decides: reads from etcd, failures, bytes, requests, time.
    Worse,
    /// It costs less, by the same order.
    Better,
    /// It costs the same, but another layer or rule answers.
    Moved,
    /// Neither its cost nor its layers and rules changed.
    Same,
}

/// Requests of one shape in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Number of requests.
    pub count: u64,
    /// Requests answered with 4xx or 5xx, and watches that ended with an `ERROR` event.
    pub failed: u64,
    /// Requests whose objects were read from etcd.
    pub from_etcd: u64,
    /// The layers that answered, each with its rule, the most frequent first.
    pub layers: Vec<Layer>,
    /// Items of lists.
    pub items: u64,
    /// Events of watches, without bookmarks.
    pub events: u64,
    /// Bytes of all response bodies.
    pub bytes: u64,
    /// Whether some answers were not read, so that items, events and bytes are lower bounds.
    pub lower_bound: bool,
    /// Median time to the head of a list's response, in microseconds, of the summed row with the most requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_us: Option<u64>,
    /// Median time to the end, in microseconds, of the summed row with the most requests; `None` for watches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_us: Option<u64>,
}

/// A layer that answered, by one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// The layer; `None` if the requests read no objects, or their path is unknown.
    pub served_from: Option<ServedFrom>,
    /// Identifier of the rule that gave the layer; `None` without a layer.
    pub rule: Option<&'static str>,
    /// Number of requests.
    pub count: u64,
}

type Sides = (Option<Side>, Option<Side>);

impl Comparison {
    /// Compares `after` with `before`.
    pub fn of(before: &Snapshot, after: &Snapshot) -> Self {
        let mut both: BTreeMap<(Option<Verb>, Shape), Sides> = BTreeMap::new();
        let alike = Alike::of([before, after]);
        for (key, side) in sides(before, &alike) {
            both.entry(key).or_default().0 = Some(side);
        }
        for (key, side) in sides(after, &alike) {
            both.entry(key).or_default().1 = Some(side);
        }
        let rows = both.into_iter().map(|((verb, shape), (before, after))| {
            let change = change(before.as_ref(), after.as_ref());
            ComparisonRow { verb, shape, change, before, after }
        });
        let mut rows: Vec<ComparisonRow> = rows.collect();
        rows.sort_by_key(|row| (row.change == Change::Same, Reverse(row.cost())));
        Self { before: ComparedRun::of(before), after: ComparedRun::of(after), rows }
    }
}

impl ComparedRun {
    fn of(snapshot: &Snapshot) -> Self {
        let Snapshot { started, at, totals, missed, .. } = snapshot;
        Self { started: *started, at: *at, totals: totals.clone(), unseen: missed.unseen() }
    }
}

impl ComparisonRow {
    /// Additional cost of the second run, the most important quantity first: reads from etcd, failures, bytes, requests.
    fn cost(&self) -> [i128; 4] {
        let costs = |side: &Option<Side>| side.as_ref().map(Side::costs).unwrap_or_default();
        let (before, after) = (costs(&self.before), costs(&self.after));
        let mut more = after;
        more.iter_mut().zip(before).for_each(|(after, before)| *after -= before);
        more
    }
}

impl Side {
    fn costs(&self) -> [i128; 4] {
        [self.from_etcd, self.failed, self.bytes, self.count].map(i128::from)
    }

    /// The sum of rows. Medians cannot be added, so the sum has those of the row with the most requests.
    fn sum(mut parts: Vec<Part<'_>>) -> Self {
        parts.sort_by_key(|(verdict, part)| (Reverse(part.count), verdict.map(|verdict| verdict.rule)));
        let (first_byte_us, total_us) = parts.first().map(|(_, part)| (part.first_byte_us, part.total_us)).unwrap_or_default();
        let mut sum = Self { first_byte_us, total_us, ..Self::default() };
        for (verdict, part) in &parts {
            sum.add(*verdict, part);
        }
        sum.layers.sort_by_key(|layer| Reverse(layer.count));
        sum
    }

    fn add(&mut self, verdict: Option<&VerdictRecord>, part: &Self) {
        let is_etcd = verdict.is_some_and(|verdict| verdict.served_from == ServedFrom::Etcd);
        let (served_from, rule) = (verdict.map(|verdict| verdict.served_from.clone()), verdict.map(|verdict| verdict.rule));
        match self.layers.iter_mut().find(|layer| layer.served_from == served_from && layer.rule == rule) {
            Some(layer) => layer.count = layer.count.saturating_add(part.count),
            None => self.layers.push(Layer { served_from, rule, count: part.count }),
        }
        self.from_etcd = self.from_etcd.saturating_add(if is_etcd { part.count } else { 0 });
        self.count = self.count.saturating_add(part.count);
        self.failed = self.failed.saturating_add(part.failed);
        self.items = self.items.saturating_add(part.items);
        self.events = self.events.saturating_add(part.events);
        self.bytes = self.bytes.saturating_add(part.bytes);
        self.lower_bound |= part.lower_bound;
    }

    /// The layers that answered, each with its rule, without counts and order.
    fn answered_by(&self) -> HashSet<(&Option<ServedFrom>, Option<&'static str>)> {
        self.layers.iter().map(|layer| (&layer.served_from, layer.rule)).collect()
    }
}

/// Verdict and counts of one row of a snapshot.
type Part<'s> = (Option<&'s VerdictRecord>, Side);

/// All rows of a snapshot, summed by shape.
fn sides(snapshot: &Snapshot, alike: &Alike) -> impl Iterator<Item = ((Option<Verb>, Shape), Side)> {
    let mut parts: BTreeMap<(Option<Verb>, Shape), Vec<Part<'_>>> = BTreeMap::new();
    let mut add = |verb, shape, verdict, part| parts.entry((verb, alike.key(shape))).or_default().push((verdict, part));
    for row in &snapshot.lists {
        let part = Side {
            count: row.count,
            failed: row.failed,
            items: row.items,
            bytes: row.bytes,
            lower_bound: row.unread > 0 || row.missed_bytes > 0,
            first_byte_us: row.first_byte_us,
            total_us: Some(row.total_us),
            ..Side::default()
        };
        add(Some(Verb::List), &row.shape, row.verdict.as_ref(), part);
    }
    for row in &snapshot.watches {
        let part = Side {
            count: row.count,
            failed: row.failed,
            events: row.events,
            bytes: row.bytes,
            lower_bound: row.unread > 0 || row.missed_bytes > 0,
            ..Side::default()
        };
        add(Some(Verb::Watch), &row.shape, row.verdict.as_ref(), part);
    }
    for row in &snapshot.others {
        let part = Side { count: row.count, failed: row.failed, bytes: row.bytes, total_us: Some(row.total_us), ..Side::default() };
        add(row.verb, &row.shape, row.verdict.as_ref(), part);
    }
    parts.into_iter().map(|(key, parts)| (key, Side::sum(parts)))
}

fn change(before: Option<&Side>, after: Option<&Side>) -> Change {
    let (before, after) = match (before, after) {
        (Some(before), Some(after)) => (before, after),
        (None, Some(_)) => return Change::New,
        (Some(_), None) => return Change::Gone,
        (None, None) => return Change::Same,
    };
    let latency = |side: &Side| side.total_us.unwrap_or_default();
    let differences = [
        (before.from_etcd, after.from_etcd, 0),
        (before.failed, after.failed, 0),
        (before.bytes, after.bytes, before.bytes / BYTES_GRAIN),
        (before.count, after.count, 0),
        (latency(before), latency(after), LATENCY_GRAIN_US.max(latency(before) / 5)),
    ];
    match differences.into_iter().find(|(before, after, grain)| before.abs_diff(*after) > *grain) {
        Some((before, after, _)) if after > before => Change::Worse,
        Some(_) => Change::Better,
        None if before.answered_by() != after.answered_by() => Change::Moved,
        None => Change::Same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(count: u64, from_etcd: u64, bytes: u64, total_us: u64) -> Side {
        Side { count, from_etcd, bytes, total_us: Some(total_us), ..Side::default() }
    }

    #[test]
    fn most_important_difference_decides_the_change() {
        let before = side(10, 5, 1_000_000, 100_000);
        for (after, expected) in [
            (side(10, 5, 1_000_000, 100_000), Change::Same),
            (side(10, 5, 1_040_000, 115_000), Change::Same),
            (side(10, 5, 1_000_000, 130_000), Change::Worse),
            (side(10, 5, 1_000_000, 70_000), Change::Better),
            (side(10, 4, 9_000_000, 900_000), Change::Better),
            (side(1, 6, 1, 1), Change::Worse),
            (side(10, 5, 900_000, 900_000), Change::Better),
            (side(11, 5, 1_000_000, 100_000), Change::Worse),
            (Side { failed: 1, ..side(10, 5, 0, 0) }, Change::Worse),
            (
                Side {
                    layers: vec![Layer { served_from: Some(ServedFrom::Cache), rule: None, count: 10 }],
                    ..side(10, 5, 1_000_000, 100_000)
                },
                Change::Moved,
            ),
        ] {
            assert_eq!(change(Some(&before), Some(&after)), expected, "{after:?}");
        }
        assert_eq!((change(None, Some(&before)), change(Some(&before), None)), (Change::New, Change::Gone));
    }

    #[test]
    fn layers_in_another_order_are_the_same_layers() {
        let layer = |served_from, count| Layer { served_from: Some(served_from), rule: None, count };
        let run = |layers| Side { layers, ..side(10, 0, 1_000, 100_000) };
        let before = run(vec![layer(ServedFrom::Cache, 5), layer(ServedFrom::Snapshot, 5)]);
        let turned = run(vec![layer(ServedFrom::Snapshot, 6), layer(ServedFrom::Cache, 4)]);
        let fewer = run(vec![layer(ServedFrom::Cache, 10)]);
        assert_eq!(change(Some(&before), Some(&turned)), Change::Same);
        assert_eq!(change(Some(&before), Some(&fewer)), Change::Moved);
    }

    #[test]
    fn the_most_frequent_row_gives_the_latency() {
        let sum = Side::sum([(1, 500), (7, 20), (2, 900)].map(|(count, total_us)| (None, side(count, 0, 10, total_us))).into());
        assert_eq!((sum.count, sum.bytes, sum.total_us), (10, 30, Some(20)));
        assert_eq!(sum.layers.iter().map(|layer| layer.count).collect::<Vec<_>>(), [10], "one layer and one rule");
    }
}
