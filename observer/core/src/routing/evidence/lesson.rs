//! What a contradiction teaches of the server.
//!
//! Most contradictions have several explanations, and teach nothing. A gate is learned where the version is the server's own word, nothing
//! else speaks of the gate, and the answer has no other explanation.

use super::proof::{NOT_REFUSED, VALIDATED};
use crate::k8s::Status;
use crate::routing::gates::Gate;
use crate::routing::profile::{Basis, ServerProfile};
use crate::routing::rules;
use crate::routing::verdict::Verdict;

/// What kube-apiserver says to a watch with `sendInitialEvents` where the gate is off (kubernetes/apimachinery
/// `pkg/apis/meta/internalversion/validation/validation.go`, v0.27 to v0.36).
const GATE_IS_OFF: &str = "unless the WatchList feature gate is enabled";

/// The gate, and whether it is on, if the answer shows that it is not at the default of the server's version. `refusal` is the `Status` of
/// the answer.
pub fn lesson(profile: &ServerProfile, verdict: &Verdict, refusal: Option<&Status>) -> Option<(Gate, bool)> {
    let gate = Gate::WatchList;
    // Flags and metrics are in `gates` without being in `gates_by_answers`; where servers disagree, it is the other way round.
    let is_open = profile.provenance.version == Basis::VersionEndpoint
        && profile.provenance.gates == Basis::MinorDefault
        && profile.gates.contains_key(&gate) == profile.gates_by_answers.contains(&gate);
    let on = match verdict.proof? {
        VALIDATED if refusal.is_some_and(|said| said.message.contains(GATE_IS_OFF)) => false,
        NOT_REFUSED if verdict.rule == rules::REFUSED_INITIAL_GATE_OFF => true,
        _other => return None,
    };
    is_open.then_some((gate, on))
}
