//! An in-memory store in place of etcd: one revision for all keys, the history of each key, and compaction.

mod object;
mod revisions;
#[cfg(test)]
mod tests;
mod versions;

pub(crate) use object::Object;
pub(crate) use revisions::{Bounds, Change, ReadError, Store, WriteError};
pub(crate) use versions::{Entry, Versions};
