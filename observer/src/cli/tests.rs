//! Promises of the command line about the core's identifiers.

use observer_core::observer::FindingKind;
use observer_core::reflector::{RelistCause, Stale};
use observer_core::routing::{proof, rule};

use crate::view::Meaning;

/// `RelistCause` documents this.
#[test]
fn explain_accepts_relist_causes() {
    let causes = [
        RelistCause::RefusedMisread,
        RelistCause::Expired { because: Stale::NoBookmarks },
        RelistCause::VeryShortWatch,
        RelistCause::WatchError { code: 500 },
    ];
    for cause in causes.map(|cause| cause.to_string()) {
        assert!(Meaning::of(&cause).is_some(), "{cause}");
    }
}

/// Otherwise `explain NAME` could explain only one of the two.
#[test]
fn causes_and_findings_have_no_name_of_a_rule() {
    let findings = FindingKind::ALL.iter().map(ToString::to_string);
    for name in observer_core::reflector::cause_names().chain(findings) {
        assert!(rule(&name).is_none() && proof(&name).is_none(), "{name}");
    }
}
