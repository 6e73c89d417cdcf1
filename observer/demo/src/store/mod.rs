//! An in-memory store that keeps versions: one revision for all keys, histories, compaction. It takes the place of etcd.

mod object;
mod revisions;
#[cfg(test)]
mod tests;
mod versions;

pub(crate) use object::Object;
pub(crate) use revisions::{Bounds, Change, ReadError, Store, WriteError};
pub(crate) use versions::{Entry, Versions};
