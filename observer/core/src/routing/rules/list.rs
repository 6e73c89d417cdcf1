//! Rules for lists, and for the list inside a deletecollection.

use super::rule::{ReadsOf, Rule, RuleId, rules};

const CACHER_16_30: &str = "kubernetes/apiserver pkg/storage/cacher/cacher.go shouldDelegateList, v0.16 to v0.30";
const CACHER_16_37: &str = "kubernetes/apiserver pkg/storage/cacher/cacher.go List, then shouldDelegateList, v0.16 to v0.32; delegator/interface.go, v0.33 and later";
const CACHER_28_30: &str = "kubernetes/apiserver pkg/storage/cacher/cacher.go GetList, v0.28 to v0.30";
const CACHER_31: &str =
    "kubernetes/apiserver pkg/storage/cacher/cacher.go GetList, v0.31 and v0.32; delegator.go GetList, v0.33 to v0.37.0-beta.0";
const CACHER_ALL: &str =
    "kubernetes/apiserver pkg/storage/cacher/cacher.go GetList, v0.16 to v0.32; delegator.go, v0.33 to v0.37.0-beta.0";
const SNAPSHOTS: &str =
    "kubernetes/apiserver pkg/storage/cacher/cacher.go ShouldDelegateExactRV and ShouldDelegateContinue, v0.33 to v0.37.0-beta.0";
const NOT_READY: &str = "kubernetes/apiserver pkg/storage/cacher/cacher.go and delegator.go GetList, v0.16 to v0.37.0-beta.0";

