//! Compares two runs by request shape: which requests are new, gone, cheaper, more expensive, or answered by another layer.
//!
//! The number of lists and watches is a cost. The number of other requests is not: a run that writes less does less work.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use super::change::{Change, SIZE_GRAIN, TIME_GRAIN};
use crate::exchange::Shape;
use crate::k8s::Verb;
use crate::observer::alike::Alike;
use crate::observer::record::VerdictRecord;
use crate::observer::snapshot::Snapshot;
use crate::quantity::Amount;
use crate::routing::ServedFrom;

/// Durations that differ by at most this many microseconds are equal, whatever [`TIME_GRAIN`] allows: latencies of unchanged
/// requests vary that much.
const LATENCY_GRAIN_US: u64 = 1_000;

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
    pub items: Amount,
    /// Events of watches, without bookmarks.
    pub events: Amount,
    /// Bytes of all response bodies.
    pub bytes: Amount,
    /// Whether some answers were not read, so that items, events and bytes are lower bounds.
    pub lower_bound: bool,
    /// Median time to the head of a list's response, in microseconds. It is the median of the row with the most requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_us: Option<u64>,
    /// Median time to the end of the response, in microseconds; `None` for watches. It is the median of the row with the most
    /// requests.
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

/// All shapes of both runs. Better and worse shapes come first, the worst at the top; then neutral changes, then unchanged shapes.
pub(super) fn rows(before: &Snapshot, after: &Snapshot, alike: &Alike) -> Vec<ComparisonRow> {
    let mut both: BTreeMap<(Option<Verb>, Shape), Sides> = BTreeMap::new();
    for (key, side) in sides(before, alike) {
        both.entry(key).or_default().0 = Some(side);
    }
    for (key, side) in sides(after, alike) {
        both.entry(key).or_default().1 = Some(side);
    }
    let rows = both.into_iter().map(|((verb, shape), (before, after))| {
        let change = change(verb, before.as_ref(), after.as_ref());
        ComparisonRow { verb, shape, change, before, after }
    });
    let mut rows: Vec<ComparisonRow> = rows.collect();
    rows.sort_by_key(|row| (row.change == Change::Same, row.is_neutral(), Reverse(row.cost())));
    rows
}

impl ComparisonRow {
    /// Whether the change is neither better nor worse. For requests other than lists and watches, `New` and `Gone` are neutral,
    /// too.
    pub fn is_neutral(&self) -> bool {
        match self.change {
            Change::Moved | Change::Changed | Change::Same => true,
            Change::New | Change::Gone => !is_list_or_watch(self.verb),
            Change::Worse | Change::Better => false,
        }
    }

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
        [self.from_etcd, self.failed, self.bytes.or_zero(), self.count].map(i128::from)
    }

    /// The sum of rows. Medians cannot be added, so the sum has the medians of the row with the most requests.
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

const fn is_list_or_watch(verb: Option<Verb>) -> bool {
    matches!(verb, Some(Verb::List | Verb::Watch))
}

fn change(verb: Option<Verb>, before: Option<&Side>, after: Option<&Side>) -> Change {
    let (before, after) = match (before, after) {
        (Some(before), Some(after)) => (before, after),
        (None, Some(_)) => return Change::New,
        (Some(_), None) => return Change::Gone,
        (None, None) => return Change::Same,
    };
    if !is_list_or_watch(verb) && before.count != after.count {
        return if fails_more(before, after) { Change::Worse } else { Change::Changed };
    }
    let latency = |side: &Side| side.total_us.unwrap_or_default();
    // With an unknown number, there is no difference.
    let (bytes_before, bytes_after) = before.bytes.known().zip(after.bytes.known()).unwrap_or_default();
    let differences = [
        (before.from_etcd, after.from_etcd, 0),
        (before.failed, after.failed, 0),
        (bytes_before, bytes_after, bytes_before / SIZE_GRAIN),
        (before.count, after.count, 0),
        (latency(before), latency(after), LATENCY_GRAIN_US.max(latency(before) / TIME_GRAIN)),
    ];
    match differences.into_iter().find(|(before, after, grain)| before.abs_diff(*after) > *grain) {
        Some((before, after, _)) if after > before => Change::Worse,
        Some(_) => Change::Better,
        None if before.answered_by() != after.answered_by() => Change::Moved,
        None => Change::Same,
    }
}

/// Whether both the number and the share of failures grew.
fn fails_more(before: &Side, after: &Side) -> bool {
    let share = |side: &Side, other: &Side| u128::from(side.failed) * u128::from(other.count);
    after.failed > before.failed && share(after, before) > share(before, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(count: u64, from_etcd: u64, bytes: u64, total_us: u64) -> Side {
        Side { count, from_etcd, bytes: Amount::of(bytes), total_us: Some(total_us), ..Side::default() }
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
            assert_eq!(change(Some(Verb::List), Some(&before), Some(&after)), expected, "{after:?}");
        }
        let list = Some(Verb::List);
        assert_eq!((change(list, None, Some(&before)), change(list, Some(&before), None)), (Change::New, Change::Gone));
    }

    #[test]
    fn fewer_writes_and_gets_are_neither_better_nor_worse() {
        let before = side(10, 10, 1_000_000, 100_000);
        let failing = |count, failed| Side { failed, ..side(count, 0, 1_000, 5_000) };
        for verb in [Some(Verb::Get), Some(Verb::Create), Some(Verb::Patch), Some(Verb::DeleteCollection), None] {
            let fewer = change(verb, Some(&before), Some(&side(1, 1, 100_000, 1_000)));
            let more = change(verb, Some(&before), Some(&side(20, 20, 2_000_000, 900_000)));
            assert_eq!((fewer, more), (Change::Changed, Change::Changed), "{verb:?}");
            let slower = change(verb, Some(&before), Some(&side(10, 10, 1_000_000, 900_000)));
            assert_eq!(slower, Change::Worse, "{verb:?}");
            let fails = |after| change(verb, Some(&failing(10, 3)), Some(&after));
            let changes = [failing(5, 1), failing(20, 6), failing(20, 7), failing(4, 4)].map(fails);
            assert_eq!(changes, [Change::Changed, Change::Changed, Change::Worse, Change::Worse], "{verb:?}");
        }
        let fewer = change(Some(Verb::Watch), Some(&before), Some(&side(1, 1, 100_000, 1_000)));
        assert_eq!(fewer, Change::Better);
    }

    #[test]
    fn layers_in_another_order_are_the_same_layers() {
        let layer = |served_from, count| Layer { served_from: Some(served_from), rule: None, count };
        let run = |layers| Side { layers, ..side(10, 0, 1_000, 100_000) };
        let before = run(vec![layer(ServedFrom::Cache, 5), layer(ServedFrom::Snapshot, 5)]);
        let turned = run(vec![layer(ServedFrom::Snapshot, 6), layer(ServedFrom::Cache, 4)]);
        let fewer = run(vec![layer(ServedFrom::Cache, 10)]);
        assert_eq!(change(Some(Verb::List), Some(&before), Some(&turned)), Change::Same);
        assert_eq!(change(Some(Verb::List), Some(&before), Some(&fewer)), Change::Moved);
    }

    #[test]
    fn the_most_frequent_row_gives_the_latency() {
        let sum = Side::sum([(1, 500), (7, 20), (2, 900)].map(|(count, total_us)| (None, side(count, 0, 10, total_us))).into());
        assert_eq!((sum.count, sum.bytes.or_zero(), sum.total_us), (10, 30, Some(20)));
        assert_eq!(sum.layers.iter().map(|layer| layer.count).collect::<Vec<_>>(), [10], "one layer and one rule");
    }
}
