//! Advice that is more specific than the advice of a kind of finding. It depends on the observed requests, so that it recommends no
//! change that was already made or cannot help.

use crate::exchange::Client;
use crate::finding_kind::FindingKind;
use crate::observer::rows::ListRow;
use crate::reflector::{ChangeSource, ListsFrom, ReflectorRow, RelistCause, Sign, SilenceProof, Stale, UnknownCause};
use crate::routing::ServedFrom;

/// The rule for resources without a watch cache: no option of a list avoids etcd for them.
pub(super) const UNCACHED: &str = "uncached-resource";
/// The rule for lists of the newest state that the watch cache answers, and etcd if the cache lags.
pub(super) const FALLS_BACK: &str = "list-unset-consistent";
/// The rule for lists of the newest state that are read from etcd. Only API servers before 1.31, or with a feature gate off, have
/// it.
const UNSET_FROM_ETCD: &str = "list-unset-etcd";
/// The rule for lists that old servers read from etcd while their watch cache is not ready.
const NOT_READY: &str = "list-not-ready-etcd";
/// The advice for a watch that delivered nothing, if newer objects came only from etcd and from no other watch.
pub(super) const PERHAPS_LAGS: &str = "Find out whether the API server's watch cache lags behind etcd: list with resourceVersion=0, and \
    compare with a list without it. If both have the same resourceVersion, restart the client.";
/// The advice on relists after watches whose end the log does not explain.
pub(super) const END_NOT_LOGGED: &str = "Find out why the watches end before their time, which this log does not show: see the log of the \
    client, and the timeouts of load balancers in front of the API server.";
const UNAUTHORIZED: &str = "Renew the credential of the client: the API server does not accept it. A token in a pod is replaced before \
    it expires, so the client must read its file again.";
const FORBIDDEN: &str = "Let the user of the client list and watch the resource, with a Role or ClusterRole. \
    `kubectl auth can-i list RESOURCE --as USER` shows whether it may.";
const NOT_FOUND: &str = "Install the CRD, or remove the informer: the API server has no such resource in this group and version.";
const THROTTLED: &str =
    "Find out which priority level rejects the client (429), and give it more shares, or let the client send fewer requests.";
/// The first minor release whose watch cache answers lists of the newest state.
const CONSISTENT_FROM: u16 = 31;
/// The first minor release that refuses a streaming list that it does not support (§2.3 of docs/semantics.md).
const STREAMING_REFUSED_FROM: u16 = 19;

/// Advice for a client that polls. `lists` are the lists of all clients.
pub(super) fn to_poller(row: &ReflectorRow, lists: &[ListRow]) -> &'static str {
    if row.is_of_events() {
        return "Watch instead. resourceVersion=0 would not help: events have no watch cache by default, so etcd answers every list of them.";
    }
    let is_cached = row.lists_from == Some(ListsFrom::Any) || is_answered_by_cache(row, lists);
    if is_cached {
        "Watch instead: a shared informer lists once and then receives only the changes. The watch cache already answers these lists."
    } else {
        FindingKind::Poller.advice()
    }
}

/// Advice for a client with many watches of single objects.
pub(super) fn to_many_watches(client: &Client) -> &'static str {
    if client.program_name() == "kubelet" {
        "Set configMapAndSecretChangeDetectionStrategy to Cache, which polls, or mark ConfigMaps and Secrets as immutable (1.21 or \
         later), which kubelet does not watch. With Watch, the default, kubelet opens one watch for each object."
    } else {
        FindingKind::ManyWatches.advice()
    }
}

/// Advice for the client of a streaming list that does not end. `minor` is the server's minor release.
pub(super) fn to_never_synced(minor: Option<u16>) -> &'static str {
    if minor.is_some_and(|minor| minor < STREAMING_REFUSED_FROM) {
        "Disable WatchListClient in the client, or update the API server to 1.19 or later: earlier ones ignore sendInitialEvents, \
         and never send the bookmark that the client waits for."
    } else {
        FindingKind::NeverSynced.advice()
    }
}