rules! {
    LIST_UNSET_ETCD = "list-unset-etcd", "§1.3 A 1, B 1, C 1", CACHER_16_30, Objects,
        "no resourceVersion: a quorum read from etcd, before 1.31 or without ConsistentListFromCache";
    LIST_UNSET_CONSISTENT = "list-unset-consistent", "§1.3 D 5, F 7, §1.7", CACHER_31, CurrentRevision,
        "no resourceVersion: the watch cache answers once it has reached etcd's current revision. This needs Kubernetes 1.31 or later, and an etcd that answers progress requests (3.4.31 or later in 3.4, otherwise 3.5.13 or later)";
    LIST_UNSET_CONSISTENT_NO_FALLBACK = "list-unset-consistent-no-fallback", "§1.3 G, §1.6", CACHER_31, CurrentRevision,
        "no resourceVersion: like list-unset-consistent, but if the cache is still behind after 3 s, 429 instead of an etcd read (alpha gate of 1.37)";
    LIST_UNSET_CONSISTENT_ALPHA = "list-unset-consistent-alpha", "§1.3 C′ 1", CACHER_28_30, CurrentRevision,
        "no resourceVersion, ConsistentListFromCache on: the watch cache answers once it has reached etcd's current revision; before 1.31 without a fallback, and for every etcd version";
    LIST_UNSET_NO_PROGRESS = "list-unset-no-progress", "§1.3 D 5, F 7, §1.8", CACHER_31, Objects,
        "no resourceVersion: a quorum read from etcd, because ConsistentListFromCache is off, or etcd does not answer progress requests (etcd 3.4.31 or later in 3.4, otherwise 3.5.13 or later, answers them)";
    LIST_UNSET_LIMIT_BUG = "list-unset-limit-etcd-bug", "§0.3, §1.3 E",
        "kubernetes/apiserver pkg/storage/cacher/delegator.go GetList, v0.33.0 to v0.33.2; fixed in v0.33.3", CurrentRevisionThenObjects,
        "no resourceVersion, with a limit: because of a bug in 1.33.0 to 1.33.2, the API server gets the current revision, then reads the list from etcd at exactly that revision; only a list of one object by name and namespace still comes from the watch cache";
    LIST_RV0 = "list-rv0", "§1.3 A 4, B 5, D 6, F 8", CACHER_ALL, Nothing,
        "resourceVersion=0: the watch cache returns its present state, which may be stale; a limit is ignored";
    LIST_RV0_CONSISTENT_BUG = "list-rv0-consistent-bug", "§0.3, §1.3 C′ 2", CACHER_28_30, CurrentRevision,
        "resourceVersion=0, ConsistentListFromCache on: 1.28 and 1.29 treat it as a consistent read";
    LIST_RV = "list-rv", "§1.3 A 5, B 6, D 7, F 9", CACHER_ALL, Nothing,
        "a resourceVersion without limit: the watch cache answers once it has reached that revision, or 504 after 3 s";
    LIST_NOT_OLDER_THAN = "list-not-older-than", "§1.3 B 6, D 8, F 10", CACHER_ALL, Nothing,
        "resourceVersionMatch=NotOlderThan: the watch cache answers once it has reached that revision, or 504 after 3 s; a limit is honoured from 1.31";
    LIST_NOT_OLDER_THAN_LIMIT_ETCD = "list-not-older-than-limit-etcd", "§1.3 B 4, C 4", CACHER_16_30, Objects,
        "resourceVersionMatch=NotOlderThan with a limit: before 1.31 the watch cache cannot page, so the latest state is read from etcd";
    LIST_EXACT_ETCD = "list-exact-etcd", "§1.3 B 3, D 2", CACHER_16_37, Objects,
        "resourceVersionMatch=Exact: read from etcd, because there are no snapshots (the default before 1.34)";
    LIST_LEGACY_EXACT_ETCD = "list-legacy-exact-etcd", "§1.3 A 3, B 4, D 3", CACHER_16_37, Objects,
        "a resourceVersion with a limit means exactly that revision; read from etcd, because there are no snapshots (the default before 1.34)";
    LIST_EXACT_ONE_KEY_ETCD = "list-exact-one-key-etcd", "§1.3 F 1", SNAPSHOTS, Objects,
        "an exact revision of one object by name: read from etcd, because snapshots answer for prefixes only";
    LIST_EXACT_SNAPSHOT = "list-exact-snapshot", "§1.3 F 3, §1.4", SNAPSHOTS, Nothing,
        "an exact revision that the watch cache has a snapshot of (ListFromCacheSnapshot, the default from 1.34); a resource that was not written since etcd's last compaction has no snapshot left and is read from etcd";
    LIST_EXACT_AHEAD = "list-exact-ahead", "§1.3 F 2", SNAPSHOTS, Nothing,
        "an exact revision that the watch cache may not have reached yet: it waits, then answers from a snapshot, or 504 after 3 s";
    LIST_EXACT_AHEAD_ETCD = "list-exact-ahead-etcd", "§1.3 F 2, §1.8", SNAPSHOTS, Objects,
        "an exact revision that the watch cache has not reached, and it cannot request progress from etcd: read from etcd";
    LIST_EXACT_OLD_ETCD = "list-exact-old-etcd", "§1.3 F 4, §1.4", SNAPSHOTS, Objects,
        "an exact revision older than every snapshot: read from etcd, or 410 once it is compacted";
    LIST_CONTINUE_ETCD = "list-continue-etcd", "§1.3 A 2, B 2, D 1", CACHER_16_37, Objects,
        "a continue token: every page after the first is read from etcd, because there are no snapshots (the default before 1.34)";
    LIST_CONTINUE_SNAPSHOT = "list-continue-snapshot", "§1.3 F 5, §1.4", SNAPSHOTS, Nothing,
        "a continue token of a revision that the watch cache has a snapshot of (ListFromCacheSnapshot, the default from 1.34); a resource that was not written since etcd's last compaction has no snapshot left and is read from etcd";
    LIST_CONTINUE_AHEAD = "list-continue-ahead", "§1.3 F 5, F 2", SNAPSHOTS, Nothing,
        "a continue token of a revision that the watch cache may not have reached yet: it waits, then answers from a snapshot, or 504 after 3 s";
    LIST_CONTINUE_AHEAD_ETCD = "list-continue-ahead-etcd", "§1.3 F 5, F 2, §1.8", SNAPSHOTS, Objects,
        "a continue token of a revision that the watch cache has not reached, and it cannot request progress from etcd: read from etcd";
    LIST_CONTINUE_OLD_ETCD = "list-continue-old-etcd", "§1.3 F 5, F 4, §1.4", SNAPSHOTS, Objects,
        "a continue token of a revision older than every snapshot: read from etcd, or 410 once it is compacted";
    LIST_CONTINUE_LATEST = "list-continue-latest", "§1.3 F 6", SNAPSHOTS, CurrentRevision,
        "a continue token from a 410, which reads the latest revision: a consistent read from the watch cache, after the token's key";
    LIST_CONTINUE_LATEST_NO_FALLBACK = "list-continue-latest-no-fallback", "§1.3 G, F 6, §1.6", SNAPSHOTS, CurrentRevision,
        "like list-continue-latest, but if the cache is still behind after 3 s, 429 instead of an etcd read (alpha gate of 1.37)";
    LIST_CONTINUE_LATEST_ETCD = "list-continue-latest-etcd", "§1.3 F 6, §1.8", SNAPSHOTS, Objects,
        "a continue token from a 410, which reads the latest revision, and etcd does not answer progress requests: read from etcd";
    LIST_NOT_READY_ETCD = "list-not-ready-etcd", "§1.5", NOT_READY, Objects,
        "the watch cache is not ready and the list demands no revision: read from etcd";
    LIST_NOT_READY_LIMIT_ETCD = "list-not-ready-limit-etcd", "§1.5", NOT_READY, Objects,
        "the watch cache is not ready, the list has a limit and no selector: read from etcd (ResilientWatchCacheInitialization, from 1.31)";
    LIST_NOT_READY_WAITS = "list-not-ready-waits", "§1.5", NOT_READY, Nothing,
        "the watch cache is not ready and the list demands a revision: it waits until the cache is ready or the request times out";
    LIST_NOT_READY_REFUSED = "list-not-ready-refused", "§1.5", NOT_READY, Nothing,
        "the watch cache is not ready, and the list has no limit or has a selector: 429 (ResilientWatchCacheInitialization, from 1.31)";
    LIST_NOT_READY_REFUSED_LATE = "list-not-ready-refused-late", "§1.5", NOT_READY, CurrentRevision,
        "like list-not-ready-refused, but 1.31 to 1.33 ask etcd for its current revision before they check whether the cache is ready";
}
