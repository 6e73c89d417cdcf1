//! The verdict on one request.

use serde::Serialize;

use super::etcd_read::EtcdRead;
use super::evidence::ProofId;
use super::history::RevisionHistory;
use super::profile::ServerProfile;
use super::rules::RuleId;
use super::served_from::{Certainty, Otherwise, ServedFrom};
use crate::k8s::{ListOptions, RequestInfo};
use crate::time::Timestamp;

/// Whether the watch cache of the resource is filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheState {
    /// It is.
    #[default]
    Ready,
    /// It is not: the server just started, or the cache is filled anew.
    NotReady,
}

/// What is to be decided.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The request.
    pub info: &'q RequestInfo,
    /// Its options.
    pub options: &'q ListOptions,
    /// The server.
    pub profile: &'q ServerProfile,
    /// What is assumed of the watch cache.
    pub cache: CacheState,
    /// The revisions of this resource that were seen as current; `None` when nothing was seen.
    pub history: Option<&'q RevisionHistory>,
    /// When the request is made.
    pub now: Timestamp,
}

/// Which layer answers, why, and how sure that is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The layer.
    pub served_from: ServedFrom,
    /// The rule that fired.
    pub rule: RuleId,
    /// How sure it is; `Predicted` until a response was seen.
    pub certainty: Certainty,
    /// What in the answer confirmed or contradicted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProofId>,
    /// What was predicted, if the answer contradicts it; `served_from` is then what the answer shows, `rule` what was wrong here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Box<ServedFrom>>,
    /// The second outcome, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Otherwise>,
    /// What is read from etcd, in order, without what a second outcome reads. Empty for an unknown layer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<EtcdRead>,
    /// What remains possible when the layer is unknown; empty when that is for want of the version: then every version answers
    /// ([`across_versions`](super::across_versions)).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// What else is worth knowing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<&'static str>,
    /// Whether the server may ask etcd for its current revision before it looks whether the watch cache is ready; it matters once the
    /// answer is that it was not.
    #[serde(skip)]
    pub(super) asks_before_ready: bool,
}

/// One of the verdicts that remain possible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alternative {
    /// On which condition.
    pub when: String,
    /// The layer.
    pub served_from: ServedFrom,
    /// The rule.
    pub rule: RuleId,
    /// The second outcome, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Otherwise>,
    /// What is read from etcd then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<EtcdRead>,
}
