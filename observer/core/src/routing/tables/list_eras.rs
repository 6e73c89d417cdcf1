//! §1.3: lists while the watch cache is ready.

use super::outcome::{
    CACHE, CACHE_OR_504, CONSISTENT_OR_429, CONSISTENT_OR_504, CONSISTENT_OR_ETCD, ETCD, Outcome, SNAPSHOT, SNAPSHOT_OR_504,
};
use crate::routing::columns::{GateIs, If, KeysAre, MatchIs, SnapshotIs, TokenIs, VersionIs};
use crate::routing::gates::Gate;
use crate::routing::rules::{self, RuleId};
use crate::routing::version::Versions;

/// The rows for a range of versions. Some eras apply only while certain gates are on or off.
#[derive(Debug)]
pub(in crate::routing) struct Era {
    pub(in crate::routing) versions: Versions,
    /// All of these conditions must hold.
    pub(super) gates: &'static [GateIs],
    pub(in crate::routing) rows: &'static [ListRow],
}

/// A row of §1.3: conditions on the request and the server, and the answer if all of them hold.
#[derive(Debug)]
pub(in crate::routing) struct ListRow {
    pub(super) token: TokenIs,
    pub(super) matching: MatchIs,
    pub(super) version: VersionIs,
    pub(super) limit: If,
    pub(super) keys: KeysAre,
    pub(super) snapshot: SnapshotIs,
    /// Whether consistent lists are supported: `ConsistentListFromCache` is on and etcd answers progress requests.
    pub(super) consistent: If,
    pub(super) answer: Outcome,
    pub(in crate::routing) rule: RuleId,
}

/// The first column names the era and the row in §1.3.
macro_rules! list_rows {
    ($($row:literal | $token:ident | $matching:ident | $version:ident | $limit:ident | $keys:ident | $snapshot:ident | $consistent:ident
        => $answer:ident, $rule:ident;)*) => {
        &[$(ListRow {
            token: TokenIs::$token,
            matching: MatchIs::$matching,
            version: VersionIs::$version,
            limit: If::$limit,
            keys: KeysAre::$keys,
            snapshot: SnapshotIs::$snapshot,
            consistent: If::$consistent,
            answer: $answer,
            rule: rules::$rule,
        }),*]
    };
}

const CONSISTENT: GateIs = GateIs::On(Gate::ConsistentListFromCache);
const NO_FALLBACK: GateIs = GateIs::On(Gate::ConsistentListFromCacheSkipTimeoutFallback);
const SNAPSHOTS: GateIs = GateIs::On(Gate::ListFromCacheSnapshot);
const NO_SNAPSHOTS: GateIs = GateIs::Off(Gate::ListFromCacheSnapshot);

/// Tested in this order. If no row of an era matches, the next era is tried.
pub(in crate::routing) const LIST_ERAS: &[Era] = &[
    Era { versions: Versions::minors(16, 18), gates: &[], rows: ERA_A },
    Era { versions: Versions::minors(28, 29), gates: &[CONSISTENT], rows: ERA_C_PRIME_BUG },
    Era { versions: Versions::minors(28, 30), gates: &[CONSISTENT], rows: ERA_C_PRIME },
    Era { versions: Versions::minors(19, 30), gates: &[], rows: ERA_B_AND_C },
    Era { versions: Versions::since(37), gates: &[NO_FALLBACK], rows: ERA_G },
    Era { versions: Versions::since(37), gates: &[NO_FALLBACK, SNAPSHOTS], rows: ERA_G_SNAPSHOTS },
    Era { versions: Versions::since(33), gates: &[SNAPSHOTS], rows: ERA_F },
    Era { versions: Versions::patches(33, 0, 2), gates: &[NO_SNAPSHOTS], rows: ERA_E },
    Era { versions: Versions::since(31), gates: &[], rows: ERA_D },
];

/// 1.16 to 1.18, without resourceVersionMatch. Row 2 comes before row 1, so that a list with a continue token has a rule of its
/// own.
const ERA_A: &[ListRow] = list_rows! {
    //     continue | match | version | limit | keys | snapshot | consistent
    "A 2" | Set      | Any   | Any     | Any   | Any  | Any      | Any => ETCD,         LIST_CONTINUE_ETCD;
    "A 1" | Absent   | Any   | Unset   | Any   | Any  | Any      | Any => ETCD,         LIST_UNSET_ETCD;
    "A 3" | Absent   | Any   | N       | Yes   | Any  | Any      | Any => ETCD,         LIST_LEGACY_EXACT_ETCD;
    "A 4" | Absent   | Any   | Zero    | Any   | Any  | Any      | Any => CACHE,        LIST_RV0;
    "A 5" | Absent   | Any   | N       | No    | Any  | Any      | Any => CACHE_OR_504, LIST_RV;
};

