//! Lines as real servers wrote them, shortened.

use std::time::Duration;

use crate::logs::{AuditEvent, AuditLevel, AuditStage, EtcdRequest, RangeRead};
use crate::redacted::Redacted;
use crate::time::Timestamp;

/// An event as kube-apiserver 1.34 wrote it, shortened.
const EVENT: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"a-1","stage":"ResponseComplete",
    "requestURI":"/apis/apps/v1/deployments?limit=5","verb":"list","user":{"username":"admin","groups":["system:masters"]},
    "sourceIPs":["127.0.0.1","10.0.0.9"],"userAgent":"kubectl/v1.33.1",
    "objectRef":{"resource":"deployments","apiGroup":"apps","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":200},
    "requestReceivedTimestamp":"2026-11-22T02:00:00.100000Z","stageTimestamp":"2026-11-22T02:00:01.800000Z",
    "annotations":{"apiserver.latency.k8s.io/etcd":"1.612s","apiserver.latency.k8s.io/total":"1.7s","other":"x"}}"#;

#[test]
fn facts_of_an_audit_event_are_read() {
    let expected = AuditEvent {
        audit_id: "a-1".to_owned(),
        level: AuditLevel::Metadata,
        stage: AuditStage::ResponseComplete,
        uri: Redacted("/apis/apps/v1/deployments?limit=5".to_owned()),
        verb: "list".to_owned(),
        resource: "deployments.apps".to_owned(),
        user: "admin".to_owned(),
        address: "127.0.0.1".to_owned(),
        user_agent: "kubectl/v1.33.1".to_owned(),
        status: 200,
        refusal: None,
        received: Timestamp::from_rfc3339("2026-11-22T02:00:00.1Z"),
        reached: Timestamp::from_rfc3339("2026-11-22T02:00:01.8Z"),
        etcd_latency: Some(Duration::from_millis(1_612)),
        total_latency: Some(Duration::from_millis(1_700)),
    };
    assert!(expected.is_complete_for_resource());
    assert_eq!(AuditEvent::read(EVENT.as_bytes()), Some(expected));
    let impersonated = EVENT.replace("\"sourceIPs\"", "\"impersonatedUser\":{\"username\":\"eve\"},\"sourceIPs\"");
    assert_eq!(AuditEvent::read(impersonated.as_bytes()).unwrap().user, "eve");
}

#[test]
fn strange_values_of_an_audit_event_are_left_out() {
    let strange = r#"{"auditID":"a","stage":"RequestReceived","verb":"get","level":"More","sourceIPs":[{"a":[1]},"x"],
        "requestReceivedTimestamp":7,"stageTimestamp":"yesterday","annotations":{"apiserver.latency.k8s.io/etcd":{"a":1.5}}}"#;
    let event = AuditEvent::read(strange.as_bytes()).unwrap();
    assert_eq!((event.level, event.address.as_str(), event.received, event.reached), (AuditLevel::Unknown, "", None, None));
    assert_eq!(event.etcd_latency, None);
    assert!(!event.is_complete_for_resource());
    for line in
        [r#"{"auditID":"a","stage":"Later","verb":"get"}"#, r#"{"auditID":"a","sta"#, r#"{"stage":"Panic","verb":"get"}"#, ""]
    {
        assert_eq!(AuditEvent::read(line.as_bytes()), None, "{line}");
    }
}

#[test]
fn etcd_latency_is_parsed_as_a_go_duration() {
    for (text, expected) in [
        ("612.345ms", Some(Duration::from_micros(612_345))),
        ("1m2.5s", Some(Duration::from_millis(62_500))),
        ("850µs", Some(Duration::from_micros(850))),
        ("5 minutes", None),
        ("5", None),
        ("99999999999999999999999h", None),
        ("10000000000000000000s10000000000000000000s", None),
    ] {
        let line = format!(
            r#"{{"auditID":"a","stage":"ResponseComplete","verb":"list","objectRef":{{"resource":"pods"}},
                "annotations":{{"apiserver.latency.k8s.io/etcd":"{text}"}}}}"#
        );
        assert_eq!(AuditEvent::read(line.as_bytes()).unwrap().etcd_latency, expected, "{text}");
    }
}

