//! Promises of the command line about the core's identifiers.

use observer_core::reflector::{RelistCause, Stale};
use observer_core::routing::{proof, rule};

/// `RelistCause` documents this.
#[test]
fn explain_does_not_accept_relist_causes() {
    let causes = [RelistCause::RefusedMisread, RelistCause::Expired { because: Stale::NoBookmarks }, RelistCause::VeryShortWatch];
    for cause in causes.map(|cause| cause.to_string()) {
        assert!(rule(&cause).is_none() && proof(&cause).is_none(), "{cause} can be explained now: say so in cause.rs");
    }
}
