//! Rules for watches.

use super::rule::{ReadsOf, Rule, RuleId, rules};

const WATCH: &str =
    "kubernetes/apiserver pkg/storage/cacher/cacher.go Watch, v0.16 to v0.32; delegator.go Watch, v0.33 to v0.37.0-beta.0";
const INITIAL: &str =
    "kubernetes/apiserver pkg/storage/cacher/cacher.go Watch and getWatchCacheResourceVersion, v0.27 to v0.37.0-beta.0";
const REWRITE: &str = "kubernetes/apimachinery pkg/apis/meta/internalversion/defaults.go SetListOptionsDefaults, v0.27 to v0.36";

rules! {
    WATCH_UNSET_CACHE = "watch-unset-cache", "§2.2", WATCH, Nothing,
        "no resourceVersion: as with resourceVersion=0, the watch cache sends its state as ADDED events, then changes";
    WATCH_UNSET_ETCD_BUG = "watch-unset-etcd-bug", "§0.3, §2.2",
        "kubernetes/apiserver pkg/storage/cacher/cacher.go Watch, v0.27.0 to v0.27.12, v0.28.0 to v0.28.8, v0.29.0 to v0.29.3", ObjectsThenWatch,
        "no resourceVersion: because of a bug, 1.27.0 to 1.27.12, 1.28.0 to 1.28.8 and 1.29.0 to 1.29.3 list from etcd and open a separate watch there";
    WATCH_UNSET_ETCD_GATE = "watch-unset-etcd-gate", "§2.2, §2.4", WATCH, ObjectsThenWatch,
        "no resourceVersion, WatchFromStorageWithoutResourceVersion on: the API server lists and watches in etcd";
    WATCH_UNSET_CONSISTENT = "watch-unset-consistent", "§2.2", REWRITE, CurrentRevision,
        "no resourceVersion, WatchList on: rewritten to a streaming list; the watch cache sends its state once it has reached etcd's current revision, then changes";
    WATCH_RV0 = "watch-rv0", "§2.2", WATCH, Nothing,
        "resourceVersion=0: the watch cache sends its state as ADDED events, then changes";
    WATCH_RV0_REWRITTEN = "watch-rv0-rewritten", "§2.2", REWRITE, Nothing,
        "resourceVersion=0, WatchList on: rewritten to a streaming list of the watch cache's present state, without waiting";
    WATCH_RV = "watch-rv", "§2.2", WATCH, Nothing,
        "a resourceVersion: the watch cache sends the changes after it from its event window; below the window, an ERROR event 410";
    WATCH_LIST_UNSET = "watch-list-unset", "§2.3", INITIAL, CurrentRevision,
        "sendInitialEvents without resourceVersion: the watch cache sends its state once it has reached etcd's current revision, a bookmark, then changes";
    WATCH_LIST_UNSET_UNMARKED = "watch-list-unset-unmarked", "§2.3",
        "kubernetes/apiserver pkg/storage/cacher/cacher.go getBookmarkAfterResourceVersionLockedFunc, v0.27 to v0.29; getWatchCacheResourceVersion, v0.30 and later", Nothing,
        "initial events without resourceVersion and without bookmarks: the watch cache sends its present state; 1.27 to 1.29 ask etcd for its current revision only to mark the end of the initial events";
    WATCH_LIST_RV0 = "watch-list-rv0", "§2.3", INITIAL, Nothing,
        "sendInitialEvents with resourceVersion=0: the watch cache sends its state, a bookmark, then changes";
    WATCH_LIST_RV = "watch-list-rv", "§2.3", INITIAL, Nothing,
        "sendInitialEvents with a resourceVersion: the watch cache sends its state once it has reached that revision, a bookmark, then changes";
    WATCH_LIST_NO_PROGRESS = "watch-list-no-progress", "§2.3", INITIAL, Nothing,
        "a streaming list with bookmarks, and etcd does not answer progress requests: an ERROR event 500 in a watch that was answered with 200 (from 1.31)";
    WATCH_NO_INITIAL_UNSET = "watch-no-initial-unset", "§2.3", INITIAL, CurrentRevision,
        "sendInitialEvents=false without resourceVersion: the changes after etcd's current revision";
    WATCH_NO_INITIAL_RV0 = "watch-no-initial-rv0", "§2.3", INITIAL, Nothing,
        "sendInitialEvents=false with resourceVersion=0: the changes after the watch cache's present revision";
    WATCH_NO_INITIAL_RV = "watch-no-initial-rv", "§2.3", INITIAL, Nothing,
        "sendInitialEvents=false with a resourceVersion: the changes after it";
    WATCH_NOT_READY_WAITS = "watch-not-ready-waits", "§1.5", WATCH, Nothing,
        "the watch cache is not ready: the watch waits until it is, or until the request times out";
    WATCH_NOT_READY_REFUSED = "watch-not-ready-refused", "§1.5, §2.3", WATCH, Nothing,
        "the watch cache is not ready: 429 (ResilientWatchCacheInitialization, from 1.31)";
}
