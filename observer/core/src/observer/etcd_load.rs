//! How much was read from etcd, and when that is much. What weighs are objects and bytes: a list of one event is a list from etcd, too, and costs
//! next to nothing.

use std::time::Duration;

use serde::Serialize;

use crate::exchange::Exchange;
use crate::k8s::Verb;
use crate::routing::ServedFrom;

/// Objects of one list from etcd that are much.
///
/// Five hundred: a page of client-go's, so that who lists a small resource, or watches events, is left alone.
pub(super) const BULK_OBJECTS: u64 = 500;
/// Bytes of one list from etcd that are much: one megabyte, two thirds of the largest object that etcd takes.
const BULK_BYTES: u64 = 1_000_000;
/// Objects a second, over the run, that lists read from etcd until that is much, however small each is.
const OBJECTS_PER_SECOND: u64 = 100;

/// What was read from etcd, by requests that are finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EtcdReads {
    /// Objects of lists that were read from etcd, as far as they were delivered: a selector is applied after reading.
    pub objects: u64,
    /// Bytes of their answers.
    pub bytes: u64,
    /// Lists that delivered [much](EtcdLoad::Heavy) each.
    pub bulk_lists: u64,
    /// Gets that were read from etcd, those of objects that are not there included.
    pub gets: u64,
    /// Bytes of their answers.
    pub get_bytes: u64,
}

/// How heavy that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EtcdLoad {
    /// No list was read from etcd.
    None,
    /// Some were, of little.
    Light,
    /// A list delivered 500 objects or a megabyte from etcd, or all lists together 100 objects a second.
    Heavy,
}

impl EtcdReads {
    /// Adds a finished list or get that etcd answered.
    pub(super) fn add(&mut self, exchange: &Exchange) {
        if exchange.response.is_none() || exchange.verdict.as_ref().is_none_or(|verdict| verdict.served_from != ServedFrom::Etcd) {
            return;
        }
        let bytes = exchange.response_bytes;
        match exchange.verb() {
            Some(Verb::List) => {
                self.objects = self.objects.saturating_add(exchange.items);
                self.bytes = self.bytes.saturating_add(bytes);
                let is_bulk = exchange.items >= BULK_OBJECTS || bytes >= BULK_BYTES;
                self.bulk_lists = self.bulk_lists.saturating_add(u64::from(is_bulk));
            }
            Some(Verb::Get) => {
                self.gets = self.gets.saturating_add(1);
                self.get_bytes = self.get_bytes.saturating_add(bytes);
            }
            Some(
                Verb::Watch
                | Verb::Create
                | Verb::Update
                | Verb::Patch
                | Verb::Delete
                | Verb::DeleteCollection
                | Verb::Proxy
                | Verb::Other,
            )
            | None => {}
        }
    }

    /// How heavy they are, of a run that `lasted` so long, with so many `lists` from etcd.
    pub(super) fn load(&self, lists: u64, lasted: Duration) -> EtcdLoad {
        let is_often = self.objects >= BULK_OBJECTS && self.objects / lasted.as_secs().max(1) >= OBJECTS_PER_SECOND;
        match (lists, self.bulk_lists > 0 || is_often) {
            (_, true) => EtcdLoad::Heavy,
            (0, false) => EtcdLoad::None,
            (1.., false) => EtcdLoad::Light,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_weigh_by_what_they_read() {
        let reads = |objects, bulk_lists| EtcdReads { objects, bulk_lists, ..EtcdReads::default() };
        for (reads, lists, seconds, expected) in [
            (reads(0, 0), 0, 60, EtcdLoad::None),
            (reads(31, 0), 31, 420, EtcdLoad::Light),
            (reads(0, 0), 1, 1, EtcdLoad::Light),
            (reads(45_000, 0), 45_000, 604_800, EtcdLoad::Light),
            (reads(6_000, 0), 6_000, 60, EtcdLoad::Heavy),
            (reads(499, 0), 1, 0, EtcdLoad::Light),
            (reads(500, 1), 1, 604_800, EtcdLoad::Heavy),
        ] {
            assert_eq!(reads.load(lists, Duration::from_secs(seconds)), expected, "{reads:?}");
        }
    }
}
