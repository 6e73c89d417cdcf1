//! Checks a verdict against the answer.

use std::collections::BTreeSet;

use super::finding::{Finding, Shows};
use super::proof::{NOT_REFUSED, REFUSED_AS_PREDICTED};
use super::seen::Evidence;
use super::{list, recorded, refusal, watch};
use crate::k8s::Verb;
use crate::routing::rules;
use crate::routing::served_from::{Certainty, Fallback, Layer, ServedFrom, UnknownReason};
use crate::routing::verdict::Verdict;

const ANY_READ: &[Layer] = &[Layer::Cache, Layer::CacheConsistent, Layer::Snapshot, Layer::Etcd];

/// Updates a verdict with the evidence so far. Only the first proof counts; without one, the verdict stays as predicted.
pub fn weigh(verdict: &mut Verdict, evidence: &Evidence<'_>) {
    // A request that is passed on to a pod or an extension server gets its answer from there, which proves nothing.
    let is_passed_on = verdict.served_from == ServedFrom::Proxied || verdict.rule == rules::GET_CONNECT_ETCD;
    if verdict.proof.is_some() || is_passed_on {
        return;
    }
    let found = if evidence.is_success() { of_success(verdict, evidence) } else { refusal::finding(verdict, evidence) };
    if let Some(Finding { proof, shows }) = found {
        let applies = match shows {
            Shows::Layers(layers) => of_layers(verdict, layers, evidence.info.verb == Verb::List),
            Shows::Refused { etcd_touched, expected, rule } => {
                of_refusal(verdict, status_of(verdict, evidence), etcd_touched, expected, rule);
                true
            }
        };
        verdict.proof = applies.then_some(proof);
    }
}

fn of_success(verdict: &Verdict, evidence: &Evidence<'_>) -> Option<Finding> {
    let in_stream = verdict.rule == rules::WATCH_LIST_NO_PROGRESS;
    if let ServedFrom::Rejected { status, .. } = verdict.served_from {
        let as_predicted = in_stream && evidence.error.is_some_and(|error| error.code == status);
        if as_predicted {
            let shows = Shows::Refused { etcd_touched: false, expected: true, rule: verdict.rule };
            return Some(Finding { proof: REFUSED_AS_PREDICTED, shows });
        }
        let is_read = matches!(evidence.info.verb, Verb::Get | Verb::List | Verb::Watch);
        return (is_read && (!in_stream || evidence.initial_events_ended)).then_some(Finding::layers(NOT_REFUSED, ANY_READ));
    }
    let of_answer = list::finding(verdict.rule, evidence).or_else(|| watch::finding(evidence));
    of_answer.or_else(|| evidence.recorded.map(recorded::finding))
}

/// The status of a refusal. If the server sent it inside a watch that it answered with 200, this is the code of the `ERROR` event.
fn status_of(verdict: &Verdict, evidence: &Evidence<'_>) -> u16 {
    if let (ServedFrom::Rejected { status, .. }, true) = (&verdict.served_from, evidence.is_success()) {
        *status
    } else {
        evidence.status
    }
}

/// Applies a proof about layers. Returns whether it decides anything.
fn of_layers(verdict: &mut Verdict, layers: &'static [Layer], is_list: bool) -> bool {
    if let ServedFrom::Unknown { remaining, .. } = &verdict.served_from {
        let left: Vec<Layer> = remaining.iter().copied().filter(|layer| layers.contains(layer)).collect();
        return match left[..] {
            [only] => decide(verdict, only),
            [] => contradict(verdict, layers),
            _ => false,
        };
    }
    let Some(layer) = verdict.served_from.layer() else { return false };
    // A cache that is not ready does not contradict the rule: etcd then answers the list, and the server does not announce it.
    let in_place_of_the_cache = layer == Layer::Cache && is_list;
    let falls_back = verdict.otherwise.is_some_and(|otherwise| otherwise.then == Fallback::Etcd);
    if layers.contains(&layer) {
        let decides = layers.contains(&Layer::Etcd) == layers.iter().all(|layer| *layer == Layer::Etcd);
        if decides {
            verdict.certainty = Certainty::Confirmed;
        }
        decides
    } else if layers.contains(&Layer::Etcd) && (falls_back || in_place_of_the_cache) {
        verdict.served_from = ServedFrom::Etcd;
        verdict.certainty = Certainty::Confirmed;
        verdict.otherwise = None;
        let fallback = std::mem::take(&mut verdict.fallback_reads);
        verdict.reads.extend(fallback);
        if in_place_of_the_cache {
            verdict.rule = rules::SHOWN_BY_ANSWER;
        }
        true
    } else {
        contradict(verdict, layers)
    }
}

/// Decides an unknown verdict: `layer` is the only layer that remains.
fn decide(verdict: &mut Verdict, layer: Layer) -> bool {
    let Some(served_from) = of_layer(layer) else { return false };
    let mut holding = verdict.alternatives.iter().filter(|alternative| alternative.served_from == served_from);
    verdict.rule = rules::SHOWN_BY_ANSWER;
    if let (Some(alternative), None) = (holding.next(), holding.next()) {
        verdict.rule = alternative.rule;
        verdict.reads.clone_from(&alternative.reads);
        verdict.otherwise = alternative.otherwise;
    }
    verdict.served_from = served_from;
    verdict.certainty = Certainty::Confirmed;
    verdict.alternatives.clear();
    true
}

fn contradict(verdict: &mut Verdict, layers: &'static [Layer]) -> bool {
    let shown = match layers {
        [only] => of_layer(*only),
        _ => None,
    };
    let unknown = || {
        let remaining: BTreeSet<Layer> = layers.iter().copied().collect();
        ServedFrom::Unknown { reason: UnknownReason::Contradicted, remaining: remaining.into_iter().collect() }
    };
    let predicted = std::mem::replace(&mut verdict.served_from, shown.unwrap_or_else(unknown));
    note_contradiction(verdict, predicted);
    true
}

fn of_refusal(verdict: &mut Verdict, status: u16, etcd_touched: bool, expected: bool, rule: rules::RuleId) {
    let predicted = std::mem::replace(&mut verdict.served_from, ServedFrom::Rejected { status, etcd_touched });
    if expected {
        verdict.rule = rule;
        settle(verdict, Certainty::Confirmed);
    } else {
        note_contradiction(verdict, predicted);
    }
}

/// Marks the verdict as contradicted. The verdict keeps the rule of the wrong prediction.
fn note_contradiction(verdict: &mut Verdict, predicted: ServedFrom) {
    verdict.predicted = Some(Box::new(predicted));
    settle(verdict, Certainty::Contradicted);
}

/// Clears the predicted reads and alternatives, which no longer hold.
fn settle(verdict: &mut Verdict, certainty: Certainty) {
    verdict.certainty = certainty;
    verdict.otherwise = None;
    verdict.reads.clear();
    verdict.fallback_reads.clear();
    verdict.alternatives.clear();
}

const fn of_layer(layer: Layer) -> Option<ServedFrom> {
    match layer {
        Layer::Cache => Some(ServedFrom::Cache),
        Layer::CacheConsistent => Some(ServedFrom::CacheConsistent),
        Layer::Snapshot => Some(ServedFrom::Snapshot),
        Layer::Etcd => Some(ServedFrom::Etcd),
        Layer::Proxied | Layer::Rejected => None,
    }
}
