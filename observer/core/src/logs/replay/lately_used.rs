//! A bounded map that drops what was not used for longest.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

/// A map in two halves. When the half with the entries in use is full, the other half is dropped, and they change places.
#[derive(Debug)]
pub(super) struct LatelyUsed<K, V> {
    half: usize,
    used: HashMap<K, V, RandomState>,
    /// Entries that were not used since the halves changed places last.
    unused: HashMap<K, V, RandomState>,
}

impl<K: Eq + Hash, V> LatelyUsed<K, V> {
    /// A map that keeps at least the half of `most` entries that were used last, and never more than `most`.
    pub(super) fn of(most: usize) -> Self {
        Self { half: (most / 2).max(1), used: HashMap::default(), unused: HashMap::default() }
    }

    /// The value of a key, which counts as unused.
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.used.get(key).or_else(|| self.unused.get(key))
    }

    /// The value of a key, which counts as used now.
    pub(super) fn touch(&mut self, key: &K) -> Option<&mut V> {
        if !self.used.contains_key(key) {
            let (key, value) = self.unused.remove_entry(key)?;
            self.insert(key, value);
        }
        self.used.get_mut(key)
    }

    /// Adds or replaces the value of a key.
    pub(super) fn insert(&mut self, key: K, value: V) {
        if self.used.len() >= self.half && !self.used.contains_key(&key) {
            self.unused = std::mem::take(&mut self.used);
        }
        self.unused.remove(&key);
        self.used.insert(key, value);
    }

    /// Removes a key.
    pub(super) fn remove(&mut self, key: &K) {
        self.used.remove(key);
        self.unused.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_are_used_stay() {
        let mut map = LatelyUsed::of(8);
        for number in 0..100 {
            map.insert(number, number);
            assert_eq!(map.touch(&0), Some(&mut 0), "after {number}");
            assert!(map.used.len() + map.unused.len() <= 8);
        }
        assert_eq!((map.get(&99), map.get(&1)), (Some(&99), None));
        map.remove(&99);
        map.remove(&0);
        assert_eq!((map.get(&99), map.get(&0)), (None, None));
        assert_eq!(map.touch(&0), None);
    }

    #[test]
    fn value_of_a_key_is_replaced() {
        let mut map = LatelyUsed::of(2);
        map.insert('a', 1);
        map.insert('b', 1);
        map.insert('a', 2);
        assert_eq!((map.get(&'a'), map.unused.contains_key(&'a')), (Some(&2), false));
    }
}