#[test]
fn refusal_is_read_and_that_of_a_write_without_its_texts() {
    let event = |verb: &str| {
        let line = format!(
            r#"{{"auditID":"a","stage":"ResponseComplete","verb":"{verb}","responseStatus":{{"metadata":{{}},"status":"Failure",
            "message":"Timeout: Too large resource version: 9, current: 5","reason":"Timeout","details":{{"causes":[{{"reason":
            "ResourceVersionTooLarge","message":"Too large resource version"}}],"retryAfterSeconds":1}},"code":504}}}}"#
        );
        *AuditEvent::read(line.as_bytes()).unwrap().refusal.unwrap()
    };
    let refusal = event("list");
    assert_eq!((refusal.code, refusal.retry_after_seconds, refusal.current_revision()), (504, Some(1), Some(5)));
    assert_eq!(refusal.causes[0].reason, "ResourceVersionTooLarge");
    assert_eq!(event("update"), refusal.without_words());
    assert_eq!(AuditEvent::read(EVENT.as_bytes()).unwrap().refusal, None);
}

#[test]
fn range_is_read_with_its_keys_limit_and_revision() {
    let line = br#"{"level":"debug","ts":"2026-11-22T02:00:00.1Z","caller":"v3rpc/interceptor.go:182","msg":"request stats",
        "start time":"2026-11-22T02:00:00.1Z","time spent":"113us","remote":"127.0.0.1:4","response type":"/etcdserverpb.KV/Range",
        "request count":0,"request size":46,"response count":3,"response size":1022,
        "request content":"key:\"/registry/roles/kube-system/a\\000\" range_end:\"/registry/roles0\" limit:500 revision:42 "}"#;
    let expected = RangeRead {
        key: "/registry/roles/kube-system/a\0".to_owned(),
        range_end: "/registry/roles0".to_owned(),
        limit: 500,
        revision: 42,
        ..RangeRead::default()
    };
    assert_eq!(EtcdRequest::read(line), Some(EtcdRequest::Range(expected.clone())));
    assert!(expected.reads_values());
}

#[test]
fn count_only_range_reads_no_values() {
    let line = br#"{"level":"debug","msg":"request stats","response type":"/etcdserverpb.KV/Range","request content":"key:\"/registry/roles/\" range_end:\"/registry/roles0\" count_only:true "}"#;
    let Some(EtcdRequest::Range(read)) = EtcdRequest::read(line) else { panic!() };
    assert!(!read.reads_values());
}

#[test]
fn other_requests_are_named_and_other_lines_passed_over() {
    let other =
        br#"{"level":"debug","msg":"request stats","response type":"/etcdserverpb.KV/Txn","request content":"compare:<target:MOD key:\"/a\">"}"#;
    assert_eq!(EtcdRequest::read(other), Some(EtcdRequest::Other("/etcdserverpb.KV/Txn".to_owned())));
    let slow = r#"{"level":"warn","msg":"request stats","response type":"/etcdserverpb.KV/Txn","time spent":"1.2s"}"#;
    for line in [slow, r#"{"level":"info","msg":"applying compaction"}"#, "panic: x", r#"{"level":"debug","msg":"request stats","#]
    {
        assert_eq!(EtcdRequest::read(line.as_bytes()), None, "{line}");
    }
}

#[test]
fn truncated_content_is_read_as_far_as_possible() {
    let line = br#"{"level":"debug","msg":"request stats","response type":"/etcdserverpb.KV/Range","request content":"key:\"/registry/pods/ab"}"#;
    let expected = RangeRead { key: "/registry/pods/ab".to_owned(), ..RangeRead::default() };
    assert_eq!(EtcdRequest::read(line), Some(EtcdRequest::Range(expected)));
}
