//! The load that requests put on etcd. It is measured in objects and bytes, since a list from etcd that returns one event costs
//! almost nothing.

use std::time::Duration;

use serde::Serialize;

use crate::exchange::Exchange;
use crate::k8s::Verb;
use crate::quantity::Amount;
use crate::routing::ServedFrom;
use crate::thresholds::{HEAVY_BYTES, HEAVY_OBJECTS, HEAVY_PER_SECOND};

/// Reads from etcd by finished requests and by open watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EtcdReads {
    /// Objects that lists from etcd delivered. A selector is applied after reading, so etcd may have read more.
    pub objects: Amount,
    /// Bytes of these lists' response bodies.
    pub bytes: Amount,
    /// Lists that were [heavy](EtcdLoad::Heavy) on their own.
    pub bulk_lists: u64,
    /// Gets that etcd answered, including those of missing objects.
    pub gets: u64,
    /// Bytes of these gets' response bodies.
    pub get_bytes: Amount,
    /// Watches that etcd answered, finished or open.
    pub watches: u64,
}

/// The load that lists put on etcd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EtcdLoad {
    /// No list was read from etcd.
    None,
    /// Some lists were read from etcd, but the load is not heavy.
    Light,
    /// One list from etcd delivered at least 500 objects or 1 MB. Or all lists from etcd delivered at least 500 objects, and at
    /// least 100 objects per second.
    Heavy,
}

impl EtcdReads {
    /// Adds a finished list, get or watch, if etcd answered it.
    pub(super) fn add(&mut self, exchange: &Exchange) {
        if !is_from_etcd(exchange) {
            return;
        }
        let bytes = exchange.response_bytes;
        match exchange.verb() {
            Some(Verb::List) => {
                self.objects = self.objects.saturating_add(exchange.amount(exchange.items));
                self.bytes = self.bytes.saturating_add(exchange.amount(bytes));
                let is_bulk = exchange.items >= HEAVY_OBJECTS || bytes >= HEAVY_BYTES;
                self.bulk_lists = self.bulk_lists.saturating_add(u64::from(is_bulk));
            }
            Some(Verb::Get) => {
                self.gets = self.gets.saturating_add(1);
                self.get_bytes = self.get_bytes.saturating_add(exchange.amount(bytes));
            }
            Some(Verb::Watch) => self.watches = self.watches.saturating_add(1),
            Some(Verb::Create | Verb::Update | Verb::Patch | Verb::Delete | Verb::DeleteCollection | Verb::Proxy | Verb::Other)
            | None => {}
        }
    }

    /// These reads, plus the watches among `open` that etcd answers.
    #[must_use]
    pub(super) fn with_open<'e>(self, open: impl Iterator<Item = &'e Exchange>) -> Self {
        let open = open.filter(|exchange| exchange.verb() == Some(Verb::Watch) && is_from_etcd(exchange)).count() as u64;
        Self { watches: self.watches.saturating_add(open), ..self }
    }

    /// The load on etcd, in a run that `lasted` this long and had this many `lists` from etcd.
    pub(super) fn load(&self, lists: u64, lasted: Duration) -> EtcdLoad {
        let objects = self.objects.or_zero();
        let is_often = objects >= HEAVY_OBJECTS && objects / lasted.as_secs().max(1) >= HEAVY_PER_SECOND;
        match (lists, self.bulk_lists > 0 || is_often) {
            (_, true) => EtcdLoad::Heavy,
            (0, false) => EtcdLoad::None,
            (1.., false) => EtcdLoad::Light,
        }
    }
}

/// Whether etcd answered `exchange`.
fn is_from_etcd(exchange: &Exchange) -> bool {
    let is_etcd = exchange.verdict.as_ref().is_some_and(|verdict| verdict.served_from == ServedFrom::Etcd);
    exchange.response.is_some() && is_etcd
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn etcd_load_depends_on_object_rate_and_bulk_lists() {
        let reads = |objects: u64, bulk_lists| EtcdReads { objects: objects.into(), bulk_lists, ..EtcdReads::default() };
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
