//! A sorted map with history: the object of each key at each revision.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use super::object::Object;

/// The history of a set of keys. The owner drops old states with [`Versions::forget_below`].
///
/// etcd calls this a multi-version map. The store has one for all keys, and each watch cache has one for its resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions {
    keys: BTreeMap<Arc<str>, Vec<Version>>,
}

/// The object of a key from `revision` on. The list of a key is sorted by revision, oldest first.
#[derive(Clone, Debug)]
struct Version {
    revision: u64,
    /// `None` after a deletion.
    object: Option<Arc<Object>>,
}

/// A key and its object at the requested revision.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: Arc<str>,
    pub(crate) object: Arc<Object>,
}

impl Versions {
    /// Records the object of a key from `revision` on. Revisions of one key only increase.
    pub(crate) fn record(&mut self, key: Arc<str>, revision: u64, object: Option<Arc<Object>>) {
        self.keys.entry(key).or_default().push(Version { revision, object });
    }

    /// The object of the key at `revision`.
    pub(crate) fn get(&self, key: &str, revision: u64) -> Option<Arc<Object>> {
        at(self.keys.get(key)?, revision)
    }

    /// The current object of the key.
    pub(crate) fn latest(&self, key: &str) -> Option<Arc<Object>> {
        self.get(key, u64::MAX)
    }

    /// The keys below `prefix`, starting at `from`, in order, with their objects at `revision`.
    pub(crate) fn below<'a>(&'a self, prefix: &'a str, from: &str, revision: u64) -> impl Iterator<Item = Entry> + 'a {
        let start = if from > prefix { from } else { prefix };
        let range = self.keys.range::<str, _>((Bound::Included(start), Bound::Unbounded));
        range
            .take_while(move |(key, _)| key.starts_with(prefix))
            .filter_map(move |(key, versions)| Some(Entry { key: Arc::clone(key), object: at(versions, revision)? }))
    }

    /// Drops states needed only for reads below `revision`, and returns the bytes of their objects.
    pub(crate) fn forget_below(&mut self, revision: u64) -> usize {
        let mut freed = 0;
        self.keys.retain(|_, versions| {
            let needed = versions.partition_point(|version| version.revision <= revision).saturating_sub(1);
            freed += versions.drain(..needed).filter_map(|version| version.object).map(|object| object.size()).sum::<usize>();
            let gone = matches!(versions.as_slice(), [only] if only.object.is_none() && only.revision <= revision);
            !gone
        });
        freed
    }
}

fn at(versions: &[Version], revision: u64) -> Option<Arc<Object>> {
    let behind = versions.partition_point(|version| version.revision <= revision);
    versions.get(behind.checked_sub(1)?)?.object.clone()
}
