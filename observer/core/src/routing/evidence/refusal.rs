//! Proofs in refusals and other failures.

use super::finding::{Finding, Shows};
use super::proof::{
    CACHE_NOT_READY, COMPACTED_IN_ETCD, FAILED, FLOW_CONTROL, ProofId, REFUSED, REFUSED_AS_PREDICTED, TOO_LARGE_IN_CACHE,
    TOO_LARGE_IN_ETCD, VALIDATED,
};
use super::seen::Evidence;
use crate::k8s::{Status, Verb};
use crate::routing::etcd_read::Purpose;
use crate::routing::rules::{self, RuleId};
use crate::routing::served_from::{Fallback, Layer, ServedFrom};
use crate::routing::verdict::Verdict;

/// Options whose validation depends on the server's version and gates.
const VALIDATED_OPTIONS: [&str; 4] = ["continue", "resourceVersion", "resourceVersionMatch", "sendInitialEvents"];

/// The proof in a status other than 2xx: no layer delivered an object. Some of these statuses also show how far the request got.
/// Two of them prove nothing, so the verdict stays as predicted. One is the 404 of a get: every layer answers 404 if it does not
/// find the object. The other is a 500 if etcd was predicted, because it may be etcd's own error.
pub(super) fn finding(verdict: &Verdict, evidence: &Evidence<'_>) -> Option<Finding> {
    let status = evidence.status;
    if let ServedFrom::Rejected { status: predicted, etcd_touched } = verdict.served_from
        && predicted == status
    {
        return Some(refused(REFUSED_AS_PREDICTED, etcd_touched, true, verdict.rule));
    }
    // A read that waits for the current revision asks etcd for it before it times out or is refused.
    let asks_first = verdict.reads.iter().any(|read| read.purpose == Purpose::CurrentRevision);
    let layer = verdict.served_from.layer();
    let is_collection = matches!(evidence.info.verb, Verb::List | Verb::Watch);
    match (status, evidence.refusal) {
        (429, _) if evidence.plain_text => Some(refused(FLOW_CONTROL, false, true, rules::REFUSED_BY_STATUS)),
        (429, Some(refusal)) if is_collection && refusal.message.contains("storage is (re)initializing") => {
            // A request for which etcd is predicted does not ask the cache.
            let expected = layer != Some(Layer::Etcd);
            let touched = asks_first && verdict.asks_before_ready;
            Some(refused(CACHE_NOT_READY, touched, expected, rule_of_not_ready(evidence.info.verb, touched)))
        }
        (504 | 429, Some(refusal)) if is_too_large(refusal) && has_details(refusal) => {
            Some(too_large(verdict, refusal, asks_first))
        }
        (410, Some(refusal)) if evidence.info.verb == Verb::List && refusal.reason == "Expired" => {
            let expected = !matches!(layer, Some(Layer::Cache | Layer::CacheConsistent));
            Some(refused(COMPACTED_IN_ETCD, true, expected, rules::REFUSED_BY_STATUS))
        }
        (422, Some(refusal))
            if is_collection && refusal.causes.iter().any(|cause| VALIDATED_OPTIONS.contains(&cause.field.as_str())) =>
        {
            Some(refused(VALIDATED, false, false, rules::REFUSED_BY_STATUS))
        }
        // A proxy in front of the API server answers 429 and 503 too, but without a `Status`. Then it is unknown how far the
        // request got.
        (400 | 401 | 403 | 405 | 406 | 413 | 415 | 422, _) | (429 | 503, Some(_)) => {
            Some(refused(REFUSED, asks_first && status == 429, true, rules::REFUSED_BY_STATUS))
        }
        (504, _) if verdict.otherwise.is_some_and(|otherwise| otherwise.is_refusal(504)) => {
            Some(refused(REFUSED, asks_first, true, rules::REFUSED_BY_STATUS))
        }
        // A collection without objects is answered with 200, so a 404 means that the resource or its version does not exist.
        (404, _) if is_collection || evidence.plain_text => Some(refused(REFUSED, false, true, rules::REFUSED_BY_STATUS)),
        (404, _) => None,
        // etcd has errors of its own: a revision that it has not reached becomes a 500.
        (500, _) if verdict.served_from == ServedFrom::Etcd => None,
        // It is unknown how far the request got. If a read from etcd was predicted, etcd may have been asked.
        _ => {
            let may_have_read = !verdict.reads.is_empty() || verdict.served_from == ServedFrom::Etcd;
            Some(refused(FAILED, may_have_read, true, rules::REFUSED_BY_STATUS))
        }
    }
}

const fn refused(proof: ProofId, etcd_touched: bool, expected: bool, rule: RuleId) -> Finding {
    Finding { proof, shows: Shows::Refused { etcd_touched, expected, rule } }
}

fn too_large(verdict: &Verdict, refusal: &Status, asks_first: bool) -> Finding {
    let layer = verdict.served_from.layer();
    if refusal.retry_after_seconds.is_some_and(|seconds| seconds > 0) {
        let falls_back = verdict.otherwise.is_some_and(|otherwise| otherwise.then == Fallback::Etcd);
        let waits_for_nothing = verdict.rule == rules::LIST_RV0 || verdict.rule == rules::GET_RV0;
        let expected = layer != Some(Layer::Etcd) && !falls_back && !waits_for_nothing;
        return refused(TOO_LARGE_IN_CACHE, asks_first, expected, rules::REFUSED_BY_STATUS);
    }
    let expected = !matches!(layer, Some(Layer::Cache | Layer::CacheConsistent));
    refused(TOO_LARGE_IN_ETCD, true, expected, rules::REFUSED_BY_STATUS)
}

/// Whether `status` reports that the requested revision is too large. 1.18.6 and later send a cause for this; earlier releases send
/// only the message.
fn is_too_large(status: &Status) -> bool {
    status.causes.iter().any(|cause| cause.reason == "ResourceVersionTooLarge")
        || status.message.contains("Too large resource version")
}

/// Whether the details of a `Status` are known, which distinguish the layers. A log may have the message only.
const fn has_details(status: &Status) -> bool {
    status.retry_after_seconds.is_some() || !status.causes.is_empty()
}

fn rule_of_not_ready(verb: Verb, etcd_touched: bool) -> RuleId {
    match (verb, etcd_touched) {
        (Verb::Watch, _) => rules::WATCH_NOT_READY_REFUSED,
        (_, true) => rules::LIST_NOT_READY_REFUSED_LATE,
        (_, false) => rules::LIST_NOT_READY_REFUSED,
    }
}
