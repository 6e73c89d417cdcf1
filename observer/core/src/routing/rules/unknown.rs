//! Rules for verdicts that the facts do not decide.

use super::rule::{ReadsOf, Rule, RuleId, rules};
use crate::routing::served_from::UnknownReason;

const NONE: &str = "none: it is this observer that does not know";

rules! {
    UNKNOWN_VERSION = "unknown-version", "§1, §2", NONE, Undecided,
        "the server's version is not known, and versions differ; give it with --server-version";
    UNKNOWN_VERSION_TOO_OLD = "unknown-version-too-old", "§0.1", NONE, Undecided,
        "the server is older than 1.16, the oldest version whose rules were read";
    UNKNOWN_PATCH = "unknown-patch", "§0.3", NONE, Undecided,
        "the patch of the server's version is not known, and patches of this minor differ; give the full version";
    UNKNOWN_ETCD = "unknown-etcd", "§1.8", NONE, Undecided,
        "whether etcd answers progress requests is not known (3.4.31 and 3.5.13 do); give its version with --etcd-version";
    UNKNOWN_SCOPE = "unknown-scope", "§1.1", NONE, Undecided,
        "whether the resource has namespaces is not known, and with it whether the list by name reads one key or a prefix";
    UNKNOWN_SNAPSHOT = "unknown-snapshot", "§1.4, §9 step 6", NONE, Undecided,
        "this run did not see that revision as current within the last 75 s, so the watch cache may or may not hold a snapshot of it";
    UNKNOWN_NO_RULE = "unknown-no-rule", "§9", NONE, Undecided,
        "no row of the tables covers the request, which is a defect of the tables";
    UNKNOWN_CONTRADICTED = "unknown-contradicted", "§4.3, §9 step 7", NONE, Undecided,
        "the answer is none that what is known of the server allows, and does not show which layer gave it";
    UNKNOWN_ATTACHED_LATE = "unknown-attached-late", "§9", NONE, Undecided,
        "the connection was open before it was observed, and what the request asks was sent before or cannot be read without that";
    SHOWN_BY_ANSWER = "shown-by-answer", "§9 step 7", NONE, Undecided,
        "what is known of the server does not decide it (its version, or whether its watch cache was ready), but the answer shows which layer gave it";
}

/// The rule that an unknown verdict with this reason names.
pub(in crate::routing) const fn rule_of(reason: UnknownReason) -> RuleId {
    match reason {
        UnknownReason::VersionUnknown => UNKNOWN_VERSION,
        UnknownReason::VersionTooOld => UNKNOWN_VERSION_TOO_OLD,
        UnknownReason::PatchUnknown => UNKNOWN_PATCH,
        UnknownReason::EtcdUnknown => UNKNOWN_ETCD,
        UnknownReason::ScopeUnknown => UNKNOWN_SCOPE,
        UnknownReason::SnapshotUnknown => UNKNOWN_SNAPSHOT,
        UnknownReason::NoRule => UNKNOWN_NO_RULE,
        UnknownReason::Contradicted => UNKNOWN_CONTRADICTED,
        UnknownReason::AttachedLate => UNKNOWN_ATTACHED_LATE,
    }
}
