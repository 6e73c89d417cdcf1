//! Rows of `AKSAudit`, with the columns of Azure's table reference.

use super::reading::clock;
use crate::logs::{AuditEvent, Envelope, FoundRecord, LogLine, LogRecord, LogRecords};

/// A column of the type `dynamic` as an object.
const ROW: &str = r#"{"TimeGenerated":"2026-11-27T10:00:36Z","AuditId":"a-1","Level":"Metadata","Stage":"ResponseComplete","RequestUri":"/apis/apps/v1/deployments?limit=500&resourceVersion=0","Verb":"list","User":{"username":"system:serviceaccount:argocd:c","groups":["g"]},"SourceIps":["10.0.3.7"],"UserAgent":"argocd/v1","ObjectRef":{"resource":"deployments","apiGroup":"apps","apiVersion":"v1"},"ResponseStatus":{"metadata":{},"code":200},"RequestReceivedTime":"2026-11-27T10:00:00Z","StageReceivedTime":"2026-11-27T10:00:35.6837630Z","Annotations":{"apiserver.latency.k8s.io/etcd":"1.150272ms","apiserver.latency.k8s.io/total":"35.683763759s"},"RequestObject":"","PodName":"kube-apiserver-1","Type":"AKSAudit"}"#;

/// The same as an audit event.
const EVENT: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"a-1","stage":"ResponseComplete","requestURI":"/apis/apps/v1/deployments?limit=500&resourceVersion=0","verb":"list","user":{"username":"system:serviceaccount:argocd:c","groups":["g"]},"sourceIPs":["10.0.3.7"],"userAgent":"argocd/v1","objectRef":{"resource":"deployments","apiGroup":"apps","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-11-27T10:00:00.000000Z","stageTimestamp":"2026-11-27T10:00:35.683763Z","annotations":{"apiserver.latency.k8s.io/etcd":"1.150272ms","apiserver.latency.k8s.io/total":"35.683763759s"}}"#;

/// The event of a row; `None` if it is not understood.
fn read(row: &str) -> Option<AuditEvent> {
    let mut event = None;
    let mut records = LogRecords::of(clock());
    let others = records.line(row.as_bytes(), &mut |found| {
        let FoundRecord { envelope: Some(Envelope::Azure), record: LogRecord::Line(LogLine::Audit(found)), .. } = found else {
            panic!("{found:?}")
        };
        event = Some(*found);
    });
    assert_eq!(others == 0, event.is_some());
    event
}

#[test]
fn row_is_read_as_its_audit_event() {
    let event = AuditEvent::read(EVENT.as_bytes()).unwrap();
    assert_eq!(read(ROW), Some(event.clone()));
    // The command line prints dynamic columns as texts, and empty ones as empty texts.
    let mut row: serde_json::Value = serde_json::from_str(ROW).unwrap();
    for column in ["User", "SourceIps", "ObjectRef", "ResponseStatus", "Annotations"] {
        row[column] = row[column].to_string().into();
    }
    assert_eq!(read(&row.to_string()), Some(event.clone()));
    for column in ["ObjectRef", "Annotations", "SourceIps"] {
        row[column] = "".into();
    }
    row["UserAgent"] = serde_json::Value::Null;
    let bare = AuditEvent {
        resource: String::new(),
        address: String::new(),
        user_agent: String::new(),
        etcd_latency: None,
        total_latency: None,
        ..event
    };
    assert_eq!(read(&row.to_string()), Some(bare));
}

#[test]
fn rows_without_an_event_are_not_understood() {
    for row in [
        ROW.replace("\"Verb\"", "\"Other\""),
        ROW.replace("ResponseComplete", "Later"),
        ROW.replace("\"AuditId\":\"a-1\"", "\"AuditId\":7"),
        ROW.replace("\"UserAgent\":\"argocd/v1\"", "\"UserAgent\":{}"),
        // A status that cannot be read is no end without one.
        ROW.replace("{\"metadata\":{},\"code\":200}", "\"no JSON\""),
        ROW.replace("{\"metadata\":{},\"code\":200}", r#""{},\"stage\":\"Panic\"""#),
    ] {
        assert_eq!(read(&row), None, "{row}");
    }
}