/// Advice for a reflector whose requests the server refuses with `status`.
pub(super) const fn to_refused(status: u16) -> &'static str {
    match status {
        401 => UNAUTHORIZED,
        403 => FORBIDDEN,
        404 => NOT_FOUND,
        429 => THROTTLED,
        500.. => FindingKind::ServerErrors.advice(),
        _ => FindingKind::RefusedRequests.advice(),
    }
}

/// The change that `advice` of [`to_refused`] recommends to the clients `of` that request `what`, and the statuses that it is for.
/// `is_one`: whether it is one client.
pub(super) fn words_of_refused(advice: &str, (of, what, is_one): (&str, &str, bool)) -> (String, &'static str) {
    match advice {
        FORBIDDEN if !is_one => (format!("let {of} list and watch the resources that each requests (RBAC)"), "403"),
        UNAUTHORIZED => (format!("renew the credential of {of}"), "401"),
        FORBIDDEN => (format!("let {of} list and watch {what} (RBAC)"), "403"),
        NOT_FOUND => (format!("install the CRD of {what}, or remove the informer from {of}"), "404"),
        THROTTLED => (format!("give {of} more shares in its priority level, or let it send fewer requests"), "429"),
        _ if advice == FindingKind::ServerErrors.advice() => ("find out why the API server cannot answer".to_owned(), "5xx"),
        _ => (format!("find out why the API server refuses {of}"), "4xx"),
    }
}

/// Advice for the client of a deaf watch.
pub(super) fn to_deaf(row: &ReflectorRow) -> &'static str {
    let because = row.evidence.deaf.map(|silence| silence.because);
    if let Some(SilenceProof::Deaf { sign: Sign::Change { source: ChangeSource::Etcd, .. }, certain: false, selective: false }) =
        because
    {
        return PERHAPS_LAGS;
    }
    if row.client.program.starts_with("OpenAPI-Generator") {
        // The user agent of the official Python client.
        "Restart the client, which helps at once. Then pass timeout_seconds and _request_timeout to each watch, so that a dead \
         connection is noticed."
    } else {
        FindingKind::DeafWatch.advice()
    }
}

/// Whether the watch cache answered all lists of the resource of `row`, except refused ones. False if no list was seen, or if the
/// layer of a list is unknown.
fn is_answered_by_cache(row: &ReflectorRow, lists: &[ListRow]) -> bool {
    let same = |list: &&ListRow| (&list.shape.resource, &list.shape.upstream) == (&row.shape.resource, &row.shape.upstream);
    let mut layers = lists.iter().filter(same).filter_map(|list| Some(&list.verdict.as_ref()?.served_from)).peekable();
    layers.peek().is_some()
        && layers.all(|layer| match layer {
            ServedFrom::Cache | ServedFrom::CacheConsistent | ServedFrom::Snapshot | ServedFrom::Rejected { .. } => true,
            ServedFrom::Etcd | ServedFrom::Proxied | ServedFrom::Unknown { .. } => false,
        })
}

/// Advice for a client whose revision expired because it had not asked for bookmarks.
pub(super) fn without_bookmarks(row: &ReflectorRow) -> &'static str {
    if row.is_of_events() {
        "Watch events only if the relists are worth it: events have no watch cache by default, so the API server sends no bookmarks for them."
    } else {
        FindingKind::NoBookmarks.advice()
    }
}

