//! What one proof shows.

use super::ProofId;
use crate::routing::Layer;
use crate::routing::rules::RuleId;

/// A proof that an answer gives, and what it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) proof: ProofId,
    pub(super) shows: Shows,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// Only these layers can have answered; none of them is an answer that no rule gives.
    Layers(&'static [Layer]),
    /// The request was refused, by this rule.
    Refused {
        /// Whether etcd was asked before.
        etcd_touched: bool,
        /// Whether what was predicted allows for it.
        expected: bool,
        rule: RuleId,
    },
}

impl Finding {
    pub(super) const fn layers(proof: ProofId, layers: &'static [Layer]) -> Self {
        Self { proof, shows: Shows::Layers(layers) }
    }
}
