//! The values of a label that come first, each with its number.

use std::hash::{BuildHasher as _, Hash};

use foldhash::fast::RandomState;

use crate::exchange::ValueNumber;

/// A bounded table of values. A value keeps its number; later ones share [`ValueNumber::OTHER`].
#[derive(Clone, Debug)]
pub(super) struct FirstCome<T> {
    most: usize,
    /// The values, by their numbers.
    values: Vec<T>,
    /// The hashes of the values with their numbers, in order.
    by_hash: Vec<(u64, ValueNumber)>,
    hasher: RandomState,
}

impl<T> FirstCome<T> {
    /// A table for `most` values, but for no more than there are numbers.
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.min(ValueNumber::OTHER.index()), values: Vec::new(), by_hash: Vec::new(), hasher: RandomState::default() }
    }

    /// The number of a value with these parts. `is` recognises a known value with these parts; `make` makes it, if it is new and there is
    /// room.
    pub(super) fn number(&mut self, parts: impl Hash, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> ValueNumber {
        let hash = self.hasher.hash_one(parts);
        let place = self.by_hash.partition_point(|(other, _)| *other < hash);
        let alike = self.by_hash.iter().skip(place).take_while(|(other, _)| *other == hash);
        let found = alike.map(|(_, number)| *number).find(|number| self.value(*number).is_some_and(&is));
        found.unwrap_or_else(|| self.insert(hash, place, make))
    }

    /// The value with this number; `None` for [`ValueNumber::OTHER`].
    pub(super) fn value(&self, number: ValueNumber) -> Option<&T> {
        self.values.get(number.index())
    }

    fn insert(&mut self, hash: u64, place: usize, make: impl FnOnce() -> T) -> ValueNumber {
        if self.values.len() >= self.most {
            return ValueNumber::OTHER;
        }
        let Ok(number) = u8::try_from(self.values.len()).map(ValueNumber) else { return ValueNumber::OTHER };
        self.values.push(make());
        self.by_hash.insert(place, (hash, number));
        number
    }
}
