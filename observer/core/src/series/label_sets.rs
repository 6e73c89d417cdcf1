//! The label sets of one family, and their numbers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use super::family::{FamilyRow, Kind};
use super::histogram::Histogram;
use super::label::{Key, LabelSet};
use super::sample::Value;
use crate::exchange::Place;

/// The numbers of one family, by label set.
#[derive(Clone, Debug)]
pub(super) struct LabelSets {
    row: &'static FamilyRow,
    most: usize,
    places: BTreeMap<Key, Place>,
    numbers: Numbers,
    folded: u64,
}

/// The numbers at all places.
#[derive(Clone, Debug)]
enum Numbers {
    Counts(Vec<u64>),
    Histograms(&'static [u64], Vec<Histogram>),
}

impl LabelSets {
    /// A family without label sets. It will have `most` at most, and one at least.
    pub(super) fn new(row: &'static FamilyRow, most: usize) -> Self {
        let numbers = match row.kind {
            Kind::Counter | Kind::Gauge => Numbers::Counts(Vec::new()),
            Kind::Histogram { bounds } => Numbers::Histograms(bounds, Vec::new()),
        };
        Self { row, most: most.max(1), places: BTreeMap::new(), numbers, folded: 0 }
    }

    /// Gives the family room for at least `least` label sets.
    pub(super) fn make_room(&mut self, least: usize) {
        self.most = self.most.max(least);
    }

    /// The place of a label set. If it has none yet, and there is no room, it is that of all others.
    pub(super) fn place(&mut self, labels: &LabelSet) -> Option<Place> {
        let key = labels.key(self.row.labels);
        if let Some(place) = self.places.get(&key).copied() {
            self.count_folded(key);
            return Some(place);
        }
        let others = LabelSet::OTHERS.key(self.row.labels);
        // One place is kept for all others.
        let has_room = self.places.len() + usize::from(!self.places.contains_key(&others)) < self.most;
        let key = if has_room { key } else { others };
        self.count_folded(key);
        match self.places.entry(key) {
            Entry::Occupied(place) => Some(*place.get()),
            Entry::Vacant(place) => Some(*place.insert(self.numbers.push()?)),
        }
    }

    /// Adds to a counter or a gauge.
    pub(super) fn add(&mut self, place: Place, more: u64) {
        self.change(place, |count| count.saturating_add(more));
    }

    /// Reduces a gauge by one.
    pub(super) fn lower(&mut self, place: Place) {
        self.change(place, |count| count.saturating_sub(1));
    }

    /// Adds a duration to a histogram.
    pub(super) fn observe(&mut self, place: Place, duration: Duration) {
        if let Numbers::Histograms(bounds, histograms) = &mut self.numbers
            && let Some(histogram) = histograms.get_mut(place.index())
        {
            histogram.add(bounds, duration);
        }
    }

    /// All label sets with their numbers, in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Key, Value<'_>)> {
        self.places.iter().filter_map(|(key, place)| Some((key, self.numbers.at(*place)?)))
    }

    /// How often a label set had no room.
    pub(super) const fn folded(&self) -> u64 {
        self.folded
    }

    pub(super) const fn row(&self) -> &'static FamilyRow {
        self.row
    }

    /// Gauges do not count, since many are computed for each output.
    fn count_folded(&mut self, key: Key) {
        let counts = key.is_folded() && self.row.kind != Kind::Gauge;
        self.folded = self.folded.saturating_add(u64::from(counts));
    }

    /// Changes a counter or a gauge.
    pub(super) fn change(&mut self, place: Place, change: impl FnOnce(u64) -> u64) {
        if let Numbers::Counts(counts) = &mut self.numbers
            && let Some(count) = counts.get_mut(place.index())
        {
            *count = change(*count);
        }
    }
}

impl Numbers {
    /// Adds a zero, and returns its place.
    fn push(&mut self) -> Option<Place> {
        let place = Place::at(match self {
            Self::Counts(counts) => counts.len(),
            Self::Histograms(_, histograms) => histograms.len(),
        })?;
        match self {
            Self::Counts(counts) => counts.push(0),
            Self::Histograms(_, histograms) => histograms.push(Histogram::default()),
        }
        Some(place)
    }

    fn at(&self, place: Place) -> Option<Value<'_>> {
        match self {
            Self::Counts(counts) => counts.get(place.index()).map(|count| Value::Count(*count)),
            Self::Histograms(_, histograms) => histograms.get(place.index()).map(Value::Histogram),
        }
    }
}
