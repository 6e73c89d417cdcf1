//! The layers of the API server that can answer a request, and how sure a verdict about the layer is.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Where an answer comes from (§0.2 of docs/semantics.md). JSON uses the names of the variants.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ServedFrom {
    /// The watch cache's current state, after waiting up to 3 s for a revision if needed. Nothing is read from etcd.
    Cache,
    /// The watch cache, once it has reached the current revision of etcd. No object is read from etcd.
    CacheConsistent,
    /// An older state that the watch cache keeps. Nothing is read from etcd.
    Snapshot,
    /// The objects are read from etcd.
    Etcd,
    /// An extension server: the API server only proxies the request.
    Proxied,
    /// No layer: the request is refused, and no object is returned.
    Rejected {
        /// The HTTP status, or the code of the `ERROR` event in a watch that was answered with 200.
        status: u16,
        /// Whether the server sent a request to etcd before the refusal. Also true if the answer does not show how far the request
        /// got, so that etcd may have been asked.
        etcd_touched: bool,
    },
    /// The known facts do not decide the layer.
    Unknown {
        /// The fact that is missing.
        reason: UnknownReason,
        /// The layers that remain possible, in order.
        remaining: Vec<Layer>,
    },
}

/// The layer of an answer, without the details that [`ServedFrom`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Layer {
    /// As [`ServedFrom::Cache`].
    Cache,
    /// As [`ServedFrom::CacheConsistent`].
    CacheConsistent,
    /// As [`ServedFrom::Snapshot`].
    Snapshot,
    /// As [`ServedFrom::Etcd`].
    Etcd,
    /// As [`ServedFrom::Proxied`].
    Proxied,
    /// As [`ServedFrom::Rejected`].
    Rejected,
}

/// Why a verdict is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnknownReason {
    /// The server's version is unknown.
    VersionUnknown,
    /// The server is older than every version that the tables cover.
    VersionTooOld,
    /// The patch of the server's version is unknown, and patches differ.
    PatchUnknown,
    /// It is unknown whether etcd answers progress requests.
    EtcdUnknown,
    /// It is unknown whether the resource has namespaces, and so whether the list reads one key.
    ScopeUnknown,
    /// It is unknown whether the watch cache still holds a snapshot of the revision.
    SnapshotUnknown,
    /// No row of the tables covers the request.
    NoRule,
    /// The answer contradicts the prediction, and leaves several layers possible, or none.
    Contradicted,
    /// The request was sent before its connection was observed, or cannot be read without earlier bytes.
    AttachedLate,
}

/// How sure a verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Certainty {
    /// It follows from the request and the known facts about the server.
    Predicted,
    /// The response proved it.
    Confirmed,
    /// The response disproved it.
    Contradicted,
}

/// The second outcome of a request. Under a certain condition, such as a cache that lags, it replaces the expected outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Otherwise {
    /// The condition of the second outcome, in words.
    pub when: &'static str,
    /// The second outcome.
    pub then: Fallback,
}

/// Kinds of second outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Fallback {
    /// The answer is read from etcd.
    Etcd,
    /// The request is refused.
    Rejected {
        /// HTTP status of the refusal.
        status: u16,
    },
    /// The watch is answered with 200 and one `ERROR` event.
    ErrorEvent {
        /// The code in the event's `Status`.
        code: u16,
    },
}

impl ServedFrom {
    /// The layer; `None` for [`ServedFrom::Unknown`].
    pub const fn layer(&self) -> Option<Layer> {
        match self {
            Self::Cache => Some(Layer::Cache),
            Self::CacheConsistent => Some(Layer::CacheConsistent),
            Self::Snapshot => Some(Layer::Snapshot),
            Self::Etcd => Some(Layer::Etcd),
            Self::Proxied => Some(Layer::Proxied),
            Self::Rejected { .. } => Some(Layer::Rejected),
            Self::Unknown { .. } => None,
        }
    }

    /// The layers that may have answered: the known layer, or all that remain possible if it is unknown.
    pub fn layers(&self) -> BTreeSet<Layer> {
        match self {
            Self::Unknown { remaining, .. } => remaining.iter().copied().collect(),
            Self::Cache | Self::CacheConsistent | Self::Snapshot | Self::Etcd | Self::Proxied | Self::Rejected { .. } => {
                self.layer().into_iter().collect()
            }
        }
    }
}

impl Otherwise {
    /// Whether the second outcome is a refusal with this HTTP status.
    pub fn is_refusal(&self, status: u16) -> bool {
        self.then == Fallback::Rejected { status }
    }
}

impl fmt::Display for ServedFrom {
    /// Writes the words that every screen uses.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Cache => "cache",
            Self::CacheConsistent => "cache, consistent",
            Self::Snapshot => "snapshot",
            Self::Etcd => "etcd",
            Self::Proxied => "proxied",
            Self::Rejected { .. } => "refused",
            Self::Unknown { .. } => "unknown",
        })
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Cache => "cache",
            Self::CacheConsistent => "cache, consistent",
            Self::Snapshot => "snapshot",
            Self::Etcd => "etcd",
            Self::Proxied => "proxied",
            Self::Rejected => "refused",
        })
    }
}

impl fmt::Display for UnknownReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::VersionUnknown => "server version unknown",
            Self::VersionTooOld => "server older than 1.16",
            Self::PatchUnknown => "patch of the server version unknown",
            Self::EtcdUnknown => "unknown whether etcd answers progress requests",
            Self::ScopeUnknown => "unknown whether the resource is namespaced",
            Self::SnapshotUnknown => "unknown whether a snapshot of that revision is left",
            Self::NoRule => "no rule covers the request",
            Self::Contradicted => "the answer contradicts the known facts about the server",
            Self::AttachedLate => "attached late",
        })
    }
}

impl fmt::Display for Fallback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Etcd => formatter.write_str("etcd"),
            Self::Rejected { status } => write!(formatter, "refused with {status}"),
            Self::ErrorEvent { code } => write!(formatter, "an ERROR event {code} in the watch"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_names_of_the_types() {
        let unknown = ServedFrom::Unknown { reason: UnknownReason::SnapshotUnknown, remaining: vec![Layer::Snapshot, Layer::Etcd] };
        for (served_from, expected) in [
            (ServedFrom::CacheConsistent, r#""CacheConsistent""#),
            (ServedFrom::Rejected { status: 429, etcd_touched: true }, r#"{"Rejected":{"status":429,"etcd_touched":true}}"#),
            (unknown, r#"{"Unknown":{"reason":"SnapshotUnknown","remaining":["Snapshot","Etcd"]}}"#),
        ] {
            assert_eq!(serde_json::to_string(&served_from).unwrap(), expected);
        }
    }
}
