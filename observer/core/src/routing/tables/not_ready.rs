//! §1.5: answers that replace those of the watch cache while it is not ready.
//!
//! A request that etcd answers in any case is unaffected.

use super::outcome::{Decision, ETCD, Outcome, REFUSED_429, REFUSED_429_LATE};
use crate::routing::columns::{GateIs, If, VersionIs};
use crate::routing::facts::Facts;
use crate::routing::gates::Gate;
use crate::routing::rules::{self, RuleId};
use crate::routing::served_from::{Fallback, Otherwise, ServedFrom};
use crate::routing::version::{Release, Versions};

#[derive(Debug)]
pub(super) struct NotReadyRow {
    pub(super) versions: Versions,
    gate: GateIs,
    version: VersionIs,
    limit: If,
    selective: If,
    /// Whether a ready cache would answer with a consistent list.
    consistent: If,
    instead: Instead,
    rule: RuleId,
}

#[derive(Debug)]
enum Instead {
    /// This answer replaces that of the ready cache.
    Outcome(Outcome),
    /// The request waits, then gets the answer of the ready cache. It is refused with this status if the cache does not become
    /// ready in time.
    Waits(u16),
}

macro_rules! not_ready_rows {
    ($($versions:ident | $gate:ident | $version:ident | $limit:ident | $selective:ident | $consistent:ident => $instead:expr, $rule:ident;)*) => {
        &[$(NotReadyRow {
            versions: $versions,
            gate: $gate,
            version: VersionIs::$version,
            limit: If::$limit,
            selective: If::$selective,
            consistent: If::$consistent,
            instead: $instead,
            rule: rules::$rule,
        }),*]
    };
}

/// A request waits until its deadline, then fails with 504.
const V16_TO_24_12: Versions = Versions { first: Release::OLDEST, last: Release::new(24, 12) };
/// A request that waits fails with 503. The range has all releases in which `ResilientWatchCacheInitialization` can be turned off.
const V24_13_ON: Versions = Versions { first: Release::new(24, 13), last: Release::NEWEST };
const V31_TO_33: Versions = Versions::minors(31, 33);
const V31_ON: Versions = Versions::since(31);
const ANY: GateIs = GateIs::Any;
const RESILIENT: GateIs = GateIs::On(Gate::ResilientWatchCacheInitialization);
const WAITING: GateIs = GateIs::Off(Gate::ResilientWatchCacheInitialization);
const FROM_ETCD: Instead = Instead::Outcome(ETCD);
const REFUSED: Instead = Instead::Outcome(REFUSED_429);
const REFUSED_LATE: Instead = Instead::Outcome(REFUSED_429_LATE);

pub(super) const LIST_NOT_READY: &[NotReadyRow] = not_ready_rows! {
    // versions   | gate      | version  | limit | selector | consistent
    V16_TO_24_12  | ANY       | UnsetOr0 | Any   | Any      | Any => FROM_ETCD,           LIST_NOT_READY_ETCD;
    V16_TO_24_12  | ANY       | N        | Any   | Any      | Any => Instead::Waits(504), LIST_NOT_READY_WAITS;
    V24_13_ON     | WAITING   | UnsetOr0 | Any   | Any      | Any => FROM_ETCD,           LIST_NOT_READY_ETCD;
    V24_13_ON     | WAITING   | N        | Any   | Any      | Any => Instead::Waits(503), LIST_NOT_READY_WAITS;
    V31_ON        | RESILIENT | Any      | Yes   | No       | Any => FROM_ETCD,           LIST_NOT_READY_LIMIT_ETCD;
    V31_TO_33     | RESILIENT | Any      | Any   | Any      | Yes => REFUSED_LATE,        LIST_NOT_READY_REFUSED_LATE;
    V31_ON        | RESILIENT | Any      | Any   | Any      | Any => REFUSED,             LIST_NOT_READY_REFUSED;
};

pub(super) const GET_NOT_READY: &[NotReadyRow] = not_ready_rows! {
    // versions   | gate      | version  | limit | selector | consistent
    V16_TO_24_12  | ANY       | Zero     | Any   | Any      | Any => FROM_ETCD,           GET_NOT_READY_ETCD;
    V16_TO_24_12  | ANY       | N        | Any   | Any      | Any => Instead::Waits(504), GET_NOT_READY_WAITS;
    V24_13_ON     | WAITING   | Zero     | Any   | Any      | Any => FROM_ETCD,           GET_NOT_READY_ETCD;
    V24_13_ON     | WAITING   | N        | Any   | Any      | Any => Instead::Waits(503), GET_NOT_READY_WAITS;
    V31_ON        | RESILIENT | Any      | Any   | Any      | Any => FROM_ETCD,           GET_NOT_READY_ETCD;
};

pub(super) const WATCH_NOT_READY: &[NotReadyRow] = not_ready_rows! {
    // versions   | gate      | version  | limit | selector | consistent
    V16_TO_24_12  | ANY       | Any      | Any   | Any      | Any => Instead::Waits(504), WATCH_NOT_READY_WAITS;
    V24_13_ON     | WAITING   | Any      | Any   | Any      | Any => Instead::Waits(503), WATCH_NOT_READY_WAITS;
    V31_ON        | RESILIENT | Any      | Any   | Any      | Any => REFUSED,             WATCH_NOT_READY_REFUSED;
};

/// The answer that replaces `ready`. If `ready` comes from etcd, it remains the answer. `None` when no row covers the request.
pub(super) fn instead_of(ready: Decision, facts: &Facts<'_>, rows: &[NotReadyRow]) -> Option<Decision> {
    if ready.served_from == ServedFrom::Etcd {
        return Some(ready);
    }
    let is_consistent = ready.served_from == ServedFrom::CacheConsistent;
    let row = rows.iter().find(|row| row.admits(facts, is_consistent))?;
    Some(match &row.instead {
        Instead::Outcome(answer) => answer.by(row.rule),
        Instead::Waits(status) => Decision {
            served_from: ready.served_from,
            otherwise: Some(Otherwise {
                when: "the watch cache is not ready in time",
                then: Fallback::Rejected { status: *status },
            }),
            rule: row.rule,
        },
    })
}

impl NotReadyRow {
    fn admits(&self, facts: &Facts<'_>, is_consistent: bool) -> bool {
        self.versions.contains(facts.release)
            && facts.gate(self.gate)
            && self.version.admits(facts.version)
            && self.limit.admits(facts.limit)
            && self.selective.admits(facts.selective)
            && self.consistent.admits(is_consistent)
    }
}
