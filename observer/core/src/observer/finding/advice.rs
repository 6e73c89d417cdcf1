//! What to change, in one sentence.

use super::kind::FindingKind;

impl FindingKind {
    /// The change to make: an option, a version, a parameter.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::StuckReflector => {
                "Update client-go to 1.18.6 or later, which asks without a revision after this refusal; a restart of the client helps at once."
            }
            Self::HotLoop => "Pause between lists, or watch: a shared informer lists once and is told of changes.",
            Self::RelistLoop => "Remove what ends the watches (see the causes): each relist transfers every object again.",
            Self::ShortWatches => {
                "Let watches live: raise the idle and request timeouts of the proxy or load balancer in front of the API server above 10 minutes."
            }
            Self::SlowReader => {
                "Read the watch in a loop that does nothing else, as client-go's reflectors do, and queue the work; if the whole process stands still, look for CPU limits and garbage collection."
            }
            Self::NoBookmarks => {
                "Set allowWatchBookmarks=true (client-go's reflectors do), so that the revision moves on while the resource is quiet; the API server must be 1.16 or later."
            }
            Self::RefusedMisread => {
                "Update client-go to 1.16 or later, which goes on watching from where it was when the API server is back."
            }
            Self::Poller => "Watch instead (a shared informer), or list with resourceVersion=0, which the watch cache answers.",
            Self::DuplicateInformers => {
                "Share one SharedInformerFactory (or one controller-runtime cache) in the process: each informer lists and watches everything again."
            }
            Self::StreamingListRefused => {
                "Turn the client's WatchListClient off (KUBE_FEATURE_WatchListClient=false), or the server's WatchList feature gate on: now each list is asked for twice."
            }
            Self::ListsFromEtcd => {
                "List with resourceVersion=0 if a state some seconds old will do, or watch; API servers from 1.31 on answer such lists from the watch cache."
            }
            Self::FilterAfterReading => {
                "Selectors filter what was read: list with resourceVersion=0, which reads the watch cache, or keep an informer and look objects up in its index."
            }
            Self::ClientRateLimit => {
                "Raise QPS and Burst of the client's rest.Config if the API server can take it (client-go's defaults are 5 and 10, and priority and fairness protects the server since 1.20), or ask for less."
            }
            Self::RevisionWentBack => {
                "Check whether the client reaches API servers of different etcds by one address, and whether etcd was restored from a backup without raising its revision (etcdutl snapshot restore --bump-revision)."
            }
        }
    }
}