/// 1.19 to 1.26, and 1.27 to 1.30 with default gates. Row 2 precedes row 1, as above.
const ERA_B_AND_C: &[ListRow] = list_rows! {
    //     continue | match    | version | limit | keys | snapshot | consistent
    "B 2" | Set      | Any      | Any     | Any   | Any  | Any      | Any => ETCD,         LIST_CONTINUE_ETCD;
    "B 1" | Absent   | Any      | Unset   | Any   | Any  | Any      | Any => ETCD,         LIST_UNSET_ETCD;
    "B 3" | Absent   | Exact    | N       | Any   | Any  | Any      | Any => ETCD,         LIST_EXACT_ETCD;
    "B 4" | Absent   | Unset    | N       | Yes   | Any  | Any      | Any => ETCD,         LIST_LEGACY_EXACT_ETCD;
    "B 4" | Absent   | NotOlder | N       | Yes   | Any  | Any      | Any => ETCD,         LIST_NOT_OLDER_THAN_LIMIT_ETCD;
    "B 5" | Absent   | NotExact | Zero    | Any   | Any  | Any      | Any => CACHE,        LIST_RV0;
    "B 6" | Absent   | Unset    | N       | No    | Any  | Any      | Any => CACHE_OR_504, LIST_RV;
    "B 6" | Absent   | NotOlder | N       | No    | Any  | Any      | Any => CACHE_OR_504, LIST_NOT_OLDER_THAN;
};

/// 1.28 and 1.29 with `ConsistentListFromCache`: a list with `resourceVersion=0` is a consistent read, too, with any limit.
const ERA_C_PRIME_BUG: &[ListRow] = list_rows! {
    //      continue | match | version | limit | keys | snapshot | consistent
    "C′ 2" | Absent   | Any   | Zero    | Any   | Any  | Any      | Any => CONSISTENT_OR_504, LIST_RV0_CONSISTENT_BUG;
};

/// 1.28 to 1.30 with `ConsistentListFromCache`. These versions do not check whether etcd answers progress requests. Rows C′ 3 and
/// C′ 4 of docs/semantics.md are not in this table: they are the same as in era C.
const ERA_C_PRIME: &[ListRow] = list_rows! {
    //      continue | match | version | limit | keys | snapshot | consistent
    "C′ 1" | Absent   | Any   | Unset   | No    | Any  | Any      | Any => CONSISTENT_OR_504, LIST_UNSET_CONSISTENT_ALPHA;
};

/// 1.31 and 1.32, and later with `ListFromCacheSnapshot` off. Row 4 is part of `validation`.
const ERA_D: &[ListRow] = list_rows! {
    //     continue | match    | version | limit | keys | snapshot | consistent
    "D 1" | Set      | Any      | Any     | Any   | Any  | Any      | Any => ETCD,               LIST_CONTINUE_ETCD;
    "D 2" | Absent   | Exact    | N       | Any   | Any  | Any      | Any => ETCD,               LIST_EXACT_ETCD;
    "D 3" | Absent   | Unset    | N       | Yes   | Any  | Any      | Any => ETCD,               LIST_LEGACY_EXACT_ETCD;
    "D 5" | Absent   | Unset    | Unset   | Any   | Any  | Any      | Yes => CONSISTENT_OR_ETCD, LIST_UNSET_CONSISTENT;
    "D 5" | Absent   | Unset    | Unset   | Any   | Any  | Any      | No  => ETCD,               LIST_UNSET_NO_PROGRESS;
    "D 6" | Absent   | NotExact | Zero    | Any   | Any  | Any      | Any => CACHE,              LIST_RV0;
    "D 7" | Absent   | Unset    | N       | No    | Any  | Any      | Any => CACHE_OR_504,       LIST_RV;
    "D 8" | Absent   | NotOlder | N       | Any   | Any  | Any      | Any => CACHE_OR_504,       LIST_NOT_OLDER_THAN;
};

