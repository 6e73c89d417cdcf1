//! Tests of the effect of answers on a verdict.

use super::*;
use crate::k8s::{Status, StatusCause};
use crate::routing::tests::asking::{Request, server};
use crate::routing::{Basis, Certainty, Gate, Verdict, route};

const PODS: &str = "Range /registry/pods/ … /registry/pods0 at the current revision";
const NOTHING: Seen = Seen { status: 200, body: Body::Nothing, shown_before: None, recorded: None };

#[derive(Clone, Copy)]
struct Seen {
    status: u16,
    body: Body,
    shown_before: Option<u64>,
    recorded: Option<RecordedRead>,
}

#[derive(Clone, Copy)]
enum Body {
    Nothing,
    PlainText,
    List { revision: u64, items: u64, continues: bool },
    Status { reason: &'static str, message: &'static str, retry: Option<u32>, cause: (&'static str, &'static str) },
    Error { code: u16, message: &'static str },
    InitialEventsEnd,
}

const TOO_LARGE: Body = Body::Status {
    reason: "Timeout",
    message: "Timeout: Too large resource version: 900, current: 100",
    retry: Some(1),
    cause: ("ResourceVersionTooLarge", ""),
};
const TOO_LARGE_IN_ETCD: Body = Body::Status {
    reason: "Timeout",
    message: "Timeout: Too large resource version: 900, current: 100",
    retry: None,
    cause: ("ResourceVersionTooLarge", ""),
};
const EXPIRED: Body = Body::Status {
    reason: "Expired",
    message: "The resourceVersion for the provided list is too old.",
    retry: None,
    cause: ("", ""),
};
const NOT_READY: Body =
    Body::Status { reason: "TooManyRequests", message: "storage is (re)initializing", retry: Some(1), cause: ("", "") };
const INVALID: Body = Body::Status {
    reason: "Invalid",
    message: "ListOptions.meta.k8s.io is invalid",
    retry: None,
    cause: ("FieldValueForbidden", "sendInitialEvents"),
};
const WINDOW: Body = Body::Error { code: 410, message: "too old resource version: 7 (90)" };
const COMPACTED: Body = Body::Error { code: 410, message: "The resourceVersion for the provided watch is too old." };

const WATCH_LIST: &str =
    "GET /api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

#[test]
fn logs_show_whether_etcd_was_read() {
    let (consistent, old, paged) = ("GET /api/v1/pods", "GET /api/v1/pods?resourceVersion=0", "GET /api/v1/pods?limit=5");
    for (version, line, read, expected) in [
        ("v1.34.4", old, RecordedRead::NoEtcdTime, "Cache confirmed no-etcd-time-logged"),
        ("v1.34.4", old, RecordedRead::CacheList, "Cache confirmed cache-list-traced"),
        // The watch cache was not ready.
        ("v1.30.4", old, RecordedRead::EtcdTime, "Etcd confirmed etcd-time-logged"),
        ("v1.34.4", old, RecordedRead::EtcdRead, "Etcd confirmed etcd-read-logged"),
        // A consistent list reads the current revision, which the audit event may count or not.
        ("v1.34.4", consistent, RecordedRead::EtcdTime, "CacheConsistent predicted"),
        ("v1.34.4", consistent, RecordedRead::NoEtcdTime, "CacheConsistent confirmed no-etcd-time-logged"),
        ("v1.34.4", consistent, RecordedRead::EtcdList, "Etcd confirmed etcd-list-traced"),
        ("v1.30.4", paged, RecordedRead::EtcdTime, "Etcd predicted"),
        ("v1.30.4", paged, RecordedRead::EtcdList, "Etcd confirmed etcd-list-traced"),
        ("v1.30.4", paged, RecordedRead::NoEtcdTime, "Unknown contradicted no-etcd-time-logged, predicted Etcd"),
    ] {
        check(version, line, logged(read), expected);
    }
}

#[test]
fn limit_that_was_ignored_proves_the_cache() {
    let asked = "GET /api/v1/pods?limit=5&resourceVersion=0";
    let ignored = list(100, 7, false);
    check("v1.34.4", asked, ignored, "Cache confirmed more-than-the-limit");
    check("v1.34.4", asked, list(100, 5, true), "Etcd confirmed paged-at-rv0");
    check(
        "v1.34.4",
        "GET /api/v1/events?limit=5&resourceVersion=0",
        ignored,
        "Unknown contradicted more-than-the-limit, predicted Etcd",
    );
    check("v1.34.4", "GET /api/v1/events?limit=5&resourceVersion=0", list(100, 5, true), "Etcd confirmed paged-at-rv0");
    check("v1.34.4", asked, list(100, 5, false), "Cache predicted");
    check("v1.34.4", "GET /api/v1/pods?limit=5", list(100, 5, true), "CacheConsistent predicted");
}

#[test]
fn list_older_than_a_shown_revision_proves_the_cache() {
    let behind = Seen { shown_before: Some(101), ..list(100, 1, false) };
    let abreast = Seen { shown_before: Some(100), ..list(100, 1, false) };
    check("v1.34.4", "GET /api/v1/pods?resourceVersion=0", behind, "Cache confirmed behind-what-was-seen");
    check("v1.34.4", "GET /api/v1/pods?resourceVersion=0", abreast, "Cache predicted");
    check("v1.34.4", "GET /api/v1/pods", behind, "Cache contradicted behind-what-was-seen, predicted CacheConsistent");
    check("v1.30.4", "GET /api/v1/pods", behind, "Cache contradicted behind-what-was-seen, predicted Etcd");
    let exact = "GET /api/v1/pods?resourceVersion=100&resourceVersionMatch=Exact";
    check("v1.30.4", exact, behind, "Etcd predicted");
}

#[test]
fn list_at_another_revision_contradicts_an_exact_read() {
    let exact = "GET /api/v1/pods?resourceVersion=100&resourceVersionMatch=Exact";
    check("v1.30.4", exact, list(100, 1, false), "Etcd predicted");
    check("v1.30.4", exact, list(101, 1, false), "Unknown contradicted other-revision-than-named, predicted Etcd");
    check("v1.30.4", "GET /api/v1/pods?resourceVersion=100", list(101, 1, false), "Cache predicted");
    let below = "Unknown contradicted other-revision-than-named, predicted Cache";
    check("v1.30.4", "GET /api/v1/pods?resourceVersion=100", list(99, 1, false), below);
}

#[test]
fn single_name_lists_and_unknown_matches_give_no_proof() {
    let one = "GET /api/v1/namespaces/a/pods?resourceVersion=100&limit=5&fieldSelector=metadata.name%3Dx";
    check("v1.30.4", one, list(150, 1, false), "Etcd predicted");
    let before_match = "GET /api/v1/pods?resourceVersion=100&resourceVersionMatch=Exact";
    check("v1.18.4", before_match, list(101, 1, false), "Cache predicted");
}

#[test]
fn too_large_revision_error_identifies_the_layer() {
    let at_least = "GET /api/v1/pods?resourceVersion=900";
    check("v1.34.4", at_least, refused(504, TOO_LARGE), "Rejected confirmed too-large-after-waiting");
    let in_etcd = "Rejected contradicted too-large-in-etcd, predicted Cache";
    check("v1.34.4", at_least, refused(504, TOO_LARGE_IN_ETCD), in_etcd);
    let logged = Body::Status { reason: "Timeout", message: "Too large resource version: 900", retry: None, cause: ("", "") };
    check("v1.18.2", at_least, refused(504, logged), "Rejected confirmed refused-before-storage");
    let limited = "GET /api/v1/pods?resourceVersion=900&resourceVersionMatch=NotOlderThan&limit=5";
    check("v1.30.4", limited, refused(504, TOO_LARGE_IN_ETCD), "Rejected confirmed too-large-in-etcd");
    check("v1.30.4", limited, refused(504, TOO_LARGE), "Rejected contradicted too-large-after-waiting, predicted Etcd");
}

#[test]
fn compacted_revision_error_proves_etcd() {
    let exact = "GET /api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact";
    check("v1.30.4", exact, refused(410, EXPIRED), "Rejected confirmed compacted-in-etcd");
    check("v1.34.4", exact, refused(410, EXPIRED), "Rejected confirmed compacted-in-etcd");
    let never = "Rejected contradicted compacted-in-etcd, predicted Cache";
    check("v1.34.4", "GET /api/v1/pods?resourceVersion=7", refused(410, EXPIRED), never);
}

/// Measured on real servers (`tests/cluster/matrix`): 1.31 to 1.33 ask etcd first, while 1.34 and later first check whether the
/// cache is ready.
#[test]
fn unready_cache_is_reported_before_or_after_asking_etcd() {
    for (version, line, etcd_touched, rule) in [
        ("v1.31.14", "GET /api/v1/pods", true, "list-not-ready-refused-late"),
        ("v1.33.6", "GET /api/v1/pods", true, "list-not-ready-refused-late"),
        ("v1.34.4", "GET /api/v1/pods", false, "list-not-ready-refused"),
        ("v1.31.14", "GET /api/v1/pods?resourceVersion=0", false, "list-not-ready-refused"),
        ("v1.34.4", "GET /api/v1/pods?watch=1", false, "watch-not-ready-refused"),
    ] {
        let mut verdict = route(&Request::new(line).question(&server(version), None)).unwrap();
        weighed(&mut verdict, line, refused(429, NOT_READY));
        let shown = (verdict.served_from, verdict.rule.as_str());
        assert_eq!(shown, (crate::routing::ServedFrom::Rejected { status: 429, etcd_touched }, rule), "{version} {line}");
    }
}

#[test]
fn expired_watch_error_identifies_the_layer() {
    let watch = "GET /api/v1/pods?watch=1&resourceVersion=7";
    check("v1.34.4", watch, refused(200, WINDOW), "Cache confirmed event-window-passed");
    check("v1.34.4", watch, refused(200, COMPACTED), "Etcd contradicted watch-compacted-in-etcd, predicted Cache");
    let events = "GET /api/v1/events?watch=1&resourceVersion=7";
    check("v1.34.4", events, refused(200, COMPACTED), "Etcd confirmed watch-compacted-in-etcd");
    check("v1.34.4", events, refused(200, WINDOW), "Unknown contradicted event-window-passed, predicted Etcd");
}

#[test]
fn refusals_of_429_are_distinguished() {
    let consistent = "GET /api/v1/pods";
    check("v1.34.4", consistent, refused(429, Body::PlainText), "Rejected confirmed refused-in-plain-text");
    check("v1.34.4", consistent, refused(429, NOT_READY), "Rejected confirmed cache-not-ready");
    check("v1.30.4", consistent, refused(429, NOT_READY), "Rejected contradicted cache-not-ready, predicted Etcd");
    check(
        "v1.34.4",
        consistent,
        refused(429, TOO_LARGE),
        "Rejected contradicted too-large-after-waiting, predicted CacheConsistent",
    );
}

/// A collection is either read or refused: with each of these statuses, no layer delivered a list.
#[test]
fn refused_list_is_not_a_read_of_any_layer() {
    let before = "Rejected confirmed refused-before-storage";
    let failed = "Rejected confirmed answered-with-an-error";
    for (status, body, expected) in [
        (401, Body::Nothing, before),
        (403, Body::Nothing, before),
        (404, Body::Nothing, before),
        (404, Body::PlainText, before),
        (405, Body::Nothing, before),
        (406, Body::Nothing, before),
        (413, Body::Nothing, before),
        (415, Body::Nothing, before),
        (301, Body::Nothing, failed),
        (408, Body::Nothing, failed),
        (410, Body::Nothing, failed),
        (429, Body::Nothing, failed),
        (500, Body::Nothing, failed),
        (502, Body::Nothing, failed),
        (503, Body::Nothing, failed),
        (504, Body::Nothing, failed),
    ] {
        for line in ["GET /api/v1/pods", "GET /api/v1/pods?resourceVersion=0", "GET /api/v1/pods?watch=1&resourceVersion=7"] {
            check("v1.34.4", line, refused(status, body), expected);
            let is_of_etcd = status == 500 && line == "GET /api/v1/pods";
            check("v1.30.4", line, refused(status, body), if is_of_etcd { "Etcd predicted" } else { expected });
        }
    }
}

/// In a log of the API server, a trace shows that etcd gave the objects.
#[test]
fn list_that_falls_back_reads_the_objects_from_etcd() {
    for (line, expected) in [
        ("GET /api/v1/pods", &["Range /registry/pods  limit 1, only to get the current revision", PODS] as &[&str]),
        ("GET /api/v1/pods?resourceVersion=0", &[PODS]),
    ] {
        let mut verdict = route(&Request::new(line).question(&server("v1.34.4"), None)).unwrap();
        weighed(&mut verdict, line, logged(RecordedRead::EtcdList));
        assert_eq!(verdict.served_from, crate::routing::ServedFrom::Etcd);
        assert_eq!(verdict.reads.iter().map(ToString::to_string).collect::<Vec<_>>(), expected, "{line}");
    }
}

#[test]
fn failed_list_may_have_reached_etcd_if_predicted() {
    for (version, line, status, etcd_touched) in [
        ("v1.30.4", "GET /api/v1/pods", 404, false),
        ("v1.30.4", "GET /api/v1/pods", 502, true),
        ("v1.34.4", "GET /api/v1/pods", 500, true),
        ("v1.34.4", "GET /api/v1/pods?resourceVersion=0", 500, false),
    ] {
        let mut verdict = route(&Request::new(line).question(&server(version), None)).unwrap();
        weighed(&mut verdict, line, refused(status, Body::Nothing));
        assert_eq!(verdict.served_from, crate::routing::ServedFrom::Rejected { status, etcd_touched }, "{version} {line}");
        assert_eq!((verdict.reads.len(), verdict.rule.as_str()), (0, "refused-by-status"));
    }
}

#[test]
fn missing_object_is_read_but_unknown_resource_is_refused() {
    let get = "GET /api/v1/namespaces/a/pods/x";
    check("v1.34.4", get, refused(404, Body::Nothing), "Etcd predicted");
    check("v1.34.4", get, refused(404, Body::PlainText), "Rejected confirmed refused-before-storage");
    check("v1.34.4", get, refused(500, Body::Nothing), "Etcd predicted");
    check("v1.34.4", get, refused(502, Body::Nothing), "Rejected confirmed answered-with-an-error");
    check("v1.34.4", "GET /api/v1/namespaces/a/pods/x/log", refused(404, Body::Nothing), "Etcd predicted");
}

#[test]
fn validation_errors_check_versions_and_gates() {
    check("v1.34.4", WATCH_LIST, refused(422, INVALID), "Rejected contradicted refused-by-validation, predicted CacheConsistent");
    check("v1.31.4", WATCH_LIST, refused(422, INVALID), "Rejected confirmed refused-as-predicted");
    check("v1.31.4", WATCH_LIST, refused(200, Body::InitialEventsEnd), "Unknown contradicted not-refused, predicted Rejected");
    check("v1.34.4", WATCH_LIST, refused(200, Body::InitialEventsEnd), "CacheConsistent predicted");
}

#[test]
fn gate_is_learned_from_a_refusal_only_it_explains() {
    let refusal = |message: &str| Status { message: message.to_owned(), ..Status::default() };
    let off = refusal(
        "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
    );
    let mut profile = server("v1.34.4");
    profile.provenance.version = Basis::VersionEndpoint;
    let mut verdict = route(&Request::new(WATCH_LIST).question(&profile, None)).unwrap();
    assert_eq!(lesson(&profile, &verdict, Some(&off)), None, "nothing is contradicted");
    weighed(&mut verdict, WATCH_LIST, refused(422, INVALID));
    assert_eq!(lesson(&profile, &verdict, Some(&off)), Some((Gate::WatchList, false)));
    assert_eq!(lesson(&profile, &verdict, Some(&refusal("something else"))), None);

    profile.provenance.version = Basis::Flag;
    assert_eq!(lesson(&profile, &verdict, Some(&off)), None, "the version may be what is wrong");
    profile.provenance.version = Basis::VersionEndpoint;
    profile.gates.insert(Gate::WatchList, true);
    assert_eq!(lesson(&profile, &verdict, Some(&off)), None, "a flag outranks it");

    let mut profile = server("v1.31.4");
    profile.provenance.version = Basis::VersionEndpoint;
    let mut verdict = route(&Request::new(WATCH_LIST).question(&profile, None)).unwrap();
    weighed(&mut verdict, WATCH_LIST, refused(200, Body::InitialEventsEnd));
    assert_eq!(lesson(&profile, &verdict, None), Some((Gate::WatchList, true)));
}

#[test]
fn answer_may_resolve_an_unknown_verdict() {
    let snapshot = "GET /api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact";
    check("v1.34.4", snapshot, NOTHING, "Unknown predicted");
    check("v1.34.4", snapshot, list(7, 1, false), "Unknown predicted");
    let ignored = list(100, 7, false);
    let mut verdict = route(
        &Request::new("GET /api/v1/pods?limit=5&resourceVersion=0").question(&crate::routing::ServerProfile::default(), None),
    )
    .unwrap();
    assert_eq!(weighed(&mut verdict, "GET /api/v1/pods?limit=5&resourceVersion=0", ignored), "Cache confirmed more-than-the-limit");
}

#[test]
fn first_proof_stands() {
    let line = "GET /api/v1/pods?limit=5&resourceVersion=0";
    let mut verdict = route(&Request::new(line).question(&server("v1.34.4"), None)).unwrap();
    let confirmed = weighed(&mut verdict, line, list(100, 7, false));
    assert_eq!(weighed(&mut verdict, line, list(100, 5, true)), confirmed);
}

#[test]
fn every_proof_has_a_sentence_and_its_sources() {
    for proof in all_proofs() {
        assert!(proof.sentence.len() > 20 && !proof.sentence.ends_with('.'), "{}: {}", proof.id, proof.sentence);
        assert!(proof.section.starts_with('§') && !proof.upstream.is_empty(), "{}", proof.id);
        assert_eq!(super::proof(proof.id.as_str()), Some(proof), "identifiers are unique");
        assert!(crate::routing::rule(proof.id.as_str()).is_none(), "{}: also a rule", proof.id);
    }
}

const fn logged(read: RecordedRead) -> Seen {
    Seen { recorded: Some(read), ..NOTHING }
}

const fn list(revision: u64, items: u64, continues: bool) -> Seen {
    Seen { body: Body::List { revision, items, continues }, ..NOTHING }
}

const fn refused(status: u16, body: Body) -> Seen {
    Seen { status, body, ..NOTHING }
}

#[track_caller]
fn check(version: &str, line: &str, seen: Seen, expected: &str) {
    let mut verdict = route(&Request::new(line).question(&server(version), None)).unwrap();
    assert_eq!(weighed(&mut verdict, line, seen), expected, "{version} {line}");
}

/// The weighed verdict as text: `LAYER certainty proof, predicted LAYER`.
fn weighed(verdict: &mut Verdict, line: &str, seen: Seen) -> String {
    let request = Request::new(line);
    let mut evidence = Evidence {
        info: &request.info,
        options: &request.options,
        shown_before: seen.shown_before,
        status: seen.status,
        plain_text: false,
        refusal: None,
        list: None,
        items: 0,
        error: None,
        initial_events_ended: false,
        recorded: seen.recorded,
    };
    let mut status = Status::default();
    match seen.body {
        Body::Nothing => {}
        Body::PlainText => evidence.plain_text = true,
        Body::List { revision, items, continues } => {
            evidence.list = Some(ListSeen { revision: Some(revision), continues });
            evidence.items = items;
        }
        Body::Status { reason, message, retry, cause: (cause, field) } => {
            status = Status { reason: reason.to_owned(), message: message.to_owned(), retry_after_seconds: retry, ..status };
            let cause = StatusCause { reason: cause.to_owned(), field: field.to_owned(), ..StatusCause::default() };
            status.causes.extend(Some(cause).filter(|cause| *cause != StatusCause::default()));
        }
        Body::Error { code, message } => status = Status { code, message: message.to_owned(), ..status },
        Body::InitialEventsEnd => evidence.initial_events_ended = true,
    }
    match seen.body {
        Body::Status { .. } => evidence.refusal = Some(&status),
        Body::Error { .. } => evidence.error = Some(&status),
        Body::Nothing | Body::PlainText | Body::List { .. } | Body::InitialEventsEnd => {}
    }
    weigh(verdict, &evidence);
    let name = |served: &crate::routing::ServedFrom| {
        let name = format!("{served:?}");
        name.split([' ', '{']).next().unwrap_or_default().to_owned()
    };
    let certainty = match verdict.certainty {
        Certainty::Predicted => "predicted",
        Certainty::Confirmed => "confirmed",
        Certainty::Contradicted => "contradicted",
    };
    let proof = verdict.proof.map_or(String::new(), |proof| format!(" {proof}"));
    let predicted = verdict.predicted.as_deref().map_or(String::new(), |predicted| format!(", predicted {}", name(predicted)));
    format!("{} {certainty}{proof}{predicted}", name(&verdict.served_from))
}
