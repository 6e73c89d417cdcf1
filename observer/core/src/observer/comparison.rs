//! Two runs held against each other, shape by shape.

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

/// Durations that differ by less than a fifth, or by less than this many microseconds, are the same: no two runs are equally fast.
const LATENCY_GRAIN_US: u64 = 1_000;
/// Bytes that differ by less than a twentieth are the same: revisions and timestamps in them grow.
const BYTES_GRAIN: u64 = 20;

/// What changed from one run to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The run that the other one is held against.
    pub before: ComparedRun,
    /// The other one.
    pub after: ComparedRun,
    /// All shapes of requests of both, the worst change first.
    pub rows: Vec<ComparisonRow>,
}

/// A run as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedRun {
    /// When it began.
    pub started: Option<Timestamp>,
    /// When its last observation was made.
    pub at: Timestamp,
    /// Its totals.
    pub totals: Totals,
    /// Whether traffic was missed or a table was full, so that numbers are lower bounds and shapes may be missing.
    pub unseen: bool,
}

/// Requests of one shape in both runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparisonRow {
    /// What was to be done.
    pub verb: Option<Verb>,
    /// With what.
    #[serde(flatten)]
    pub shape: Shape,
    /// What became of it.
    pub change: Change,
    /// In the first run; `None` when it did not occur.
    pub before: Option<Side>,
    /// In the second run; `None` when it did not occur.
    pub after: Option<Side>,
}

/// What became of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// It occurs in the second run only.
    New,
    /// It occurs in the first run only.
    Gone,
    /// More is read from etcd, or else more fails, or more bytes, requests or time are needed.
    Worse,
    /// The other way round.
    Better,
    /// It costs the same and is answered by another layer or rule.
    Moved,
    /// None of these.
    Same,
}

/// Requests of one shape in one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Side {
    /// How many.
    pub count: u64,
    /// How many were answered with 4xx or 5xx, or broke.
    pub failed: u64,
    /// How many read their objects from etcd.
    pub from_etcd: u64,
    /// Which layers answered by which rules, the most frequent first.
    pub layers: Vec<Layer>,
    /// Items of lists.
    pub items: u64,
    /// Events of watches.
    pub events: u64,
    /// Bytes of all bodies.
    pub bytes: u64,
    /// Whether answers were not read, so that items, events and bytes are lower bounds.
    pub lower_bound: bool,
    /// Median time to the head of the response of lists, in microseconds, of the most frequent row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_us: Option<u64>,
    /// Median time to the end, in microseconds, of the most frequent row; not of watches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_us: Option<u64>,
}

/// A layer that answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// Which; `None` when no object is read.
    pub served_from: Option<ServedFrom>,
    /// By which rule.
    pub rule: Option<&'static str>,
    /// How many requests.
    pub count: u64,
}

type Sides = (Option<Side>, Option<Side>);

impl Comparison {
    /// Holds `after` against `before`.
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
    /// What the second run costs more, the heaviest first: reads from etcd, failures, bytes, requests.
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

    /// The sum of rows; of medians there is none, so they are those of the most frequent row.
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

    /// Layers and rules, without how often, and so without an order.
    fn answered_by(&self) -> HashSet<(&Option<ServedFrom>, Option<&'static str>)> {
        self.layers.iter().map(|layer| (&layer.served_from, layer.rule)).collect()
    }
}

/// A row of a snapshot.
type Part<'s> = (Option<&'s VerdictRecord>, Side);

/// All rows of a snapshot, those of one shape together.
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
    fn the_heaviest_difference_decides() {
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
