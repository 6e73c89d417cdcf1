//! Rules for unknown verdicts, one for each reason.

use super::rule::{ReadsOf, Rule, RuleId, rules};
use crate::routing::served_from::UnknownReason;

const NONE: &str = "none: watchtap lacks the fact";

rules! {
    UNKNOWN_VERSION = "unknown-version", "§1, §2", NONE, Undecided,
        "the server's version is unknown, and versions differ; pass --server-version";
    UNKNOWN_VERSION_TOO_OLD = "unknown-version-too-old", "§0.1", NONE, Undecided,
        "the server is older than 1.16, the oldest version with known rules";
    UNKNOWN_PATCH = "unknown-patch", "§0.3", NONE, Undecided,
        "the server's patch version is unknown, and patches of this minor differ; pass the full version";
    UNKNOWN_ETCD = "unknown-etcd", "§1.8", NONE, Undecided,
        "it is unknown whether etcd answers progress requests (etcd 3.4.31 or later in 3.4, otherwise 3.5.13 or later, does); pass --etcd-version";
    UNKNOWN_SCOPE = "unknown-scope", "§1.1", NONE, Undecided,
        "it is unknown whether the resource is namespaced, so a list by name may read one key or a prefix";
    UNKNOWN_SNAPSHOT = "unknown-snapshot", "§1.4, §9 step 6", NONE, Undecided,
        "watchtap did not observe that revision as current within the last 75 s; the watch cache may or may not have a snapshot of it";
    UNKNOWN_NO_RULE = "unknown-no-rule", "§9", NONE, Undecided,
        "no rule covers the request; please report it";
    UNKNOWN_CONTRADICTED = "unknown-contradicted", "§4.3, §9 step 7", NONE, Undecided,
        "the answer contradicts the known facts about the server, and does not show which layer answered";
    UNKNOWN_ATTACHED_LATE = "unknown-attached-late", "§9", NONE, Undecided,
        "the connection was open before watchtap attached; the request was sent earlier, or cannot be decoded without the earlier bytes";
    SHOWN_BY_ANSWER = "shown-by-answer", "§9 step 7", NONE, Undecided,
        "the version and the state of the watch cache leave several layers possible, but the answer shows which one it was";
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