/// 1.33.0 to 1.33.2 with `ListFromCacheSnapshot` off, tested before row 5 of era D. Because of a bug, a list with a limit is read
/// from etcd. The cache still answers a list of one key (`cacher.go` `listItems`, v0.33.0).
const ERA_E: &[ListRow] = list_rows! {
    //       continue | match | version | limit | keys | snapshot | consistent
    "E .0–.2" | Absent | Unset | Unset   | Yes   | Many | Any      | Yes => ETCD, LIST_UNSET_LIMIT_BUG;
};

/// 1.33 and later with `ListFromCacheSnapshot` on, which is the default since 1.34. The rules of 1.37 come from a beta.
const ERA_F: &[ListRow] = list_rows! {
    //      continue | match         | version | limit | keys | snapshot | consistent
    "F 1"  | Absent   | ExactOrLegacy | N       | Any   | One  | Any      | Any => ETCD,               LIST_EXACT_ONE_KEY_ETCD;
    "F 2"  | Absent   | ExactOrLegacy | N       | Any   | Many | Ahead    | Yes => SNAPSHOT_OR_504,    LIST_EXACT_AHEAD;
    "F 2"  | Absent   | ExactOrLegacy | N       | Any   | Many | Ahead    | No  => ETCD,               LIST_EXACT_AHEAD_ETCD;
    "F 3"  | Absent   | ExactOrLegacy | N       | Any   | Many | Held     | Any => SNAPSHOT,           LIST_EXACT_SNAPSHOT;
    "F 4"  | Absent   | ExactOrLegacy | N       | Any   | Many | Gone     | Any => ETCD,               LIST_EXACT_OLD_ETCD;
    "F 5"  | Positive | Any           | Any     | Any   | Any  | Ahead    | Yes => SNAPSHOT_OR_504,    LIST_CONTINUE_AHEAD;
    "F 5"  | Positive | Any           | Any     | Any   | Any  | Ahead    | No  => ETCD,               LIST_CONTINUE_AHEAD_ETCD;
    "F 5"  | Positive | Any           | Any     | Any   | Any  | Held     | Any => SNAPSHOT,           LIST_CONTINUE_SNAPSHOT;
    "F 5"  | Positive | Any           | Any     | Any   | Any  | Gone     | Any => ETCD,               LIST_CONTINUE_OLD_ETCD;
    "F 6"  | Negative | Any           | Any     | Any   | Any  | Any      | Yes => CONSISTENT_OR_ETCD, LIST_CONTINUE_LATEST;
    "F 6"  | Negative | Any           | Any     | Any   | Any  | Any      | No  => ETCD,               LIST_CONTINUE_LATEST_ETCD;
    "F 7"  | Absent   | Unset         | Unset   | Any   | Any  | Any      | Yes => CONSISTENT_OR_ETCD, LIST_UNSET_CONSISTENT;
    "F 7"  | Absent   | Unset         | Unset   | Any   | Any  | Any      | No  => ETCD,               LIST_UNSET_NO_PROGRESS;
    "F 8"  | Absent   | NotExact      | Zero    | Any   | Any  | Any      | Any => CACHE,              LIST_RV0;
    "F 9"  | Absent   | Unset         | N       | No    | Any  | Any      | Any => CACHE_OR_504,       LIST_RV;
    "F 10" | Absent   | NotOlder      | N       | Any   | Any  | Any      | Any => CACHE_OR_504,       LIST_NOT_OLDER_THAN;
};

/// 1.37 with `ConsistentListFromCacheSkipTimeoutFallback`. The row comes before row 7 of era F, or before row 5 of era D if
/// `ListFromCacheSnapshot` is off.
const ERA_G: &[ListRow] = list_rows! {
    //      continue | match | version | limit | keys | snapshot | consistent
    "G 7"  | Absent   | Unset | Unset   | Any   | Any  | Any      | Yes => CONSISTENT_OR_429, LIST_UNSET_CONSISTENT_NO_FALLBACK;
};

/// 1.37 with `ConsistentListFromCacheSkipTimeoutFallback` and `ListFromCacheSnapshot`.
const ERA_G_SNAPSHOTS: &[ListRow] = list_rows! {
    //      continue | match | version | limit | keys | snapshot | consistent
    "G 6"  | Negative | Any   | Any     | Any   | Any  | Any      | Yes => CONSISTENT_OR_429, LIST_CONTINUE_LATEST_NO_FALLBACK;
};
