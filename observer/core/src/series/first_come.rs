//! The values of a label that come first, each with its number.

use std::cmp::Ordering;

use crate::exchange::ValueNumber;

/// A bounded table of values. A value keeps its number; later ones share [`ValueNumber::OTHER`].
#[derive(Clone, Debug)]
pub(super) struct FirstCome<T> {
    most: usize,
    /// The values, by their numbers.
    values: Vec<T>,
    /// Their numbers, in the order of the values.
    sorted: Vec<ValueNumber>,
}

impl<T> FirstCome<T> {
    /// A table for `most` values, but for no more than there are numbers.
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.min(ValueNumber::OTHER.index()), values: Vec::new(), sorted: Vec::new() }
    }

    /// The number of a value. `compare` compares a known value with it; `make` makes it, if it is new and there is room.
    pub(super) fn number(&mut self, compare: impl Fn(&T) -> Ordering, make: impl FnOnce() -> T) -> ValueNumber {
        let of_number = |number: &ValueNumber| self.value(*number).map_or(Ordering::Less, &compare);
        match self.sorted.binary_search_by(of_number) {
            Ok(found) => self.sorted.get(found).copied().unwrap_or(ValueNumber::OTHER),
            Err(place) => self.insert(place, make),
        }
    }

    /// The value with this number; `None` for [`ValueNumber::OTHER`].
    pub(super) fn value(&self, number: ValueNumber) -> Option<&T> {
        self.values.get(number.index())
    }

    fn insert(&mut self, place: usize, make: impl FnOnce() -> T) -> ValueNumber {
        if self.values.len() >= self.most {
            return ValueNumber::OTHER;
        }
        let Ok(number) = u8::try_from(self.values.len()).map(ValueNumber) else { return ValueNumber::OTHER };
        self.values.push(make());
        self.sorted.insert(place, number);
        number
    }
}
