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
        "the API server answered /metrics with {status}: without its counters nothing can be compared. What is missing is the rule\n\n  \
         - nonResourceURLs: [\"/metrics\"]\n    verbs: [\"get\"]\n\nof a ClusterRole that is bound to you, as `system:monitoring` has it, or:\n\n  \
         kubectl create clusterrole watchtap-verify --verb=get --non-resource-url=/metrics\n  \
         kubectl create clusterrolebinding watchtap-verify --clusterrole=watchtap-verify --user=YOU"
    )]
    NoMetrics {
        /// 401 or 403.
        status: u16,
    },
    /// The server is too old.
    #[error("this API server ({version}) does not count its lists; 1.23 and later do")]
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