/// Advice for clients whose lists in `row` read many objects from etcd. `minor` is the server's minor release. `they_watch`:
/// whether a reflector that may have sent these lists also watches.
pub(super) fn to_list_from_etcd(row: &ListRow, they_watch: bool, minor: Option<u16>) -> &'static str {
    let rule = row.verdict.as_ref().map_or("", |verdict| verdict.rule);
    if rule == NOT_READY {
        return "Restart API servers one at a time, and wait until each is ready. Its watch cache was not filled yet, so it read \
            lists from etcd.";
    }
    if row.shape.names_revision() && they_watch {
        return "Update client-go to 1.17.1 or later. If this is 1.17.0, it relists at an exact revision, which the API server \
            reads from etcd.";
    }
    if row.shape.is_from_any() && they_watch {
        return "Find out why the watch cache was not ready, for example after a restart: the clients list with resourceVersion=0, and \
            the API server still read etcd (watchtap explain RULE gives the reason).";
    }
    if row.shape.is_from_any() {
        return "Watch instead: the client already lists with resourceVersion=0, and the API server still reads etcd (watchtap \
            explain RULE gives the reason).";
    }
    if row.shape.continues() {
        return "List with resourceVersion=0, which the watch cache answers in one response, instead of in pages; or watch.";
    }
    if row.shape.names_revision() {
        return "Watch instead, or list with resourceVersion=0: the API server reads an exact revision from etcd \
            (resourceVersionMatch=Exact, or a revision with a limit).";
    }
    if rule == UNSET_FROM_ETCD && minor.is_some_and(|minor| minor < CONSISTENT_FROM) {
        return "List with resourceVersion=0 if data a few seconds old is acceptable, or watch; API servers from 1.31 answer such \
            lists from the watch cache.";
    }
    FindingKind::ListsFromEtcd.advice()
}

/// Advice for clients with a selector that keeps few of the objects read from etcd.
pub(super) fn to_filter(row: &ListRow) -> &'static str {
    let is_uncached = row.verdict.as_ref().is_some_and(|verdict| verdict.rule == UNCACHED);
    if is_uncached || row.shape.is_from_any() {
        "Keep an informer and look objects up in its index. The watch cache does not answer this list, and etcd cannot filter: \
         the API server reads all objects and applies the selector afterwards."
    } else {
        FindingKind::FilterAfterReading.advice()
    }
}

/// Advice on relists with `cause`; without a cause, or if the cause shows no change, the general advice on relist loops.
pub fn advice_on_relists(cause: Option<RelistCause>) -> &'static str {
    cause.and_then(advice_by_cause).unwrap_or(FindingKind::RelistLoop.advice())
}

/// The change that avoids relists with this cause; `None` if the cause alone does not show which change helps.
pub const fn advice_by_cause(cause: RelistCause) -> Option<&'static str> {
    Some(match cause {
        RelistCause::Expired { because: Stale::BookmarksNotRequested } => FindingKind::NoBookmarks.advice(),
        RelistCause::Expired { because: Stale::NoBookmarks } => {
            "Update the API server to 1.31 or later. From 1.28 to 1.30, it sends no bookmarks before the first event of a resource."
        }
        RelistCause::Expired { because: Stale::CacheReset } => FindingKind::CacheReset.advice(),
        RelistCause::Expired { because: Stale::ClientStalled } | RelistCause::ClosedByForce => FindingKind::SlowReader.advice(),
        RelistCause::VeryShortWatch => FindingKind::ShortWatches.advice(),
        RelistCause::RefusedMisread => FindingKind::RefusedMisread.advice(),
        RelistCause::TooLargeResourceVersion => FindingKind::RevisionWentBack.advice(),
        RelistCause::TooManyRequests => THROTTLED,
        RelistCause::StreamReset | RelistCause::ConnectionLost => {
            "Find out why connections are cut: the API server restarted, or a proxy or load balancer in front of it has an idle \
             timeout."
        }
        RelistCause::ListExpired | RelistCause::ContinueExpired => FindingKind::ContinueExpired.advice(),
        RelistCause::WatchRefused { status: 401 } => UNAUTHORIZED,
        RelistCause::WatchRefused { status: 403 } => FORBIDDEN,
        RelistCause::WatchRefused { .. } | RelistCause::WatchError { .. } => {
            "Find out why the API server refuses the watch: see the status code of the cause, and the API server's log."
        }
        RelistCause::NewProcess | RelistCause::Rebuilt => {
            "Find out why the client starts over: crash loops, leader election, or a new informer for each task."
        }
        RelistCause::WatchWithoutRevision => FindingKind::FullStateByWatch.advice(),
        RelistCause::Unknown { reason: UnknownCause::EndNotLogged } => END_NOT_LOGGED,
        RelistCause::Expired { because: Stale::WindowPassed | Stale::Unknown } | RelistCause::Unknown { .. } => return None,
    })
}
