//! Learns a feature gate from an answer that contradicts its verdict.
//!
//! Most contradictions have several explanations, so nothing is learned from them. A gate is learned only if watchtap read the
//! version from `/version`, no other source states the gate, and the answer has no other explanation.

use super::proof::{NOT_REFUSED, VALIDATED};
use crate::k8s::Status;
use crate::routing::gates::Gate;
use crate::routing::profile::{Basis, ServerProfile};
use crate::routing::rules;
use crate::routing::verdict::Verdict;

/// kube-apiserver's message for a watch with `sendInitialEvents` while the gate is off (kubernetes/apimachinery
/// `pkg/apis/meta/internalversion/validation/validation.go`, v0.27 to v0.36).
const GATE_IS_OFF: &str = "unless the WatchList feature gate is enabled";

/// The gate and whether it is on, if the answer shows that its state is not the default of the server's version. `refusal` is the
/// `Status` of the answer.
pub fn lesson(profile: &ServerProfile, verdict: &Verdict, refusal: Option<&Status>) -> Option<(Gate, bool)> {
    let gate = Gate::WatchList;
    // A gate from a flag or from metrics is in `gates` alone. A gate on which servers disagree is in `gates_by_answers` alone.
    let is_open = profile.provenance.version == Basis::VersionEndpoint
        && profile.provenance.gates == Basis::MinorDefault
        && profile.gates.contains_key(&gate) == profile.gates_by_answers.contains(&gate);
    let on = match verdict.proof? {
        VALIDATED if refusal.is_some_and(|status| status.message.contains(GATE_IS_OFF)) => false,
        NOT_REFUSED if verdict.rule == rules::REFUSED_INITIAL_GATE_OFF => true,
        _other => return None,
    };
    is_open.then_some((gate, on))
}
