//! The store of all families.

use std::time::Duration;

use super::family::{FAMILIES, Family, FamilyRow, Kind};
use super::label::{LABELS, Label, LabelRow, LabelSet, MOST_LABELS, Values};
use super::label_sets::LabelSets;
use super::label_values::LabelValues;
use super::limits::SeriesLimits;
use super::sample::Sample;
use crate::exchange::{Place, ValueNumber};

const _: () = check_tables();

/// The numbers of all families, by label set.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(super) values: LabelValues,
    /// In the order of [`Family`].
    families: Vec<LabelSets>,
}

impl Series {
    /// A store without numbers. Families whose labels have only known values begin with zeros, because an alert cannot be raised on
    /// a number that is absent.
    pub(crate) fn new(limits: &SeriesLimits) -> Self {
        let values = LabelValues::new(limits);
        let families = FAMILIES.iter().map(|row| LabelSets::new(row, limits.sets)).collect();
        let mut series = Self { values, families };
        let begins = |row: &&FamilyRow| row.family != Family::LabelSetsFolded && !row.family.is_of_the_shell();
        for row in FAMILIES.iter().filter(begins) {
            series.begin_with_zeros(row.family, row.labels);
        }
        series
    }

    /// All label sets of a family with their numbers, in an order that depends only on the order of the traffic.
    pub(crate) fn samples(&self, family: Family) -> impl Iterator<Item = Sample<'_>> {
        self.families.get(family as usize).into_iter().flat_map(|sets| {
            sets.iter().map(|(key, value)| {
                let labels = sets.row().labels.iter().zip(key.iter()).filter_map(|(label, number)| Some((row_of(*label)?, number)));
                let labels = labels.flat_map(|(row, number)| self.values.names(row).zip(self.values.texts(row, number)));
                Sample { labels: labels.collect(), value }
            })
        })
    }

    /// How often a request was counted in this family with the label value `other`, because its own values or their set had no
    /// room. Of watch events, the first of each type of a watch is counted.
    pub(crate) fn folded(&self, family: Family) -> u64 {
        self.families.get(family as usize).map_or(0, LabelSets::folded)
    }

    /// The number of a label's value that is a text.
    pub(crate) fn text(&mut self, label: Label, text: &str) -> ValueNumber {
        self.values.text(label, text)
    }

    /// The place of a label set in a family.
    pub(super) fn place(&mut self, family: Family, labels: &LabelSet) -> Option<Place> {
        self.families.get_mut(family as usize)?.place(labels)
    }

    /// Adds to the number of a label set.
    pub(crate) fn add(&mut self, family: Family, labels: &LabelSet, more: u64) {
        let place = self.place(family, labels);
        self.add_at(family, place, more);
    }

    /// Adds to the number at a place.
    pub(super) fn add_at(&mut self, family: Family, place: Option<Place>, more: u64) {
        if let (Some(sets), Some(place)) = (self.families.get_mut(family as usize), place) {
            sets.add(place, more);
        }
    }

    /// Reduces the gauge at a place by one.
    pub(super) fn lower(&mut self, family: Family, place: Place) {
        if let Some(sets) = self.families.get_mut(family as usize) {
            sets.lower(place);
        }
    }

    /// Raises the gauge of a label set to `value`, if it is lower.
    pub(crate) fn raise_to(&mut self, family: Family, labels: &LabelSet, value: u64) {
        let place = self.place(family, labels);
        if let (Some(sets), Some(place)) = (self.families.get_mut(family as usize), place) {
            sets.change(place, |before| before.max(value));
        }
    }

    /// Reduces the gauge of a label set to `value`, if it is higher, or if it is new.
    pub(crate) fn reduce_to(&mut self, family: Family, labels: &LabelSet, value: u64) {
        let place = self.place(family, labels);
        if let (Some(sets), Some(place)) = (self.families.get_mut(family as usize), place) {
            sets.change(place, |before| if before == 0 { value } else { before.min(value) });
        }
    }

    /// Adds a duration to the histogram of a label set.
    pub(super) fn observe(&mut self, family: Family, labels: &LabelSet, duration: Duration) {
        let place = self.place(family, labels);
        if let (Some(sets), Some(place)) = (self.families.get_mut(family as usize), place) {
            sets.observe(place, duration);
        }
    }

    /// Adds the numbers of label sets without room. They are known only once all else is counted.
    pub(super) fn add_folded(&mut self) {
        for row in FAMILIES {
            let may_fold = row.labels.iter().any(|label| row_of(*label).is_some_and(|row| matches!(row.values, Values::FirstCome)));
            let is_counted = !matches!(row.kind, Kind::Gauge);
            if let (true, Ok(number)) = (may_fold && is_counted, u8::try_from(row.family as usize)) {
                let labels = LabelSet::default().with(Label::OfFamily, ValueNumber(number));
                self.add(Family::LabelSetsFolded, &labels, self.folded(row.family));
            }
        }
    }

    /// Creates all label sets of a family, if the values of all its labels are known.
    fn begin_with_zeros(&mut self, family: Family, labels: &[Label]) {
        let mut sets = vec![LabelSet::default()];
        for label in labels {
            let known = row_of(*label).and_then(|row| self.values.known_before(row.values));
            let Some(known) = known.and_then(|known| u8::try_from(known).ok()) else { return };
            sets = sets.iter().flat_map(|set| (0..known).map(|number| set.with(*label, ValueNumber(number)))).collect();
        }
        if let Some(family) = self.families.get_mut(family as usize) {
            family.make_room(sets.len() + 1);
        }
        for set in sets {
            self.add(family, &set, 0);
        }
    }
}

fn row_of(label: Label) -> Option<&'static LabelRow> {
    LABELS.get(label as usize)
}

/// Fails to compile if a row is not at the place of its family or label, or if a family has too many labels.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn check_tables() {
    let mut row = 0;
    while row < FAMILIES.len() {
        assert!(FAMILIES[row].family as usize == row && FAMILIES[row].labels.len() <= MOST_LABELS);
        row += 1;
    }
    let mut row = 0;
    while row < LABELS.len() {
        assert!(LABELS[row].label as usize == row);
        row += 1;
    }
}
