//! The rows of the matrix: shapes of reads whose layer differs between versions and configurations, and requests that validation
//! refuses.

use super::row::{On, Row};

/// The fourteen shapes with counters that were recorded by hand before the matrix.
const FIRST_FOURTEEN: &[Row] = &[
    Row::list("RV unset", On::All, ""),
    Row::list("RV unset, limit", On::All, "limit=3"),
    Row::list("RV unset, label selector", On::All, "labelSelector=app%3Dweb"),
    Row::list("RV=0", On::All, "resourceVersion=0"),
    Row::list("RV=0, limit", On::All, "resourceVersion=0&limit=3"),
    Row::list("RV=N", On::All, "resourceVersion={n}"),
    Row::list("RV=N, limit", On::All, "resourceVersion={n}&limit=3"),
    Row::list("RV=N, limit, NotOlderThan", On::All, "resourceVersion={n}&limit=3&resourceVersionMatch=NotOlderThan"),
    Row::list("RV=N, Exact", On::All, "resourceVersion={n}&resourceVersionMatch=Exact"),
    Row::list("continue", On::All, "limit=3&continue={token}"),
    Row::list("RV=2, Exact", On::All, "resourceVersion={old}&resourceVersionMatch=Exact"),
    Row::list("RV in the future", On::All, "resourceVersion={future}").that_waits(),
    Row::get("GET, RV unset", On::Object, ""),
    Row::get("GET, RV=0", On::Object, "resourceVersion=0"),
];

const GETS: &[Row] = &[
    Row::get("GET, RV=N", On::Object, "resourceVersion={n}"),
    Row::get("GET, RV in the future", On::Object, "resourceVersion={future}").that_waits(),
    Row::get("GET of an absent object, RV unset", On::Nobody, ""),
    Row::get("GET of an absent object, RV=0", On::Nobody, "resourceVersion=0"),
];

const LISTS: &[Row] = &[
    Row::list("RV unset, limit, label selector", On::All, "limit=3&labelSelector=app%3Dweb"),
    Row::list("RV=0, limit, NotOlderThan", On::All, "resourceVersion=0&limit=3&resourceVersionMatch=NotOlderThan"),
    Row::list("RV=N, NotOlderThan", On::All, "resourceVersion={n}&resourceVersionMatch=NotOlderThan"),
    Row::list("RV=N, Exact, limit", On::All, "resourceVersion={n}&resourceVersionMatch=Exact&limit=3"),
    Row::list("RV=N, Exact, label selector", On::All, "resourceVersion={n}&resourceVersionMatch=Exact&labelSelector=app%3Dweb"),
    Row::list("RV in the future, limit", On::All, "resourceVersion={future}&limit=3").that_waits(),
    Row::list("RV in the future, NotOlderThan", On::All, "resourceVersion={future}&resourceVersionMatch=NotOlderThan").that_waits(),
    Row::list("RV in the future, Exact", On::All, "resourceVersion={future}&resourceVersionMatch=Exact").that_waits(),
    Row::list("continue without limit", On::All, "continue={token}"),
    Row::list("continue, RV=0", On::All, "limit=3&continue={token}&resourceVersion=0"),
    Row::list("continue at the latest", On::All, "limit=3&continue={latest}"),
    Row::list("namespace, RV unset", On::Namespace, ""),
    Row::list("namespace, RV unset, limit", On::Namespace, "limit=3"),
    Row::list("namespace, RV=0", On::Namespace, "resourceVersion=0"),
    Row::list("namespace, RV=N", On::Namespace, "resourceVersion={n}"),
    Row::list("namespace, RV=N, Exact", On::Namespace, "resourceVersion={n}&resourceVersionMatch=Exact"),
    Row::list("name, RV unset", On::Namespace, "fieldSelector=metadata.name%3D{name}"),
    Row::list("name, RV unset, limit", On::Namespace, "fieldSelector=metadata.name%3D{name}&limit=3"),
    Row::list("name, RV=0", On::Namespace, "fieldSelector=metadata.name%3D{name}&resourceVersion=0"),
    Row::list("name, RV=N", On::Namespace, "fieldSelector=metadata.name%3D{name}&resourceVersion={n}"),
    Row::list(
        "name, RV=N, Exact",
        On::Namespace,
        "fieldSelector=metadata.name%3D{name}&resourceVersion={n}&resourceVersionMatch=Exact",
    ),
    Row::list("name, RV=N, limit", On::Namespace, "fieldSelector=metadata.name%3D{name}&resourceVersion={n}&limit=3"),
    Row::list(
        "name in all namespaces, RV=N, Exact",
        On::All,
        "fieldSelector=metadata.name%3D{name}&resourceVersion={n}&resourceVersionMatch=Exact",
    ),
    Row::list(
        "name and namespace by selector, RV=N, Exact",
        On::All,
        "fieldSelector=metadata.name%3D{name},metadata.namespace%3Ddefault&resourceVersion={n}&resourceVersionMatch=Exact",
    ),
    Row::delete_collection("DELETECOLLECTION, RV unset", ""),
    Row::delete_collection("DELETECOLLECTION, RV=0", "resourceVersion=0"),
    Row::delete_collection("DELETECOLLECTION, limit", "limit=3"),
    Row::delete_collection("DELETECOLLECTION, RV=N", "resourceVersion={n}"),
    Row::delete_collection("DELETECOLLECTION, RV=N, Exact", "resourceVersion={n}&resourceVersionMatch=Exact"),
];

