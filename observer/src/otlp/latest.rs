//! A table that keeps only its latest entries.

use std::collections::BTreeMap;

/// A bounded number of entries. Without room, the oldest one goes: first of those that are over, then of all.
#[derive(Debug)]
pub(super) struct Latest<K, V> {
    /// With the place of the key in `order`.
    entries: BTreeMap<K, (Place, V)>,
    /// The first one goes first.
    order: BTreeMap<Place, K>,
    next: u64,
    /// Maximum number of entries.
    most: usize,
}

/// The order in which entries go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// Entries that are over go before all others.
    lasts: bool,
    number: u64,
}

impl<K: Copy + Ord, V> Latest<K, V> {
    pub(super) const fn new(most: usize) -> Self {
        Self { entries: BTreeMap::new(), order: BTreeMap::new(), next: 0, most }
    }

    /// Adds the newest entry. One of the same key is replaced.
    pub(super) fn insert(&mut self, key: K, value: V) {
        let place = self.last(true);
        if let Some((former, _value)) = self.entries.insert(key, (place, value)) {
            self.order.remove(&former);
        }
        self.order.insert(place, key);
        if self.entries.len() > self.most
            && let Some((_place, oldest)) = self.order.pop_first()
        {
            self.entries.remove(&oldest);
        }
    }

    /// Notes that an entry is over. It stays while there is room.
    pub(super) fn end(&mut self, key: K) {
        let place = self.last(false);
        if let Some((former, _value)) = self.entries.get_mut(&key) {
            self.order.remove(&std::mem::replace(former, place));
            self.order.insert(place, key);
        }
    }

    /// The entry of a key.
    pub(super) fn get(&self, key: K) -> Option<&V> {
        self.entries.get(&key).map(|(_place, value)| value)
    }

    const fn last(&mut self, lasts: bool) -> Place {
        let number = self.next;
        self.next += 1;
        Place { lasts, number }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = 1_000;

    #[test]
    fn oldest_entry_goes_first_whatever_its_key_is() {
        let mut latest = Latest::new(MOST as usize);
        (0..MOST).rev().for_each(|key| latest.insert(key, key));
        latest.insert(MOST - 1, 7);
        latest.insert(MOST, 8);
        let goes = MOST - 2;
        let keys = [0, goes - 1, goes, MOST - 1, MOST].map(|key| latest.get(key).copied());
        assert_eq!(keys, [Some(0), Some(goes - 1), None, Some(7), Some(8)]);
        assert_eq!((latest.entries.len(), latest.order.len()), (MOST as usize, MOST as usize));
    }

    #[test]
    fn entries_that_are_over_go_before_all_others() {
        let mut latest = Latest::new(MOST as usize);
        (0..MOST).for_each(|key| latest.insert(key, ()));
        for key in [9, 5, MOST] {
            latest.end(key);
        }
        (MOST..MOST + 3).for_each(|key| latest.insert(key, ()));
        let gone: Vec<_> = (0..MOST + 3).filter(|key| latest.get(*key).is_none()).collect();
        assert_eq!(gone, [0, 5, 9]);
        assert_eq!((latest.entries.len(), latest.order.len()), (MOST as usize, MOST as usize));
    }
}
