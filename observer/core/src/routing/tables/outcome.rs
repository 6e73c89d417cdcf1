//! The answer of a row: the layer that serves the request, and the second outcome.

use crate::routing::rules::RuleId;
use crate::routing::served_from::{Fallback, Otherwise, ServedFrom};

/// The expected outcome, and the second outcome where docs/semantics.md states one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) served_from: ServedFrom,
    pub(super) otherwise: Option<Otherwise>,
}

/// An answer and the rule of its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::routing) struct Decision {
    pub(in crate::routing) served_from: ServedFrom,
    pub(in crate::routing) otherwise: Option<Otherwise>,
    pub(in crate::routing) rule: RuleId,
}

impl Outcome {
    pub(super) fn by(&self, rule: RuleId) -> Decision {
        Decision { served_from: self.served_from.clone(), otherwise: self.otherwise, rule }
    }
}

pub(super) const ETCD: Outcome = only(ServedFrom::Etcd);
pub(super) const ETCD_OR_EVENT_504: Outcome = Outcome {
    served_from: ServedFrom::Etcd,
    otherwise: Some(Otherwise { when: "etcd has not reached the revision", then: Fallback::ErrorEvent { code: 504 } }),
};
pub(super) const CACHE: Outcome = only(ServedFrom::Cache);
pub(super) const CACHE_OR_504: Outcome = late(ServedFrom::Cache, Fallback::Rejected { status: 504 });
pub(super) const CACHE_OR_EVENT_504: Outcome = late(ServedFrom::Cache, Fallback::ErrorEvent { code: 504 });
pub(super) const CONSISTENT: Outcome = only(ServedFrom::CacheConsistent);
pub(super) const CONSISTENT_OR_ETCD: Outcome = late(ServedFrom::CacheConsistent, Fallback::Etcd);
pub(super) const CONSISTENT_OR_429: Outcome = late(ServedFrom::CacheConsistent, Fallback::Rejected { status: 429 });
pub(super) const CONSISTENT_OR_504: Outcome = late(ServedFrom::CacheConsistent, Fallback::Rejected { status: 504 });
pub(super) const CONSISTENT_OR_EVENT_504: Outcome = late(ServedFrom::CacheConsistent, Fallback::ErrorEvent { code: 504 });
pub(super) const SNAPSHOT: Outcome = only(ServedFrom::Snapshot);
pub(super) const SNAPSHOT_OR_504: Outcome = late(ServedFrom::Snapshot, Fallback::Rejected { status: 504 });
pub(super) const REFUSED_400: Outcome = only(ServedFrom::Rejected { status: 400, etcd_touched: false });
/// The etcd layer reads the object before it parses the options.
pub(super) const REFUSED_400_LATE: Outcome = only(ServedFrom::Rejected { status: 400, etcd_touched: true });
pub(super) const REFUSED_422: Outcome = only(ServedFrom::Rejected { status: 422, etcd_touched: false });
pub(super) const REFUSED_429: Outcome = only(ServedFrom::Rejected { status: 429, etcd_touched: false });
pub(super) const REFUSED_429_LATE: Outcome = only(ServedFrom::Rejected { status: 429, etcd_touched: true });
pub(super) const REFUSED_500: Outcome = only(ServedFrom::Rejected { status: 500, etcd_touched: false });

const fn only(served_from: ServedFrom) -> Outcome {
    Outcome { served_from, otherwise: None }
}

/// The answer of a watch cache that may have to catch up first. All versions wait for 3 s (kubernetes/apiserver
/// `pkg/storage/cacher/watch_cache.go` `blockTimeout`).
const fn late(served_from: ServedFrom, then: Fallback) -> Outcome {
    Outcome { served_from, otherwise: Some(Otherwise { when: "the watch cache lags more than 3 s", then }) }
}
