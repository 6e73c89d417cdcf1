//! Proofs in successful answers to lists.

use super::finding::Finding;
use super::proof::{BEHIND_WHAT_WAS_SEEN, MORE_THAN_LIMIT, OTHER_REVISION, PAGED_AT_RV0};
use super::seen::{Asked, Evidence};
use crate::k8s::{Continue, ResourceVersion, ResourceVersionMatch};
use crate::routing::Layer;
use crate::routing::rules::RuleId;

pub(super) fn finding(rule: RuleId, evidence: &Evidence<'_>) -> Option<Finding> {
    let list = evidence.answered_list()?;
    let options = evidence.options;
    let limited_at_rv0 =
        options.resource_version == ResourceVersion::Any && options.limit > 0 && options.continue_token == Continue::Unset;
    if limited_at_rv0 && evidence.items > options.limit {
        return Some(Finding::layers(MORE_THAN_LIMIT, &[Layer::Cache, Layer::CacheConsistent]));
    }
    if limited_at_rv0 && list.continues && options.resource_version_match == ResourceVersionMatch::Unset {
        return Some(Finding::layers(PAGED_AT_RV0, &[Layer::Etcd]));
    }
    match (evidence.asked(rule), list.revision) {
        (Asked::Exactly(named), Some(revision)) if revision != named => Some(Finding::layers(OTHER_REVISION, &[])),
        (Asked::Present, Some(revision)) => {
            let wanted = if let ResourceVersion::At(least) = options.resource_version { least } else { 0 };
            if revision < wanted {
                return Some(Finding::layers(OTHER_REVISION, &[]));
            }
            let shown = evidence.shown_before?;
            (revision < shown).then_some(Finding::layers(BEHIND_WHAT_WAS_SEEN, &[Layer::Cache]))
        }
        (Asked::Exactly(_), Some(_) | None) | (Asked::Present, None) | (Asked::Unclear, _) => None,
    }
}
