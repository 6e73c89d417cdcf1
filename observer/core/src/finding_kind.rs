//! The kinds of findings, such as a stuck reflector or a poller, with their identifiers and advice.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::storm::FIX_CAUSES;

/// Defines the kinds in their order, the worst first. Each has a meaning, an identifier, and advice for the case that no more
/// specific advice applies.
macro_rules! kinds {
    ($($(#[$meaning:meta])* $kind:ident = $id:literal, $advice:expr;)*) => {
        /// Kinds of findings, the worst first. `docs/findings.md` has a section on each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum FindingKind {
            $($(#[$meaning])* $kind,)*
        }

        impl FindingKind {
            /// All kinds, in order.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// The identifiers of all kinds, in order.
            pub const IDS: &[&str] = &[$($id),*];

            /// The identifier, which is also the anchor of its section in `docs/findings.md`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $id,)*
                }
            }

            /// The kind with this identifier; `None` if there is none.
            pub fn named(id: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.as_str() == id)
            }

            /// Advice for this kind, if no more specific advice applies: an option, a version or a parameter to change.
            pub const fn advice(self) -> &'static str {
                match self {
                    $(Self::$kind => $advice,)*
                }
            }
        }
    };
}

kinds! {
    /// A reflector repeatedly asks for a revision that the server does not reach.
    StuckReflector = "stuck-reflector",
        "Restart the client, which helps at once. Then update client-go to 1.18.6 or later, which lists without a resource \
             version after this error.";
    /// A watch is open and delivers nothing, although other watches or answers show newer states of the resource.
    DeafWatch = "deaf-watch",
        "Restart the client, which helps at once. Then enable detection of dead connections: HTTP/2 pings, TCP keepalive, or \
             a read timeout above the watch's timeoutSeconds.";
    /// A watch waits at a revision that the server does not have.
    WatchAheadOfServer = "watch-ahead-of-server",
        "Restart clients after each restore of etcd: they have a revision from before, or of another etcd. When \
             restoring, raise the revision (etcdutl snapshot restore --bump-revision).";
    /// A client watches again and again from a revision that the server no longer has.
    ExpiredLoop = "expired-loop",
        "Restart the client, which helps at once. Then let it relist after a 410, and watch from the resourceVersion \
             of that list.";
    /// A client watches again and again from one revision, and the server ends each watch at once without an event.
    SilentExpired = "silent-expired",
        "Restart the client, which helps at once. Then let it relist after a watch that ends at once without an event: \
             for this resource, the server may send no 410.";
    /// A streaming list does not end, so the client never has the complete state of the resource.
    NeverSynced = "never-synced",
        "Find the proxy that drops bookmarks or cuts streams between client and API server. Until then, disable \
             WatchListClient in the client, so that it lists.";
    /// The server answered gets or writes with 5xx.
    ServerErrors = "server-errors",
        "Find out why the API server cannot answer: see its log and etcd's at these times.";
    /// The server refuses a reflector's lists or watches.
    RefusedRequests = "refused-requests",
        "Find out why the API server refuses the requests: see the status code, and the API server's log.";
    /// A client lists in a loop without a pause.
    HotLoop = "hot-loop",
        "Pause between lists, or watch: a shared informer lists once and then receives only the changes.";
    /// A reflector relists repeatedly: five times within ten minutes.
    RelistLoop = "relist-loop",
        "Fix the causes listed here: each relist transfers every object again.";
    /// Several consecutive watches last less than a second each.
    ShortWatches = "short-watches",
        "Raise the idle and request timeouts of the proxy or load balancer in front of the API server above 10 minutes, \
             so that watches last.";
    /// A client does not read its watch.
    SlowReader = "slow-reader",
        "Read the watch in a loop that does nothing else, as client-go's reflectors do, and queue the work; if the \
             entire process pauses, look for CPU limits and garbage collection.";
    /// A reflector relisted because its revision expired. It had not requested bookmarks, which would have advanced the revision.
    NoBookmarks = "no-bookmarks",
        "Set allowWatchBookmarks=true (client-go's reflectors do), so that the resource version advances while the \
             resource does not change; this needs API server 1.16 or later.";
    /// A client relists after refused connections; later releases of client-go resume.
    RefusedMisread = "refused-misread",
        "Update client-go to 1.16 or later, which resumes its watch when the API server is back.";
    /// A client relists after each watch that ended normally, instead of resuming it.
    NoResume = "no-resume",
        "Watch from the resourceVersion of the last event or bookmark when a watch ends, as client-go does; list only after \
             a 410.";
    /// A client that already has the objects starts a watch without a revision, and gets all objects again.
    FullStateByWatch = "full-state-by-watch",
        "Watch from the resourceVersion of the last list or event: a watch without one sends all objects again.";
    /// A list in pages started over, because its continue token expired.
    ContinueExpired = "continue-expired",
        "Read lists faster, or in fewer pages: etcd compacts the revision of a list after five minutes by default.";
    /// Many reflectors relisted at the same time, for a cause that no other finding explains.
    RelistStorm = "relist-storm",
        FIX_CAUSES;
    /// Reflectors relisted because the API server's watch cache was reset.
    CacheReset = "cache-reset",
        "Find out why the watch cache was reset. Possible causes: the API server or etcd restarted, or a CRD changed. \
             Clients cannot avoid these relists.";
    /// A client lists at intervals and never watches.
    Poller = "poller",
        "Watch instead (a shared informer), or list with resourceVersion=0, which the watch cache answers.";
    /// A client gets objects again and again, and never watches them.
    GetPoller = "get-poller",
        "Watch the object (fieldSelector=metadata.name=NAME), or keep an informer and read its cache.";
    /// Reflectors of one process list or watch the same objects at the same time.
    DuplicateInformers = "duplicate-informers",
        "Share one SharedInformerFactory (or one controller-runtime cache) in the process: each further informer lists \
             and watches everything again.";
    /// The server refuses a client's streaming lists, and the client falls back to plain lists.
    StreamingListRefused = "streaming-list-refused",
        "Disable WatchListClient in the client (KUBE_FEATURE_WatchListClient=false), or enable the WatchList feature \
             gate of the server: now the client requests each list twice.";
    /// Consistent reads took as long as the API server waits for its watch cache before it reads etcd.
    ConsistentReadFellBack = "consistent-read-fell-back",
        "Find out why the watch cache lags behind etcd: slow disks or defragmentation of etcd, or an etcd that does not \
             answer progress requests (3.5.13 or later does).";
    /// Lists that are not limited to one namespace read many objects from etcd.
    ListsFromEtcd = "lists-from-etcd",
        "List with resourceVersion=0 if data a few seconds old is acceptable, or watch.";
    /// Lists with a selector read far more objects from etcd than they return.
    FilterAfterReading = "filter-after-reading",
        "List with resourceVersion=0, which reads the watch cache, or look objects up in an informer's index. etcd cannot \
             filter: the API server reads all objects and applies the selector afterwards.";
    /// A client delays its own requests: it has a rate limit.
    ClientRateLimit = "client-rate-limit",
        "Raise QPS and Burst of the client's rest.Config (client-go's defaults are 5 and 10; priority and fairness protects \
             the server since 1.20), or send fewer requests.";
    /// A reflector got a lower revision than before: its address leads to another etcd, or etcd was restored.
    RevisionWentBack = "revision-went-back",
        "Check that the API server's address does not lead to several clusters, and that no restore of etcd lowered its \
             revision (etcdutl snapshot restore --bump-revision prevents that).";
    /// A client got an older state than it had, because another API server of the cluster lags.
    OlderState = "older-state",
        "List without a resourceVersion where stale data is harmful: with resourceVersion=0, an API server whose watch \
             cache lags may answer. Check which server lags.";
    /// Many clients of one program started at the same time, and each listed everything.
    Rollout = "rollout",
        "Roll the program out in smaller steps (maxUnavailable), and let each client list with resourceVersion=0 and only \
             the objects that it needs.";
    /// A client needed long to get its first state, because of its own rate limit.
    SlowSync = "slow-sync",
        "Raise QPS and Burst of the client's rest.Config (client-go's defaults are 5 and 10), or keep fewer informers.";
    /// A client watches many single objects, each with a stream of its own.
    ManyWatches = "many-watches",
        "Watch the namespace once, with a selector, instead of each object: an API server allows 100 or 250 streams on a \
             connection, and more requests wait.";
    /// A client keeps the full objects of all namespaces of a large resource.
    WideInformer = "wide-informer",
        "Restrict the informer to the namespaces or labels that the client needs, or keep metadata only \
             (PartialObjectMetadata).";
    /// Lists asked for pages, and got everything in one response.
    IgnoredLimit = "ignored-limit",
        "Expect everything in one response: the watch cache does not page a list with resourceVersion=0. Without a \
             resourceVersion, lists come in pages.";
}

impl fmt::Display for FindingKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_identifier() {
        for kind in FindingKind::ALL.iter().copied() {
            assert_eq!(FindingKind::named(kind.as_str()), Some(kind));
        }
        assert_eq!(FindingKind::named("deaf-watches"), None);
    }
}
