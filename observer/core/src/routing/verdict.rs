//! The types of a routing question and of its answer, the verdict on one request.

use serde::Serialize;

use super::etcd_read::EtcdRead;
use super::evidence::ProofId;
use super::history::RevisionHistory;
use super::profile::ServerProfile;
use super::rules::{self, RuleId};
use super::served_from::{Certainty, Otherwise, ServedFrom};
use crate::k8s::{ListOptions, RequestInfo};
use crate::time::Timestamp;

/// Whether the watch cache of the resource is filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheState {
    /// It is filled.
    #[default]
    Ready,
    /// It is not filled: the server has just started, or its cache was reset.
    NotReady,
}

/// Everything that a verdict depends on.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The request.
    pub info: &'q RequestInfo,
    /// The list options of the request.
    pub options: &'q ListOptions,
    /// The server.
    pub profile: &'q ServerProfile,
    /// The assumed state of the watch cache.
    pub cache: CacheState,
    /// The revisions of this resource that were seen as current; `None` when nothing was seen.
    pub history: Option<&'q RevisionHistory>,
    /// When the request is made.
    pub now: Timestamp,
}

impl Verdict {
    /// Whether the resource has no watch cache (§3.1 of docs/semantics.md).
    pub fn is_of_uncached_resource(&self) -> bool {
        self.rule == rules::UNCACHED_RESOURCE
    }

    /// Whether the server refused the request because its watch cache was not filled yet.
    pub fn is_refused_by_unready_cache(&self) -> bool {
        let is_of_it = matches!(
            self.rule,
            rules::LIST_NOT_READY_REFUSED | rules::LIST_NOT_READY_REFUSED_LATE | rules::WATCH_NOT_READY_REFUSED
        );
        is_of_it && matches!(self.served_from, ServedFrom::Rejected { .. })
    }

    /// The certainty that the answer gives the layer. It is `Predicted` after failures that may occur before a request reaches the
    /// layer.
    pub fn certainty_about_the_layer(&self) -> Certainty {
        if self.proof.is_some_and(ProofId::is_about_the_layer) { self.certainty } else { Certainty::Predicted }
    }
}

/// Which layer answers, why, and how sure that is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The layer that answers.
    pub served_from: ServedFrom,
    /// The rule that gave the verdict.
    pub rule: RuleId,
    /// How sure the verdict is; `Predicted` until the answer proves something.
    pub certainty: Certainty,
    /// The proof in the answer that confirmed, contradicted or decided the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProofId>,
    /// The prediction, if the answer contradicts it. Then `served_from` has the layer that the answer shows, and `rule` has the
    /// rule of the prediction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Box<ServedFrom>>,
    /// The second outcome, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Otherwise>,
    /// Reads from etcd, in order, without those of a second outcome. Empty for an unknown layer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<EtcdRead>,
    /// The reads from etcd if etcd answers in place of the watch cache: the cache lags, or is not ready. They become `reads` once the
    /// answer shows that.
    #[serde(skip)]
    pub fallback_reads: Vec<EtcdRead>,
    /// The verdicts that remain possible when the layer is unknown. Empty if the server's version is unknown;
    /// [`across_versions`](super::across_versions) then gives the answers of all versions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// Remarks on the verdict, one phrase each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<&'static str>,
    /// Whether the server may ask etcd for its current revision before it checks whether the watch cache is ready. This matters
    /// once the answer shows that the cache was not ready.
    #[serde(skip)]
    pub(super) asks_before_ready: bool,
}

/// One of the verdicts that remain possible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alternative {
    /// Condition of this verdict.
    pub when: String,
    /// The layer that answers.
    pub served_from: ServedFrom,
    /// The rule of this verdict.
    pub rule: RuleId,
    /// The second outcome, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Otherwise>,
    /// Reads from etcd, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<EtcdRead>,
}
