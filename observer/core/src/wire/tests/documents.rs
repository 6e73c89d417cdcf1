//! Lists, single objects and `Status`.

use super::fixtures::{CUSTOM_RESOURCE_LIST, EXPIRED_TOKEN, PARTIAL_METADATA_LIST, POD_LIST, PRETTY_LEASE, TABLE, TOO_LARGE};
use super::reading::{kind, list_meta, object, read};
use crate::k8s::{Status, StatusCause};
use crate::wire::{BodyKind, Fact, ListMeta, ObjectRef};

#[test]
fn typed_list_reports_metadata_before_items() {
    check(
        POD_LIST,
        &[
            kind("PodList", "v1"),
            list_meta("4711", "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ", Some(17)),
            Fact::Item(object("shop", "web-0", "6f1c0f3e-0000-4000-8000-000000000001", "4001")),
            Fact::Item(object("", "node-like", "u2", "4002")),
            Fact::Complete,
        ],
    );
}

#[test]
fn custom_resource_list_reports_metadata_last() {
    check(
        CUSTOM_RESOURCE_LIST,
        &[
            Fact::Item(object("default", "w", "u-w", "12")),
            kind("WidgetList", "example.com/v1"),
            list_meta("99", "", None),
            Fact::Complete,
        ],
    );
}

#[test]
fn rows_of_a_table_are_items_even_without_their_objects() {
    check(
        TABLE,
        &[
            kind("Table", "meta.k8s.io/v1"),
            list_meta("55", "", None),
            Fact::Item(object("shop", "web-0", "u-0", "50")),
            Fact::Item(ObjectRef::default()),
            Fact::Item(ObjectRef::default()),
            Fact::Complete,
        ],
    );
}

#[test]
fn metadata_only_list_is_a_list() {
    check(
        PARTIAL_METADATA_LIST,
        &[
            kind("PartialObjectMetadataList", "meta.k8s.io/v1"),
            list_meta("8", "", None),
            Fact::Item(object("n", "s", "u", "7")),
            Fact::Complete,
        ],
    );
}

#[test]
fn lists_without_items_are_lists() {
    for items in [r#","items":[]"#, r#","items":null"#, r#","items": [ ] "#, ""] {
        check(
            &format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"3"}}{items}}}"#),
            &[kind("PodList", "v1"), list_meta("3", "", None), Fact::Complete],
        );
    }
}

#[test]
fn pretty_printed_object_is_reported_at_its_end() {
    check(
        PRETTY_LEASE,
        &[kind("Lease", "coordination.k8s.io/v1"), Fact::Object(object("kube-system", "leader", "u-l", "1234")), Fact::Complete],
    );
}

#[test]
fn custom_resource_named_like_a_list_is_an_object() {
    check(
        r#"{"apiVersion":"example.com/v1","kind":"AllowList","metadata":{"name":"a","uid":"u","resourceVersion":"3"},"spec":{"items":[1]}}"#,
        &[kind("AllowList", "example.com/v1"), Fact::Object(object("", "a", "u", "3")), Fact::Complete],
    );
}

#[test]
fn status_of_a_too_large_resource_version_keeps_cause_and_delay() {
    let cause = StatusCause {
        reason: "ResourceVersionTooLarge".into(),
        message: "Too large resource version".into(),
        ..StatusCause::default()
    };
    check_status(
        TOO_LARGE,
        Status {
            status: "Failure".into(),
            message: "Timeout: Too large resource version: 900, current: 812".into(),
            reason: "Timeout".into(),
            code: 504,
            retry_after_seconds: Some(1),
            causes: vec![cause],
            continue_token: String::new(),
        },
    );
}

#[test]
fn status_of_an_expired_token_keeps_the_next_one() {
    check_status(
        EXPIRED_TOKEN,
        Status {
            status: "Failure".into(),
            message: "The provided continue parameter is too old".into(),
            reason: "Expired".into(),
            code: 410,
            continue_token: "ZnJlc2g".into(),
            ..Status::default()
        },
    );
}

#[test]
fn custom_resource_named_status_is_an_object() {
    check(
        r#"{"apiVersion":"example.com/v1","kind":"Status","metadata":{"name":"s"}}"#,
        &[kind("Status", "example.com/v1"), Fact::Object(object("", "s", "", "")), Fact::Complete],
    );
}

#[test]
fn document_without_metadata_has_a_kind_at_most() {
    check(r#"{"kind":"APIResourceList","apiVersion":"v1","resources":[]}"#, &[kind("APIResourceList", "v1"), Fact::Complete]);
    check(r#"{"major":"1","minor":"34"}"#, &[kind("", ""), Fact::Complete]);
}

#[test]
fn escaped_names_and_values_are_decoded() {
    check(
        r#"{"\u006betadata":1,"k\u0069nd":"P\u006fd","apiVersion":"v1","\u006d\u0065tadata":{"name":"\u00e4\ud83d\ude00\/"}}"#,
        &[kind("Pod", "v1"), Fact::Object(object("", "ä😀/", "", "")), Fact::Complete],
    );
}

#[test]
fn values_of_unexpected_types_count_as_absent() {
    check(
        r#"{"kind":["List"],"apiVersion":null,"metadata":{"resourceVersion":7,"continue":{},"remainingItemCount":"x","name":true},"items":[{"metadata":[{"name":"no"}]},7,null,["a"],{"metadata":{"name":{"name":"no"},"uid":-1.5e3}}]}"#,
        &[
            list_meta("", "", None),
            Fact::Item(ObjectRef::default()),
            Fact::Item(ObjectRef::default()),
            Fact::Item(ObjectRef::default()),
            Fact::Item(ObjectRef::default()),
            Fact::Item(ObjectRef::default()),
            kind("", ""),
            Fact::Complete,
        ],
    );
}

#[test]
fn kept_strings_are_cut_at_their_bounds() {
    let long = "x".repeat(40_000);
    check(
        &format!(
            r#"{{"kind":"L","apiVersion":"v1","metadata":{{"resourceVersion":"{long}","continue":"{long}"}},"items":[{{"metadata":{{"name":"{long}"}}}}]}}"#
        ),
        &[
            kind("L", "v1"),
            list_meta(&long[..ObjectRef::MAX_TEXT], &long[..ListMeta::MAX_CONTINUE], None),
            Fact::Item(object("", &long[..ObjectRef::MAX_TEXT], "", "")),
            Fact::Complete,
        ],
    );
    let causes = vec![format!(r#"{{"field":"{long}"}}"#); 20].join(",");
    let cause = StatusCause { field: long[..Status::MAX_TEXT].into(), ..StatusCause::default() };
    check_status(
        &format!(
            r#"{{"kind":"Status","apiVersion":"v1","details":{{"causes":[{causes}],"retryAfterSeconds":-1}},"message":"{long}","code":70000}}"#
        ),
        Status { message: long[..Status::MAX_TEXT].into(), causes: vec![cause; Status::MAX_CAUSES], ..Status::default() },
    );
}

#[track_caller]
fn check(body: &str, facts: &[Fact]) {
    assert_eq!(read(BodyKind::Document, body), facts);
}

#[track_caller]
fn check_status(body: &str, status: Status) {
    check(body, &[kind("Status", "v1"), Fact::Status(Box::new(status)), Fact::Complete]);
}
