//! etcd was restored from an older backup: revisions that were seen before prove nothing afterwards.

use observer_core::observer::{Limits, Snapshot};
use observer_core::routing::Certainty;

use crate::script::play;

const LIST_AT_200: &str = "0s server v1.34.4
     0s a connects
     1s a1 GET /api/v1/pods
     1s a1 whole rv=200 x@5
     2s a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=200&watch=true
     2s a3 opens";

/// A watch at a revision that does not exist yet gets it back as a bookmark. The value comes from the client, and proves nothing
/// about the server.
#[test]
fn bookmark_at_the_requested_revision_proves_nothing() {
    let snapshot = after(
        "10s refusing
         10s a closed by server
         13s listening
         14s b connects
         14s b1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=200&watch=true
         14s b1 opens
         15s b3 GET /api/v1/pods
         15s b3 whole rv=150 x@5
         60s b1 BOOKMARK @200
         61s b5 GET /api/v1/pods
         61s b5 whole rv=160 x@5
         62s b7 GET /api/v1/pods
         62s b7 whole rv=161 x@5",
    );
    assert_eq!(snapshot.totals.contradicted, 0);
}

#[test]
fn refusal_naming_an_earlier_revision_resets_the_newest_revision() {
    let snapshot = after(
        "3s a5 GET /api/v1/pods?resourceVersion=200
         6s a5 refused 504 Timeout too-large current=150
         7s a7 GET /api/v1/pods
         7s a7 whole rv=151 x@5",
    );
    let list = snapshot.requests.iter().find(|record| record.id.stream.0 == 7).unwrap();
    assert_eq!(list.verdict.as_ref().unwrap().certainty, Certainty::Predicted);
}

#[test]
fn created_object_at_an_earlier_revision_resets_the_newest_revision() {
    let snapshot = after(
        "3s a5 POST /api/v1/namespaces/default/pods
         3s a5 written y@151
         4s a7 GET /api/v1/pods
         4s a7 whole rv=151 x@5 y@151",
    );
    assert_eq!(snapshot.totals.contradicted, 0);
}

#[test]
fn late_answer_is_not_a_rollback() {
    let snapshot = after(
        "3s a5 POST /api/v1/namespaces/default/pods
         3s a3 ADDED z@202
         4s a5 written y@201
         5s a7 GET /api/v1/pods
         5s a7 whole rv=190 x@5",
    );
    assert_eq!(snapshot.totals.contradicted, 1, "the list is behind, and nothing shows that etcd was restored");
}

#[test]
fn earlier_request_is_not_checked_against_pre_rollback_revisions() {
    let snapshot = after(
        "3s a5 GET /api/v1/pods
         4s a7 POST /api/v1/namespaces/default/pods
         4s a7 written y@151
         5s a5 whole rv=151 x@5 y@151",
    );
    assert_eq!(snapshot.totals.contradicted, 0);
}

#[test]
fn reflector_is_not_compared_with_rolled_back_revisions() {
    let snapshot = after(
        "10s refusing
         10s a closed by server
         13s listening
         14s b connects client=c/v1
         14s b1 GET /api/v1/pods
         14s b1 whole rv=150 x@5
         15s b3 GET /api/v1/pods?resourceVersion=150&watch=true
         15s b3 opens",
    );
    let row = snapshot.reflectors.iter().find(|row| row.resource_version == Some(150)).unwrap();
    assert_eq!((row.behind, row.behind_store), (Some(0), Some(0)));
    assert_eq!((snapshot.exposure.watching, snapshot.exposure.reflectors), (1, 0));
}

fn after(script: &str) -> Snapshot {
    play(&format!("{LIST_AT_200}\n{script}"), Limits::default()).0
}
