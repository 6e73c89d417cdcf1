//! Proofs in what an API server or its etcd logged about a request.

use serde::{Deserialize, Serialize};

use super::finding::Finding;
use super::proof::{CACHE_LIST_TRACED, ETCD_LIST_TRACED, ETCD_READ_LOGGED, ETCD_TIME_LOGGED, NO_ETCD_TIME_LOGGED, Proof, proof};
use crate::routing::Layer;

/// The way in which the API server answered a read, as a log shows it: the weakest evidence first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordedRead {
    /// A request that took more than half a second has a time in etcd in its audit event.
    EtcdTime,
    /// A request that took more than half a second has no time in etcd in its audit event.
    NoEtcdTime,
    /// A trace of the request has a complete list in the watch cache, and none in etcd.
    CacheList,
    /// etcd logged a read of the keys and values of the list, within the time of the request.
    EtcdRead,
    /// A trace of the request has a span of a list in etcd.
    EtcdList,
}

impl RecordedRead {
    /// The entry of the catalogue, with its sentence and its source.
    pub fn proof(self) -> Option<&'static Proof> {
        proof(finding(self).proof.as_str())
    }
}

const NOT_FROM_ETCD: &[Layer] = &[Layer::Cache, Layer::CacheConsistent, Layer::Snapshot];

pub(super) const fn finding(recorded: RecordedRead) -> Finding {
    match recorded {
        // A consistent list from the watch cache reads etcd's current revision.
        RecordedRead::EtcdTime => Finding::layers(ETCD_TIME_LOGGED, &[Layer::CacheConsistent, Layer::Etcd]),
        RecordedRead::NoEtcdTime => Finding::layers(NO_ETCD_TIME_LOGGED, NOT_FROM_ETCD),
        RecordedRead::EtcdList => Finding::layers(ETCD_LIST_TRACED, &[Layer::Etcd]),
        RecordedRead::CacheList => Finding::layers(CACHE_LIST_TRACED, NOT_FROM_ETCD),
        RecordedRead::EtcdRead => Finding::layers(ETCD_READ_LOGGED, &[Layer::Etcd]),
    }
}
