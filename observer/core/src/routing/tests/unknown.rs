//! Missing facts give `Unknown`, never a guess.

use super::asking::{Request, server, verdict};
use crate::routing::route::SAME_IN_ALL;
use crate::routing::version::Release;
use crate::routing::{EtcdSupport, Fallback, Gate, Layer, RevisionHistory, ServedFrom, ServerProfile, UnknownReason, route};
use crate::time::Timestamp;

#[test]
fn without_a_version_all_layers_of_all_versions_remain() {
    let list = unknown(&ServerProfile::default(), "GET /api/v1/pods?limit=500");
    assert_eq!(list, (UnknownReason::VersionUnknown, vec![Layer::CacheConsistent, Layer::Etcd]));
}

#[test]
fn without_a_version_a_layer_is_known_where_all_versions_agree() {
    for (request, layer, rule) in [
        ("GET /api/v1/namespaces/d/pods/x", ServedFrom::Etcd, "get-unset-etcd"),
        ("GET /api/v1/pods?resourceVersion=0", ServedFrom::Cache, "list-rv0"),
        ("GET /api/v1/pods?watch=1&resourceVersion=5", ServedFrom::Cache, "watch-rv"),
    ] {
        let verdict = route(&Request::new(request).question(&ServerProfile::default(), None)).unwrap();
        assert_eq!((&verdict.served_from, verdict.rule.as_str()), (&layer, rule), "{request}");
        assert!(verdict.reads.is_empty() && verdict.notes.contains(&SAME_IN_ALL));
    }
    assert!(SAME_IN_ALL.contains(&format!("1.{}", Release::NEWEST.minor)));
}

#[test]
fn minor_without_patch_is_unknown_only_where_patches_differ() {
    assert_eq!(
        unknown(&server("1.33"), "GET /api/v1/pods?limit=500"),
        (UnknownReason::PatchUnknown, vec![Layer::CacheConsistent, Layer::Etcd])
    );
    assert_eq!(verdict("1.33", "GET /api/v1/pods").served_from, ServedFrom::CacheConsistent);
    assert_eq!(verdict("1.34", "GET /api/v1/pods?limit=500").served_from, ServedFrom::CacheConsistent);
}

#[test]
fn unknown_etcd_matters_only_to_consistent_reads() {
    let profile = ServerProfile { etcd: EtcdSupport::Unknown, ..server("1.34.4") };
    let remaining = vec![Layer::CacheConsistent, Layer::Etcd];
    assert_eq!(unknown(&profile, "GET /api/v1/pods?limit=500"), (UnknownReason::EtcdUnknown, remaining));
    let exact = unknown(&profile, "GET /api/v1/pods?limit=500&resourceVersion=7");
    assert_eq!(exact, (UnknownReason::SnapshotUnknown, vec![Layer::Snapshot, Layer::Etcd]));
    let request = Request::new("GET /api/v1/pods?resourceVersion=0");
    assert_eq!(route(&request.question(&profile, None)).unwrap().served_from, ServedFrom::Cache);
}

#[test]
fn future_revision_reads_etcd_without_progress_requests() {
    let profile = ServerProfile { etcd: EtcdSupport::Version("3.5.10".parse().unwrap()), ..server("1.34.4") };
    let mut history = RevisionHistory::default();
    history.note(5000, Timestamp::from_nanos(990_000_000_000));
    let token = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NjAwMCwic3RhcnQiOiJ4XHUwMDAwIn0";
    for (request, rules) in [
        ("GET /api/v1/pods?limit=5&resourceVersion=6000".to_owned(), ["list-exact-ahead-etcd", "list-exact-snapshot"]),
        (format!("GET /api/v1/pods?limit=5&continue={token}"), ["list-continue-ahead-etcd", "list-continue-snapshot"]),
    ] {
        let verdict = route(&Request::new(&request).question(&profile, Some(&history))).unwrap();
        assert_eq!(verdict.alternatives.iter().map(|alternative| alternative.rule.as_str()).collect::<Vec<_>>(), rules);
    }
}

#[test]
fn custom_resource_by_name_is_unknown_where_its_scope_decides() {
    let exact = "GET /apis/example.com/v1/widgets?fieldSelector=metadata.name%3Dx&resourceVersion=7&resourceVersionMatch=Exact";
    assert_eq!(unknown(&server("1.34.4"), exact).0, UnknownReason::ScopeUnknown);
    assert_eq!(verdict("1.31.0", exact).served_from, ServedFrom::Etcd);
    let in_namespace = exact.replace("/widgets", "/namespaces/d/widgets");
    assert_eq!(verdict("1.34.4", &in_namespace).rule.as_str(), "list-exact-one-key-etcd");
}

