//! Tests of the verdicts of other versions, and of advice on cheaper requests.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::asking::{Request, server};
use crate::routing::{ServerProfile, across_versions, cheaper};

#[test]
fn paged_list_is_explained_for_all_versions() {
    check_versions(
        "GET /api/v1/pods?limit=500",
        &expect![[r"
            1.16 – 1.30 | etcd | list-unset-etcd
            1.31 – 1.32 | cache, consistent | list-unset-consistent | else etcd
            1.33.0 – 1.33.2 | etcd | list-unset-limit-etcd-bug
            1.33.3 – 1.37 | cache, consistent | list-unset-consistent | else etcd
        "]],
    );
}

/// Measured on a real 1.33.2: if the path or the selector also names the namespace, `apiserver_cache_list_total` and the count of
/// gets for the current revision rise.
#[test]
fn paged_single_key_list_is_cached_in_1_33_2() {
    let of_one_key = expect![[r"
        1.16 – 1.30 | etcd | list-unset-etcd
        1.31 – 1.37 | cache, consistent | list-unset-consistent | else etcd
    "]];
    check_versions("GET /api/v1/namespaces/d/podtemplates?fieldSelector=metadata.name%3Da&limit=3", &of_one_key);
    let selected = "metadata.name%3Da,metadata.namespace%3Dd";
    check_versions(&format!("GET /api/v1/podtemplates?fieldSelector={selected}&limit=3"), &of_one_key);
    check_versions(
        "GET /api/v1/podtemplates?fieldSelector=metadata.name%3Da&limit=3",
        &expect![[r"
            1.16 – 1.30 | etcd | list-unset-etcd
            1.31 – 1.32 | cache, consistent | list-unset-consistent | else etcd
            1.33.0 – 1.33.2 | etcd | list-unset-limit-etcd-bug
            1.33.3 – 1.37 | cache, consistent | list-unset-consistent | else etcd
        "]],
    );
}

#[test]
fn watch_without_revision_is_explained_for_all_versions() {
    check_versions(
        "GET /api/v1/pods?watch=true",
        &expect![[r"
            1.16 – 1.26 | cache | watch-unset-cache
            1.27.0 – 1.27.12 | etcd | watch-unset-etcd-bug
            1.27.13 – 1.27.x | cache | watch-unset-cache
            1.28.0 – 1.28.8 | etcd | watch-unset-etcd-bug
            1.28.9 – 1.28.x | cache | watch-unset-cache
            1.29.0 – 1.29.3 | etcd | watch-unset-etcd-bug
            1.29.4 – 1.31 | cache | watch-unset-cache
            1.32 | cache, consistent | watch-unset-consistent | else an ERROR event 504 in the watch
            1.33 | cache | watch-unset-cache
            1.34 – 1.37 | cache, consistent | watch-unset-consistent | else an ERROR event 504 in the watch
        "]],
    );
}

#[test]
fn exact_list_is_explained_for_all_versions() {
    check_versions(
        "GET /api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact",
        &expect![[r"
            1.16 – 1.18 | cache | list-rv | else refused with 504
            1.19 – 1.33 | etcd | list-exact-etcd
            1.34 – 1.37 | unknown | unknown-snapshot
        "]],
    );
}

#[test]
fn advice_applies_to_the_request() {
    for (version, request, expected) in [
        (
            "1.30.4",
            "GET /api/v1/pods?limit=500",
            vec![
                "resourceVersion=0 (cache, may be stale)",
                "an informer",
                "API server 1.31 – 1.32 or ≥ 1.33.3 (then from cache, consistent)",
            ],
        ),
        (
            "1.33.1",
            "GET /api/v1/pods?limit=500",
            vec!["resourceVersion=0 (cache, may be stale)", "an informer", "API server ≥ 1.33.3 (then from cache, consistent)"],
        ),
        (
            "1.30.4",
            "GET /api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact",
            vec![
                "resourceVersion=0 (cache, may be stale)",
                "an informer",
                "API server ≥ 1.34 (then from a snapshot, while the cache keeps it)",
            ],
        ),
        ("1.34.4", "GET /api/v1/namespaces/d/pods/x", vec!["resourceVersion=0 (cache, may be stale)", "an informer"]),
        ("1.34.4", "GET /api/v1/pods?limit=500", vec![]),
        ("1.34.4", "GET /api/v1/events", vec![]),
    ] {
        let request_read = Request::new(request);
        assert_eq!(cheaper(&request_read.question(&server(version), None)), expected, "{version} {request}");
    }
}

#[test]
fn advice_names_etcd_where_it_is_the_obstacle() {
    let profile = ServerProfile { etcd: crate::routing::EtcdSupport::Version("3.5.10".parse().unwrap()), ..server("1.34.4") };
    let request = Request::new("GET /api/v1/pods?limit=500");
    let advice = cheaper(&request.question(&profile, None));
    assert!(advice.contains(&"etcd ≥ 3.5.13, in 3.4 ≥ 3.4.31 (then from cache, consistent)".to_owned()), "{advice:?}");
}

#[track_caller]
fn check_versions(request: &str, expected: &Expect) {
    let request = Request::new(request);
    let mut text = String::new();
    for span in across_versions(&request.info, &request.options, &ServerProfile::default()) {
        let verdict = &span.verdict;
        write!(text, "{} | {} | {}", span.versions, verdict.served_from, verdict.rule).unwrap();
        if let Some(otherwise) = verdict.otherwise {
            write!(text, " | else {}", otherwise.then).unwrap();
        }
        text.push('\n');
    }
    expected.assert_eq(&text);
}
