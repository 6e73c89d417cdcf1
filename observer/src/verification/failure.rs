//! Why nothing can be verified.

use crate::question::QuestionError;

/// A verification that cannot begin, or go on.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// No answer.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// No connection.
    #[error("{0:#}")]
    Connect(anyhow::Error),
    /// The counters are out of reach.
    #[error(
        "the API server answered /metrics with 403: without its counters nothing can be compared. What is missing is the rule\n\n  \
         - nonResourceURLs: [\"/metrics\"]\n    verbs: [\"get\"]\n\nof a ClusterRole that is bound to you, as `system:monitoring` has it, or:\n\n  \
         kubectl create clusterrole watchtap-verify --verb=get --non-resource-url=/metrics\n  \
         kubectl create clusterrolebinding watchtap-verify --clusterrole=watchtap-verify --user=YOU"
    )]
    NoMetrics,
    /// Nobody, to this server.
    #[error(
        "the API server answered /metrics with 401: it does not know who you are; are the credentials of this context still valid?"
    )]
    Unauthenticated,
    /// The counters are of somebody else.
    #[error(
        "GET {request} reads etcd in every version, and no counter of the server moved: are requests at this address spread over several \
         servers? Name one of them in the kubeconfig"
    )]
    NoWitness {
        /// Path of the object.
        request: String,
    },
    /// A log that does not say what it should.
    #[error(
        "{path} tells of no read that was just made: etcd has to log at level debug (--log-level=debug) and in JSON, it has to be the member \
         that this API server uses, and keys have to lie below /registry"
    )]
    SilentLog {
        /// The file.
        path: String,
    },
    /// The bound that was announced.
    #[error("{limit} requests were announced at most, and they are used up: connections to this API server end too often")]
    TooManyRequests {
        /// The bound.
        limit: u32,
    },
    /// The server is too old.
    #[error("this API server ({version}) does not count its reads by resource; 1.26 and later do")]
    NotCounted {
        /// What it says it is.
        version: String,
    },
    /// The rules have to know what they are held against.
    #[error("the API server says that its version is `{version}`, which no rule knows; give --server-version")]
    UnknownVersion {
        /// What it says it is.
        version: String,
    },
    /// The resource that was named is not served.
    #[error("this API server serves no resource `{name}`; name it as in `pods` or `deployments.apps`")]
    NoSuchResource {
        /// As it was given.
        name: String,
    },
    /// The resource that was named cannot be used.
    #[error("{name} cannot be used: {reason}")]
    Unsuitable {
        /// As it was given.
        name: String,
        /// Why, and what to do.
        reason: String,
    },
    /// No resource was found.
    #[error(
        "no resource was found that has two objects, may be listed and is read by nobody else; name one with --resource ({tried})"
    )]
    NothingQuiet {
        /// What was tried, and what was wrong with it.
        tried: String,
    },
    /// A log that was given cannot be read.
    #[error("cannot read {path}: {error}")]
    Log {
        /// The file.
        path: String,
        /// Why.
        error: std::io::Error,
    },
}