#[test]
fn alternatives_carry_condition_rule_and_reads() {
    let verdict = verdict("1.34.4", "GET /api/v1/pods?limit=500&resourceVersion=7");
    let alternatives: Vec<(&str, &str, usize)> = verdict
        .alternatives
        .iter()
        .map(|alternative| (alternative.when.as_str(), alternative.rule.as_str(), alternative.reads.len()))
        .collect();
    assert_eq!(
        alternatives,
        [
            ("the watch cache still holds a snapshot of that revision", "list-exact-snapshot", 0),
            ("every snapshot is newer than that revision", "list-exact-old-etcd", 1),
        ]
    );
    assert_eq!(verdict.rule.as_str(), "unknown-snapshot");
}

#[test]
fn versions_outside_the_known_range_are_reported() {
    assert_eq!(unknown(&server("1.15.12"), "GET /api/v1/pods").0, UnknownReason::VersionTooOld);
    let borrowed = verdict("1.39.0", "GET /api/v1/pods");
    assert_eq!(borrowed.served_from, ServedFrom::CacheConsistent);
    assert_eq!(borrowed.notes, ["the server is newer than any version known here: rules of 1.37 used"]);
    assert_eq!(verdict("1.37.0", "GET /api/v1/pods").notes, ["the rules of 1.37 are those of a beta"]);
}

#[test]
fn requests_that_read_no_stored_objects_have_no_verdict() {
    for request in [
        "GET /version",
        "GET /apis/apps/v1",
        "POST /api/v1/namespaces/d/pods",
        "DELETE /api/v1/namespaces/d/pods/x",
        "GET /api/v1/componentstatuses",
        "GET /api/v1/proxy/namespaces/d/pods/x",
    ] {
        assert_eq!(route(&Request::new(request).question(&server("1.34.4"), None)), None, "{request}");
    }
}

#[test]
fn aggregated_groups_need_no_version() {
    let request = Request::new("GET /apis/metrics.k8s.io/v1beta1/pods");
    assert_eq!(route(&request.question(&ServerProfile::default(), None)).unwrap().served_from, ServedFrom::Proxied);
}

#[test]
fn connecting_subresource_reads_the_object_from_etcd() {
    for subresource in ["log", "exec", "proxy"] {
        let request = format!("GET /api/v1/namespaces/d/pods/x/{subresource}?resourceVersion=0");
        assert_eq!(verdict("1.34.4", &request).rule.as_str(), "get-connect-etcd");
    }
}

#[test]
fn gates_and_options_outside_of_the_oracle_have_their_rules() {
    let no_fallback = [(Gate::ConsistentListFromCacheSkipTimeoutFallback, true)].into();
    let profile = ServerProfile { gates: no_fallback, ..server("1.37.0") };
    let latest = "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoieFx1MDAwMCJ9";
    for (request, expected) in [
        (format!("GET /api/v1/pods?{latest}"), "list-continue-latest-no-fallback"),
        (
            "GET /api/v1/pods?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan".to_owned(),
            "watch-no-initial-unset",
        ),
        ("GET /api/v1/pods?resourceVersion=abc".to_owned(), "refused-version-no-number"),
        ("GET /api/v1/namespaces/d/pods/x?resourceVersion=abc".to_owned(), "refused-version-no-number"),
    ] {
        let verdict = route(&Request::new(&request).question(&profile, None)).unwrap();
        assert_eq!(verdict.rule.as_str(), expected, "{request}");
    }
}

