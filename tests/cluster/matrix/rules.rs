//! Applies the rules to a request with the known state of the server, which a proxy cannot always see.

use observer_core::k8s::{ListOptions, RequestInfo};
use observer_core::routing::{CacheState, Fallback, Question, ServedFrom, ServerProfile, Verdict, route};
use observer_core::time::Timestamp;

use super::measured::Measured;

/// The verdict on a request without history.
pub(super) fn verdict(profile: &ServerProfile, cache: CacheState, method: &str, path_and_query: &str) -> Verdict {
    let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
    let options = ListOptions::parse(query);
    let info = RequestInfo::parse(method, path, &options, "");
    let now = Timestamp::from_nanos(1);
    route(&Question { info: &info, options: &options, profile, cache, history: None, now }).unwrap()
}

/// Whether a verdict equals the measurement, or names it as the alternative.
pub(super) fn covers(verdict: &Verdict, measured: Measured) -> bool {
    let second = verdict.otherwise.is_some_and(|otherwise| is_second(otherwise.then, measured));
    is_first(&verdict.served_from, measured) || second
}

/// Whether the measurement is the predicted layer.
pub(super) fn is_first(served_from: &ServedFrom, measured: Measured) -> bool {
    match (served_from, measured) {
        (ServedFrom::Cache, Measured::Cache)
        | (ServedFrom::CacheConsistent, Measured::CacheConsistent)
        | (ServedFrom::Snapshot, Measured::Snapshot)
        | (ServedFrom::Etcd, Measured::Etcd)
        | (ServedFrom::Proxied, Measured::Proxied) => true,
        (
            ServedFrom::Rejected { status, etcd_touched },
            Measured::Refused { status: said, etcd_touched: touched } | Measured::ErrorEvent { code: said, etcd_touched: touched },
        ) => (*status, *etcd_touched) == (said, touched),
        _ => false,
    }
}

/// Whether the measurement is this alternative of a verdict.
pub(super) fn is_second(then: Fallback, measured: Measured) -> bool {
    match (then, measured) {
        (Fallback::Etcd, Measured::Etcd) => true,
        (Fallback::Rejected { status }, Measured::Refused { status: said, .. }) => status == said,
        (Fallback::ErrorEvent { code }, Measured::ErrorEvent { code: said, .. }) => code == said,
        _ => false,
    }
}