const WATCHES: &[Row] = &[
    Row::watch("WATCH, RV unset", On::All, ""),
    Row::watch("WATCH, RV unset, bookmarks", On::All, "allowWatchBookmarks=true"),
    Row::watch("WATCH, RV=0", On::All, "resourceVersion=0"),
    Row::watch("WATCH, RV=0, bookmarks", On::All, "resourceVersion=0&allowWatchBookmarks=true"),
    Row::watch("WATCH, RV=N", On::All, "resourceVersion={n}&allowWatchBookmarks=true"),
    Row::watch("WATCH, RV=1", On::All, "resourceVersion=1"),
    Row::watch("WATCH of a name, RV unset", On::Namespace, "fieldSelector=metadata.name%3D{name}"),
    Row::watch("WATCH by path, RV unset", On::WatchPath, ""),
    Row::watch(
        "initial events, RV unset",
        On::All,
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
    ),
    Row::watch("initial events without bookmarks, RV unset", On::All, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
    Row::watch(
        "initial events, RV=0",
        On::All,
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=0",
    ),
    Row::watch(
        "initial events, RV=N",
        On::All,
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion={n}",
    ),
    Row::watch("no initial events, RV unset", On::All, "sendInitialEvents=false&resourceVersionMatch=NotOlderThan"),
    Row::watch("no initial events, RV=0", On::All, "sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0"),
    Row::watch("no initial events, RV=N", On::All, "sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion={n}"),
    Row::watch(
        "initial events, RV in the future",
        On::All,
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion={future}",
    )
    .that_waits(),
];

const REFUSALS: &[Row] = &[
    Row::list("match without RV", On::All, "resourceVersionMatch=NotOlderThan"),
    Row::list("match with continue", On::All, "limit=3&continue={token}&resourceVersionMatch=NotOlderThan"),
    Row::list("Exact, RV=0", On::All, "resourceVersion=0&resourceVersionMatch=Exact"),
    Row::list("unknown match", On::All, "resourceVersion={n}&resourceVersionMatch=Newest"),
    Row::list("continue, RV=N", On::All, "limit=3&continue={token}&resourceVersion={n}"),
    Row::list("continue is no token", On::All, "limit=3&continue=none"),
    Row::list("RV is no number", On::All, "resourceVersion=newest"),
    Row::list("limit is no number", On::All, "limit=few"),
    Row::list("initial events on a list", On::All, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
    Row::get("GET, RV is no number", On::Object, "resourceVersion=newest"),
    Row::watch("WATCH, RV is no number", On::All, "resourceVersion=newest"),
    Row::watch("WATCH, match", On::All, "resourceVersion={n}&resourceVersionMatch=NotOlderThan"),
    Row::watch("initial events without match", On::All, "sendInitialEvents=true"),
    Row::watch("initial events, Exact", On::All, "sendInitialEvents=true&resourceVersion={n}&resourceVersionMatch=Exact"),
];

/// All rows for a resource whose watch cache, if it has one, is ready.
pub(super) fn all() -> impl Iterator<Item = &'static Row> {
    [FIRST_FOURTEEN, GETS, LISTS, WATCHES, REFUSALS].into_iter().flatten()
}

/// Rows for a resource of an extension server.
pub(super) const PASSED_ON: &[Row] = &[
    Row::list("RV unset", On::All, ""),
    Row::list("RV unset, limit", On::All, "limit=3"),
    Row::list("RV=0", On::All, "resourceVersion=0"),
    Row::list("RV=N, Exact", On::All, "resourceVersion={n}&resourceVersionMatch=Exact"),
    Row::list("namespace, RV unset", On::Namespace, ""),
    Row::get("GET, RV unset", On::Object, ""),
    Row::get("GET, RV=0", On::Object, "resourceVersion=0"),
    Row::watch("WATCH, RV unset", On::All, ""),
    Row::delete_collection("DELETECOLLECTION, RV unset", ""),
];

/// Rows for a resource whose watch cache is not ready. The tap has seen no revision of it.
pub(super) const NOT_READY: &[Row] = &[
    Row::get("GET, RV unset", On::Object, ""),
    Row::get("GET, RV=0", On::Object, "resourceVersion=0"),
    Row::get("GET, RV=N", On::Object, "resourceVersion={n}"),
    Row::list("RV unset", On::All, ""),
    Row::list("RV unset, limit", On::All, "limit=3"),
    Row::list("RV unset, limit, label selector", On::All, "limit=3&labelSelector=app%3Dweb"),
    Row::list("RV=0", On::All, "resourceVersion=0"),
    Row::list("RV=0, limit", On::All, "resourceVersion=0&limit=3"),
    Row::list("RV=N", On::All, "resourceVersion={n}"),
    Row::watch("WATCH, RV unset", On::All, ""),
    Row::watch("WATCH, RV=0", On::All, "resourceVersion=0"),
];

/// Rows after etcd was compacted above N and the watch caches have noticed.
pub(super) const COMPACTED: &[Row] = &[
    Row::list("RV=N, Exact", On::All, "resourceVersion={n}&resourceVersionMatch=Exact"),
    Row::list("RV=N, limit", On::All, "resourceVersion={n}&limit=3"),
    Row::list("RV=N", On::All, "resourceVersion={n}"),
    Row::list("continue", On::All, "limit=3&continue={token}"),
    Row::watch("WATCH, RV=N", On::All, "resourceVersion={n}"),
];

/// The row with the continue token of another row's 410.
pub(super) const CONTINUE_AFTER_EXPIRED: Row = Row::list("continue with the token of a 410", On::All, "limit=3&continue={token}");

/// The row of a revision that the server still serves without a snapshot of it.
pub(super) const EXACT: Row = Row::list("RV=N, Exact", On::All, "resourceVersion={n}&resourceVersionMatch=Exact");
