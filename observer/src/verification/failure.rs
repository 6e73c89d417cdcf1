//! Why a verification cannot begin or continue.

use crate::api_server::request::QuestionError;

/// A verification that cannot begin or continue.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A request failed.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// A connection failed.
    #[error("{0:#}")]
    Connect(anyhow::Error),
    /// The user may not read the counters.
    #[error(
        "the API server answered /metrics with 403: without its counters nothing can be compared. You need the rule\n\n  - \
         nonResourceURLs: [\"/metrics\"]\n    verbs: [\"get\"]\n\nin a ClusterRole that is bound to you, such as \
         `system:monitoring`:\n\n  kubectl create clusterrole watchtap-verify --verb=get --non-resource-url=/metrics\n  \
         kubectl create clusterrolebinding watchtap-verify --clusterrole=watchtap-verify --user=YOU"
    )]
    NoMetrics,
    /// The server does not accept the user's credentials.
    #[error("the API server answered /metrics with 401: it rejected your credentials; are those of this context still valid?")]
    Unauthenticated,
    /// The counters do not show a read that must happen. They probably belong to another server.
    #[error(
        "GET {request} reads etcd in every version, but no counter of the server moved: is this address load-balanced over \
         several servers? Name one of them in the kubeconfig"
    )]
    NoWitness {
        /// Path of the object.
        request: String,
    },
    /// etcd's log does not show reads that must happen.
    #[error(
        "{path} contains none of the last reads. It must be the log of the etcd member that this API server uses, at level debug \
         (--log-level=debug), in JSON, with keys below /registry"
    )]
    SilentLog {
        /// The log file's path.
        path: String,
    },
    /// The announced maximum number of requests was reached.
    #[error("the announced maximum of {limit} requests was reached: connections to this API server are closed too often")]
    TooManyRequests {
        /// The announced number.
        limit: u32,
    },
    /// The server's version is too old: it does not count reads by resource.
    #[error("this API server ({version}) does not count reads by resource; 1.26 and later do")]
    NotCounted {
        /// The version that it reports.
        version: String,
    },
    /// The server's version cannot be parsed, so no rules apply.
    #[error("the API server reports version `{version}`, which no rule covers; pass --server-version")]
    UnknownVersion {
        /// The version that it reports.
        version: String,
    },
    /// The server does not serve the named resource.
    #[error("this API server serves no resource `{name}`; write it like `pods` or `deployments.apps`")]
    NoSuchResource {
        /// As it was given.
        name: String,
    },
    /// The named resource cannot be used.
    #[error("{name} cannot be used: {reason}")]
    Unsuitable {
        /// As it was given.
        name: String,
        /// The reason, and the remedy.
        reason: String,
    },
    /// No suitable resource was found.
    #[error("found no idle resource with two objects that you may list; name one with --resource ({tried})")]
    NothingQuiet {
        /// The resources tried, each with its problem.
        tried: String,
    },
    /// A given log cannot be read.
    #[error("cannot read {path}: {error}")]
    Log {
        /// The log file's path.
        path: String,
        /// The system's error.
        error: std::io::Error,
    },
}
