//! Tests of the reads from etcd that verdicts predict.

use super::asking::{Request, server, verdict};
use crate::routing::{RevisionHistory, ServerProfile, route};
use crate::time::Timestamp;

const TOKEN: &str = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NTAwMCwic3RhcnQiOiJkZWZhdWx0L3hcdTAwMDAifQ";

#[test]
fn list_without_revision_reads_the_prefix_or_only_the_revision() {
    for (version, expected) in [
        ("1.30.0", "Range /registry/pods/ … /registry/pods0  limit 500 at the current revision"),
        ("1.31.0", "Range /registry/pods  limit 1, only to get the current revision"),
        ("1.37.0", "Range /registry/pods, only to get the current revision"),
    ] {
        assert_eq!(reads(version, "GET /api/v1/pods?limit=500"), [expected], "{version}");
    }
    assert_eq!(
        reads("1.33.1", "GET /api/v1/pods?limit=500"),
        [
            "Range /registry/pods  limit 1, only to get the current revision",
            "Range /registry/pods/ … /registry/pods0  limit 500 at the revision just returned",
        ]
    );
}

#[test]
fn scope_selectors_and_tokens_choose_the_keys() {
    for (request, expected) in [
        ("GET /api/v1/namespaces/default/pods", "Range /registry/pods/default/ … /registry/pods/default0 at the current revision"),
        (
            "GET /apis/example.com/v1/widgets",
            "Range /registry/example.com/widgets/ … /registry/example.com/widgets0 at the current revision",
        ),
        ("GET /api/v1/nodes/n1", "Range /registry/minions/n1 at the current revision"),
        ("GET /api/v1/namespaces/default", "Range /registry/namespaces/default at the current revision"),
        (
            "GET /api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dx",
            "Range /registry/pods/default/x at the current revision",
        ),
        (
            "GET /api/v1/pods?fieldSelector=metadata.name%3Dx,metadata.namespace%3Ddefault",
            "Range /registry/pods/default/x at the current revision",
        ),
        ("GET /api/v1/pods?fieldSelector=metadata.name%3Dx", "Range /registry/pods/ … /registry/pods0 at the current revision"),
        (
            "GET /api/v1/pods?limit=3&labelSelector=a",
            "Range /registry/pods/ … /registry/pods0  limit 3 at the current revision, repeated until enough objects match or everything is read",
        ),
    ] {
        assert_eq!(reads("1.30.0", request), [expected], "{request}");
    }
    let continued = format!("GET /api/v1/pods?limit=3&continue={TOKEN}");
    assert_eq!(reads("1.30.0", &continued), ["Range /registry/pods/default/x\\0 … /registry/pods0  limit 3 at revision 5000"]);
}

#[test]
fn only_exact_reads_pass_the_revision_to_etcd() {
    let uncached = |version: &str| ServerProfile { watch_cache: false, ..server(version) };
    for (version, request, expected) in [
        ("1.16.0", "GET /api/v1/pods?resourceVersion=7", "Range /registry/pods/ … /registry/pods0 at revision 7"),
        ("1.17.0", "GET /api/v1/pods?resourceVersion=7", "Range /registry/pods/ … /registry/pods0 at the current revision"),
        ("1.34.0", "GET /api/v1/pods?resourceVersion=7&limit=2", "Range /registry/pods/ … /registry/pods0  limit 2 at revision 7"),
        (
            "1.34.0",
            "GET /api/v1/pods?resourceVersion=7&limit=2&resourceVersionMatch=NotOlderThan",
            "Range /registry/pods/ … /registry/pods0  limit 2 at the current revision",
        ),
        (
            "1.34.0",
            "GET /api/v1/namespaces/d/pods?fieldSelector=metadata.name%3Dx&resourceVersion=7&resourceVersionMatch=Exact",
            "Range /registry/pods/d/x at revision 7",
        ),
        (
            "1.34.0",
            "GET /api/v1/namespaces/d/pods?fieldSelector=metadata.name%3Dx&resourceVersion=7&limit=2",
            "Range /registry/pods/d/x at the current revision",
        ),
        ("1.37.0", "GET /api/v1/pods", "RangeStream /registry/pods/ … /registry/pods0 at the current revision"),
    ] {
        let profile = uncached(version);
        let verdict = route(&Request::new(request).question(&profile, None)).unwrap();
        assert_eq!(texts(&verdict), [expected], "{version} {request}");
    }
}

#[test]
fn watch_in_etcd_lists_first_unless_it_has_a_revision() {
    assert_eq!(
        reads("1.34.0", "GET /api/v1/events?watch=true"),
        [
            "Range /registry/events/ … /registry/events0  limit 10000 at the current revision, repeated until enough objects match or everything is read",
            "Watch /registry/events/ … /registry/events0 from the next revision",
        ]
    );
    assert_eq!(
        reads("1.28.0", "GET /api/v1/pods?watch=true"),
        [
            "Range /registry/pods/ … /registry/pods0 at the current revision",
            "Watch /registry/pods/ … /registry/pods0 from the next revision",
        ]
    );
    assert_eq!(
        reads("1.34.0", "GET /apis/events.k8s.io/v1/namespaces/d/events?watch=true&resourceVersion=9"),
        ["Watch /registry/events/d/ … /registry/events/d0 from revision 10"]
    );
}

#[test]
fn cache_and_snapshot_read_nothing() {
    assert!(reads("1.34.0", "GET /api/v1/pods?resourceVersion=0").is_empty());
    let mut history = RevisionHistory::default();
    history.note(5000, Timestamp::from_nanos(999_000_000_000));
    let request = Request::new("GET /api/v1/pods?resourceVersion=5000&limit=3");
    let verdict = route(&request.question(&server("1.34.0"), Some(&history))).unwrap();
    assert_eq!((verdict.served_from.to_string().as_str(), verdict.reads.as_slice()), ("snapshot", [].as_slice()));
}

#[track_caller]
fn reads(version: &str, request: &str) -> Vec<String> {
    texts(&verdict(version, request))
}

fn texts(verdict: &crate::routing::Verdict) -> Vec<String> {
    verdict.reads.iter().map(ToString::to_string).collect()
}
