//! Proofs in successful answers to watches.

use super::finding::Finding;
use super::proof::{INITIAL_EVENTS_ENDED, WATCH_COMPACTED, WINDOW_PASSED};
use super::seen::Evidence;
use crate::k8s::Verb;
use crate::routing::Layer;

const FROM_CACHE: &[Layer] = &[Layer::Cache, Layer::CacheConsistent];

pub(super) fn finding(evidence: &Evidence<'_>) -> Option<Finding> {
    if evidence.info.verb != Verb::Watch || !evidence.is_success() {
        return None;
    }
    if evidence.initial_events_ended {
        return Some(Finding::layers(INITIAL_EVENTS_ENDED, &[Layer::Cache, Layer::CacheConsistent, Layer::Etcd]));
    }
    let error = evidence.error.filter(|error| error.code == 410)?;
    if error.message.starts_with("too old resource version: ") {
        Some(Finding::layers(WINDOW_PASSED, FROM_CACHE))
    } else if error.message.starts_with("The resourceVersion for the provided watch is too old") {
        Some(Finding::layers(WATCH_COMPACTED, &[Layer::Etcd]))
    } else {
        None
    }
}
