//! A map that finds an entry by its hash, and lists its entries in the order of their keys.
//!
//! Requests, connections and clients are looked up several times for each observation, and added and removed once. In a tree of ten thousand
//! keys, a look-up waits for memory at each level. Order is needed rarely, but then the same observations must give the same output.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::ops::RangeBounds;

use foldhash::fast::RandomState;

/// The entries, and their keys in order. Keys are small.
#[derive(Debug)]
pub(crate) struct SortedMap<K, V> {
    entries: HashMap<K, V, RandomState>,
    keys: BTreeSet<K>,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self { entries: HashMap::default(), keys: BTreeSet::new() }
    }
}

impl<K: Copy + Ord + Hash, V> SortedMap<K, V> {
    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether a key has an entry.
    pub(crate) fn contains(&self, key: K) -> bool {
        self.entries.contains_key(&key)
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: K) -> Option<&V> {
        self.entries.get(&key)
    }

    /// The value of a key, to be changed.
    pub(crate) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.entries.get_mut(&key)
    }

    /// The value of a key; a default value is added if it has none.
    pub(crate) fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let Self { entries, keys } = self;
        entries.entry(key).or_insert_with(|| {
            keys.insert(key);
            V::default()
        })
    }

    /// Adds or replaces the value of a key. Returns the value before.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        let before = self.entries.insert(key, value);
        if before.is_none() {
            self.keys.insert(key);
        }
        before
    }

    /// Removes a key. Returns its value.
    pub(crate) fn remove(&mut self, key: K) -> Option<V> {
        let value = self.entries.remove(&key)?;
        self.keys.remove(&key);
        Some(value)
    }

    /// Removes the first key. Returns its value.
    pub(crate) fn pop_first(&mut self) -> Option<V> {
        let first = self.keys.pop_first()?;
        self.entries.remove(&first)
    }

    /// The keys in this range, in order.
    pub(crate) fn keys(&self, range: impl RangeBounds<K>) -> impl Iterator<Item = K> {
        self.keys.range(range).copied()
    }

    /// The values of all keys, in order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.keys.iter().filter_map(|key| self.entries.get(key))
    }

    /// All values, in an order of no meaning, which differs from run to run.
    pub(crate) fn values_unordered(&self) -> impl Iterator<Item = &V> {
        self.entries.values()
    }

    /// As [`Self::values_unordered`], to be changed.
    pub(crate) fn values_unordered_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.values_mut()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn entries_are_those_of_a_tree() {
        let (mut map, mut tree) = (SortedMap::default(), BTreeMap::new());
        for step in 0..4_000_u64 {
            let key = step.wrapping_mul(2_654_435_761) % 97;
            match step % 7 {
                0 | 1 => assert_eq!(map.insert(key, step), tree.insert(key, step)),
                2 => assert_eq!(map.remove(key), tree.remove(&key)),
                3 => assert_eq!(map.get_or_default(key), tree.entry(key).or_default()),
                4 if step % 3 == 0 => assert_eq!(map.pop_first(), tree.pop_first().map(|(_, value)| value)),
                _other => assert_eq!(map.get_mut(key), tree.get_mut(&key)),
            }
            assert_eq!((map.len(), map.contains(key), map.get(key)), (tree.len(), tree.contains_key(&key), tree.get(&key)));
            assert!(map.values().eq(tree.values()) && map.keys(..).eq(tree.keys().copied()));
            assert!(map.keys(10..=40).eq(tree.range(10..=40).map(|(key, _)| *key)));
        }
        map.values_unordered_mut().for_each(|value| *value += 1);
        let mut values: Vec<u64> = map.values_unordered().map(|value| value - 1).collect();
        values.sort_unstable();
        let mut expected: Vec<u64> = tree.into_values().collect();
        expected.sort_unstable();
        assert_eq!(values, expected);
    }
}