/// Measured on real servers (`tests/cluster/matrix`), in agreement with cacher.go and store.go of each version.
#[test]
fn non_numeric_revision_is_refused_by_the_layer_parsing_it() {
    let refused = |status, etcd_touched| ServedFrom::Rejected { status, etcd_touched };
    let pods = "GET /api/v1/pods?resourceVersion=abc";
    for (version, request, expected) in [
        ("1.29.6", pods, refused(500, false)),
        ("1.31.14", pods, refused(500, false)),
        ("1.33.6", pods, refused(400, false)),
        ("1.36.3", pods, refused(400, false)),
        ("1.31.14", "GET /api/v1/pods?resourceVersion=abc&limit=3", refused(400, false)),
        ("1.31.14", "GET /api/v1/pods?resourceVersion=abc&resourceVersionMatch=Exact", refused(400, false)),
        ("1.31.14", "GET /api/v1/pods?resourceVersion=abc&limit=3&resourceVersionMatch=NotOlderThan", refused(500, false)),
        ("1.30.1", "GET /api/v1/pods?resourceVersion=abc&limit=3&resourceVersionMatch=NotOlderThan", refused(400, false)),
        ("1.31.14", "GET /api/v1/events?resourceVersion=abc", refused(400, false)),
        ("1.31.14", "GET /api/v1/namespaces/d/pods/x?resourceVersion=abc", refused(500, false)),
        ("1.31.14", "GET /api/v1/namespaces/d/events/x?resourceVersion=abc", refused(400, true)),
        ("1.31.14", "GET /api/v1/events?watch=true&resourceVersion=abc", refused(500, false)),
    ] {
        assert_eq!(verdict(version, request).served_from, expected, "{version} {request}");
    }
}

/// Measured on a real 1.29.6 (`tests/cluster/matrix`), in agreement with cacher.go of v0.27, v0.28 and v0.30.
#[test]
fn initial_events_before_1_30_are_consistent_only_with_bookmarks() {
    let layer = |version: &str, query: &str| {
        let profile = ServerProfile { gates: [(Gate::WatchList, true)].into(), ..server(version) };
        let request = format!("GET /api/v1/pods?watch=true&{query}");
        route(&Request::new(&request).question(&profile, None)).unwrap().served_from
    };
    let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    for (version, unmarked) in
        [("1.28.15", ServedFrom::Cache), ("1.29.6", ServedFrom::Cache), ("1.30.2", ServedFrom::CacheConsistent)]
    {
        for query in ["", initial] {
            assert_eq!(layer(version, query), unmarked, "{version} {query}");
            assert_eq!(layer(version, &format!("{query}&allowWatchBookmarks=true")), ServedFrom::CacheConsistent, "{version}");
        }
    }
}

/// Measured on real servers (`tests/cluster/matrix`), in agreement with store.go.
#[test]
fn deletecollection_lists_in_pages_from_1_28_on() {
    let profile = |version| ServerProfile { gates: [(Gate::ConsistentListFromCache, true)].into(), ..server(version) };
    let layer = |version, query: &str| {
        let request = format!("DELETE /api/v1/namespaces/d/pods?{query}");
        route(&Request::new(&request).question(&profile(version), None)).unwrap().served_from
    };
    assert_eq!(layer("1.29.6", ""), ServedFrom::Etcd, "with a limit it is not consistent before 1.31");
    assert_eq!(layer("1.27.9", "resourceVersion=5000"), ServedFrom::Cache);
    assert_eq!(layer("1.31.14", "resourceVersion=5000"), ServedFrom::Etcd, "an exact list");
    assert_eq!(layer("1.31.14", "resourceVersion=0"), ServedFrom::Cache);
}

/// Measured on real servers (`tests/cluster/matrix`), in agreement with watcher.go `startWatching` of each version.
#[test]
fn streaming_list_from_etcd_may_end_with_504() {
    let request = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let second = |query: &str| {
        let verdict = verdict("1.34.4", &format!("GET /api/v1/events?watch=true&{query}"));
        assert_eq!(verdict.served_from, ServedFrom::Etcd);
        verdict.otherwise.map(|otherwise| otherwise.then)
    };
    assert_eq!(second(&format!("{request}&resourceVersion=5000")), Some(Fallback::ErrorEvent { code: 504 }));
    assert_eq!(second(&format!("{request}&resourceVersion=0")), None);
    assert_eq!(second("resourceVersion=5000"), None);
}

#[test]
fn streaming_list_without_progress_requests_ends_in_an_error_event() {
    let profile = ServerProfile { etcd: EtcdSupport::Version("3.5.10".parse().unwrap()), ..server("1.34.4") };
    let request = Request::new("GET /api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=0");
    let verdict = route(&request.question(&profile, None)).unwrap();
    assert_eq!(verdict.served_from, ServedFrom::Rejected { status: 500, etcd_touched: false });
    assert_eq!(verdict.notes, ["the watch is answered with 200; the status comes in an ERROR event"]);
}

#[track_caller]
fn unknown(profile: &ServerProfile, request: &str) -> (UnknownReason, Vec<Layer>) {
    let served_from = route(&Request::new(request).question(profile, None)).unwrap().served_from;
    let ServedFrom::Unknown { reason, remaining } = served_from else { panic!("{request}: {served_from:?}") };
    (reason, remaining)
}
