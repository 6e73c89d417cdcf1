//! A proof in one answer, and the conclusion from it.

use super::ProofId;
use crate::routing::Layer;
use crate::routing::rules::RuleId;

/// A proof in an answer, and the conclusion from it. It is not a finding of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) proof: ProofId,
    pub(super) shows: Shows,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// Only these layers can have answered. If there are none, no rule gives such an answer.
    Layers(&'static [Layer]),
    /// The request was refused, as `rule` states.
    Refused {
        /// Whether etcd was asked before the refusal.
        etcd_touched: bool,
        /// Whether the prediction allows this refusal.
        expected: bool,
        rule: RuleId,
    },
}

impl Finding {
    pub(super) const fn layers(proof: ProofId, layers: &'static [Layer]) -> Self {
        Self { proof, shows: Shows::Layers(layers) }
    }
}
