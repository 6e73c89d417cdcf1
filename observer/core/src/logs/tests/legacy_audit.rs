//! Audit events as text.

use super::reading::{clock, read, time};
use crate::logs::{AuditEvent, AuditLevel, AuditStage, LogLine};
use crate::redacted::Redacted;

const LINE: &str = r#"2020-03-01T10:00:00.000000123Z AUDIT: id="a-1" stage="ResponseComplete" ip="10.0.0.1" method="list" user="admin" groups="\"system:masters\",\"system:authenticated\"" as="<self>" asgroups="<lookup>" user-agent="kubectl/v1.17.0" namespace="<none>" uri="/apis/apps/v1/deployments?limit=500" response="200""#;

#[test]
fn event_is_read() {
    let expected = AuditEvent {
        audit_id: "a-1".to_owned(),
        level: AuditLevel::Unknown,
        stage: AuditStage::ResponseComplete,
        uri: Redacted("/apis/apps/v1/deployments?limit=500".to_owned()),
        verb: "list".to_owned(),
        resource: "deployments.apps".to_owned(),
        user: "admin".to_owned(),
        address: "10.0.0.1".to_owned(),
        user_agent: "kubectl/v1.17.0".to_owned(),
        status: 200,
        refusal: None,
        received: time("2020-03-01T10:00:00.000000123Z"),
        reached: None,
        etcd_latency: None,
        total_latency: None,
    };
    assert_eq!(read(LINE), LogLine::LegacyAudit(Box::new(expected.clone())));
    let running = LINE
        .replace("ResponseComplete", "RequestReceived")
        .replace("as=\"<self>\"", "as=\"eve\"")
        .replace("\"200\"", "\"<deferred>\"")
        .replace("/apis/apps/v1/deployments?limit=500", "/healthz")
        .replace("00.000000123Z", "00.000000123+01:00");
    let expected = AuditEvent {
        stage: AuditStage::RequestReceived,
        uri: Redacted("/healthz".to_owned()),
        resource: String::new(),
        user: "eve".to_owned(),
        status: 0,
        refusal: None,
        received: time("2020-03-01T09:00:00.000000123Z"),
        ..expected
    };
    assert_eq!(read(&running), LogLine::LegacyAudit(Box::new(expected)));
}

#[test]
fn other_text_is_not_understood() {
    for line in [
        LINE.replace("ResponseComplete", "Later"),
        LINE.replace("id=\"a-1\"", "id=\"\""),
        LINE.replace("2020-03-01T10:00:00.000000123Z", "20"),
        LINE.replace("AUDIT: id=", "AUDIT: id:"),
    ] {
        assert_eq!(LogLine::read(line.as_bytes(), &clock()), None, "{line}");
    }
}
