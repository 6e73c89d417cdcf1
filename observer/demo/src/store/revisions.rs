//! The store: the history of every key, under one revision that counts the writes, as in etcd.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;

use super::object::Object;
use super::versions::{Entry, Versions};

/// The limits of the store. At a limit, history is compacted early, or writes are refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Maximum number of objects that exist at once.
    pub(crate) objects: usize,
    /// Maximum size in bytes of all encoded objects, including their history.
    pub(crate) bytes: usize,
    /// Maximum number of changes kept for watches; older ones are compacted early.
    pub(crate) changes: usize,
}

/// Every object of the demo, in memory. A clone shares the objects.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    bounds: Bounds,
    revision: u64,
    /// Reads below this revision are refused.
    compacted: u64,
    versions: Versions,
    changes: VecDeque<Change>,
    objects: usize,
    bytes: usize,
    early_compactions: u64,
}

/// A write to one key.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) revision: u64,
    pub(crate) key: Arc<str>,
    /// The state before; `None` if there was no object.
    pub(crate) previous: Option<Arc<Object>>,
    /// The state after; for a deletion, the last state at the revision of the deletion.
    pub(crate) object: Arc<Object>,
    pub(crate) deleted: bool,
}

/// Why a write was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    /// A created key exists already, or a changed one has another revision or no object.
    Conflict,
    /// A limit of the store is reached.
    Full,
}

/// Why a read was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// The revision was compacted.
    Compacted,
    /// The revision does not exist yet.
    Future,
}

impl Store {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            revision: 1,
            compacted: 0,
            versions: Versions::default(),
            changes: VecDeque::new(),
            objects: 0,
            bytes: 0,
            early_compactions: 0,
        }
    }

    /// The revision of the last write.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// The oldest revision that can be read.
    pub(crate) fn compacted(&self) -> u64 {
        self.compacted
    }

    /// How often history was compacted early.
    pub(crate) fn early_compactions(&self) -> u64 {
        self.early_compactions
    }

    /// Writes `value` if the object of the key has the revision `expected`; 0 requires that there is none.
    pub(crate) fn put(&mut self, key: &str, expected: u64, value: Value) -> Result<Change, WriteError> {
        let previous = self.expect(key, expected)?;
        let revision = self.revision + 1;
        let object = Arc::new(Object::at_revision(value, revision));
        if self.bytes + object.size() > self.bounds.bytes {
            self.compact_early(self.revision);
        }
        let is_new = previous.is_none();
        if self.bytes + object.size() > self.bounds.bytes || (is_new && self.objects >= self.bounds.objects) {
            return Err(WriteError::Full);
        }
        self.objects += usize::from(is_new);
        self.bytes += object.size();
        let change = Change { revision, key: Arc::from(key), previous, object, deleted: false };
        self.commit(&change, Some(Arc::clone(&change.object)));
        Ok(change)
    }

    /// Deletes the key if its object has the revision `expected`.
    pub(crate) fn delete(&mut self, key: &str, expected: u64) -> Result<Change, WriteError> {
        let previous = self.expect(key, expected)?.ok_or(WriteError::Conflict)?;
        let revision = self.revision + 1;
        let object = Arc::new(Object::at_revision(previous.value().clone(), revision));
        self.objects -= 1;
        let change = Change { revision, key: Arc::from(key), previous: Some(previous), object, deleted: true };
        self.commit(&change, None);
        Ok(change)
    }

    /// The current object of the key.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<Object>> {
        self.versions.latest(key)
    }

    /// The keys below `prefix`, starting at `from`, as of `revision`.
    pub(crate) fn range<'a>(
        &'a self,
        prefix: &'a str,
        from: &str,
        revision: u64,
    ) -> Result<impl Iterator<Item = Entry> + 'a, ReadError> {
        self.readable(revision)?;
        Ok(self.versions.below(prefix, from, revision))
    }

    /// The changes after `revision` of keys below `prefix`.
    pub(crate) fn changes_since<'a>(
        &'a self,
        prefix: &'a str,
        revision: u64,
    ) -> Result<impl Iterator<Item = &'a Change>, ReadError> {
        // A watch may start at the last compacted revision, but not below it. A watch from a future revision waits.
        if revision < self.compacted {
            return Err(ReadError::Compacted);
        }
        let first = self.changes.partition_point(|change| change.revision <= revision);
        Ok(self.changes.range(first..).filter(move |change| change.key.starts_with(prefix)))
    }

    /// Drops all history below `revision`, or below the current revision if that is lower.
    pub(crate) fn compact(&mut self, revision: u64) {
        let revision = revision.min(self.revision);
        if revision <= self.compacted {
            return;
        }
        self.compacted = revision;
        self.bytes = self.bytes.saturating_sub(self.versions.forget_below(revision));
        let gone = self.changes.partition_point(|change| change.revision <= revision);
        self.changes.drain(..gone);
    }

    fn expect(&self, key: &str, expected: u64) -> Result<Option<Arc<Object>>, WriteError> {
        let present = self.versions.latest(key);
        let revision = present.as_ref().map_or(0, |object| object.revision());
        if revision == expected { Ok(present) } else { Err(WriteError::Conflict) }
    }

    fn commit(&mut self, change: &Change, state: Option<Arc<Object>>) {
        self.revision = change.revision;
        self.versions.record(Arc::clone(&change.key), change.revision, state);
        if self.changes.len() >= self.bounds.changes {
            let middle = self.changes.get(self.changes.len() / 2).map_or(0, |change| change.revision);
            self.compact_early(middle);
        }
        self.changes.push_back(change.clone());
    }

    fn compact_early(&mut self, revision: u64) {
        self.early_compactions += 1;
        self.compact(revision);
    }

    fn readable(&self, revision: u64) -> Result<(), ReadError> {
        if revision > self.revision {
            return Err(ReadError::Future);
        }
        if revision < self.compacted { Err(ReadError::Compacted) } else { Ok(()) }
    }
}
