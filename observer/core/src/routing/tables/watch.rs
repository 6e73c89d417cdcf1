//! §2.2 and §2.3: watches.

use super::not_ready::{WATCH_NOT_READY, instead_of};
use super::outcome::{CACHE, CACHE_OR_EVENT_504, CONSISTENT, CONSISTENT_OR_EVENT_504, Decision, ETCD, Outcome, REFUSED_500};
use crate::routing::columns::{GateIs, If, InitialIs, VersionIs};
use crate::routing::facts::Facts;
use crate::routing::gates::Gate;
use crate::routing::rules::{self, RuleId};
use crate::routing::version::Versions;

#[derive(Debug)]
pub(super) struct WatchRow {
    pub(super) versions: Versions,
    initial: InitialIs,
    version: VersionIs,
    bookmarks: If,
    progress: If,
    gate: GateIs,
    answer: Outcome,
    rule: RuleId,
}

macro_rules! watch_rows {
    ($($versions:ident | $initial:ident | $version:ident | $bookmarks:ident | $progress:ident | $gate:ident => $answer:ident, $rule:ident;)*) => {
        &[$(WatchRow {
            versions: $versions,
            initial: InitialIs::$initial,
            version: VersionIs::$version,
            bookmarks: If::$bookmarks,
            progress: If::$progress,
            gate: $gate,
            answer: $answer,
            rule: rules::$rule,
        }),*]
    };
}

const ALL: Versions = Versions::ALL;
const V27_TO_29: Versions = Versions::minors(27, 29);
const V31_ON: Versions = Versions::since(31);
const V27_0_TO_12: Versions = Versions::patches(27, 0, 12);
const V28_0_TO_8: Versions = Versions::patches(28, 0, 8);
const V29_0_TO_3: Versions = Versions::patches(29, 0, 3);
const ANY: GateIs = GateIs::Any;
const FROM_STORAGE: GateIs = GateIs::On(Gate::WatchFromStorageWithoutResourceVersion);

/// `sendInitialEvents` counts only from 1.27 on, and validation refuses it unless `WatchList` is on.
pub(super) const WATCHES: &[WatchRow] = watch_rows! {
    // versions  | initial events  | version | bookmarks | progress | gate
    V31_ON       | TrueOrRewritten | Any     | Yes       | No       | ANY          => REFUSED_500,             WATCH_LIST_NO_PROGRESS;
    V27_TO_29    | TrueOrRewritten | Unset   | No        | Any      | ANY          => CACHE,                   WATCH_LIST_UNSET_UNMARKED;
    ALL          | True            | Unset   | Any       | Any      | ANY          => CONSISTENT_OR_EVENT_504, WATCH_LIST_UNSET;
    ALL          | True            | Zero    | Any       | Any      | ANY          => CACHE,                   WATCH_LIST_RV0;
    ALL          | True            | N       | Any       | Any      | ANY          => CACHE_OR_EVENT_504,      WATCH_LIST_RV;
    ALL          | False           | Unset   | Any       | Any      | ANY          => CONSISTENT,              WATCH_NO_INITIAL_UNSET;
    ALL          | False           | Zero    | Any       | Any      | ANY          => CACHE,                   WATCH_NO_INITIAL_RV0;
    ALL          | False           | N       | Any       | Any      | ANY          => CACHE,                   WATCH_NO_INITIAL_RV;
    ALL          | Rewritten       | Unset   | Any       | Any      | ANY          => CONSISTENT_OR_EVENT_504, WATCH_UNSET_CONSISTENT;
    ALL          | Rewritten       | Zero    | Any       | Any      | ANY          => CACHE,                   WATCH_RV0_REWRITTEN;
    V27_0_TO_12  | Unset           | Unset   | Any       | Any      | ANY          => ETCD,                    WATCH_UNSET_ETCD_BUG;
    V28_0_TO_8   | Unset           | Unset   | Any       | Any      | ANY          => ETCD,                    WATCH_UNSET_ETCD_BUG;
    V29_0_TO_3   | Unset           | Unset   | Any       | Any      | ANY          => ETCD,                    WATCH_UNSET_ETCD_BUG;
    ALL          | Unset           | Unset   | Any       | Any      | FROM_STORAGE => ETCD,                    WATCH_UNSET_ETCD_GATE;
    ALL          | Unset           | Unset   | Any       | Any      | ANY          => CACHE,                   WATCH_UNSET_CACHE;
    ALL          | Unset           | Zero    | Any       | Any      | ANY          => CACHE,                   WATCH_RV0;
    ALL          | Unset           | N       | Any       | Any      | ANY          => CACHE,                   WATCH_RV;
};

/// Which layer answers a watch that passed validation; `None` when no row covers it.
pub(in crate::routing) fn decide_watch(facts: &Facts<'_>) -> Option<Decision> {
    let row = WATCHES.iter().find(|row| row.admits(facts))?;
    let ready = row.answer.by(row.rule);
    if facts.ready { Some(ready) } else { instead_of(ready, facts, WATCH_NOT_READY) }
}

impl WatchRow {
    fn admits(&self, facts: &Facts<'_>) -> bool {
        self.versions.contains(facts.release)
            && self.initial.admits(facts.initial)
            && self.version.admits(facts.version)
            && self.bookmarks.admits(facts.bookmarks)
            && self.progress.admits(facts.progress)
            && facts.gate(self.gate)
    }
}
