//! Entries of Google Cloud's logging.

use super::reading::{clock, read, time};
use crate::logs::{CacheEvent, GkeAuditEntry, LogLine, RequestOutcome};

const ENTRY: &str = r#"{"logName":"projects/p/logs/cloudaudit.googleapis.com%2Fdata_access","resource":{"type":"k8s_cluster","labels":{"cluster_name":"c"}},"protoPayload":{"@type":"type.googleapis.com/google.cloud.audit.AuditLog","methodName":"io.k8s.core.v1.pods.list","resourceName":"core/v1/namespaces/x/pods","authenticationInfo":{"principalEmail":"system:serviceaccount:a:b"},"requestMetadata":{"callerIp":"10.0.0.1","callerSuppliedUserAgent":"a/v1"},"status":{"code":5,"message":"c4n4ry"}},"operation":{"id":"o-1","first":true},"timestamp":"2024-06-20T12:33:17.389016Z"}"#;

#[test]
fn audit_entry_is_read_without_a_query() {
    let expected = GkeAuditEntry {
        at: time("2024-06-20T12:33:17.389016Z"),
        verb: "list".to_owned(),
        path: "core/v1/namespaces/x/pods".to_owned(),
        resource: "pods".to_owned(),
        user: "system:serviceaccount:a:b".to_owned(),
        address: "10.0.0.1".to_owned(),
        user_agent: "a/v1".to_owned(),
        status: 5,
        operation: "o-1".to_owned(),
        is_first: true,
        is_last: false,
    };
    assert_eq!(read(ENTRY), LogLine::GkeAudit(Box::new(expected.clone())));
    let other = ENTRY
        .replace("core.v1.pods.list", "apps.v1.deployments.scale.update")
        .replace("core/v1/namespaces/x/pods", "apps/v1/namespaces/x/deployments/y/scale?token=c4n4ry")
        .replace("\"first\":true", "\"last\":true");
    let expected = GkeAuditEntry {
        verb: "update".to_owned(),
        path: "apps/v1/namespaces/x/deployments/y/scale".to_owned(),
        resource: "deployments.apps".to_owned(),
        is_first: false,
        is_last: true,
        ..expected
    };
    assert_eq!(read(&other), LogLine::GkeAudit(Box::new(expected)));
    let nodes = ENTRY.replace("core/v1/namespaces/x/pods", "core/v1/nodes");
    let LogLine::GkeAudit(entry) = read(&nodes) else { panic!() };
    assert_eq!(entry.resource, "nodes");
}

#[test]
fn entries_about_google_cloud_are_not_understood() {
    let cluster = ENTRY.replace("io.k8s.core.v1.pods.list", "google.container.v1.ClusterManager.CreateCluster");
    assert_eq!(LogLine::read(cluster.as_bytes(), &clock()), None);
}

#[test]
fn line_of_a_component_is_read_in_each_payload() {
    let request = r#"\"HTTP\" verb=\"LIST\" URI=\"/api/v1/pods\" latency=\"95ms\" resp=200"#;
    let header = "I0620 12:33:16.000000      11 httplog.go:132] ";
    for payload in [
        format!(r#""textPayload":"{request}","sourceLocation":{{"file":"httplog.go","line":"132"}}"#),
        format!(r#""textPayload":"{header}{request}""#),
        format!(r#""jsonPayload":{{"message":"{request}"}},"sourceLocation":{{"file":"httplog.go"}}"#),
    ] {
        let entry = format!(
            r#"{{"resource":{{"type":"k8s_control_plane_component","labels":{{"component_name":"apiserver"}}}},{payload},"severity":"INFO","timestamp":"2024-06-20T12:33:17.389016Z"}}"#
        );
        let LogLine::Request(request) = read(&entry) else { panic!("{payload}") };
        assert_eq!((request.uri.as_str(), request.outcome), ("/api/v1/pods", RequestOutcome::Answered(200)));
        assert_eq!(request.logged, time("2024-06-20T12:33:17.389016Z"));
    }
    let warning = r#"{"resource":{"type":"k8s_control_plane_component"},"textPayload":"Terminating all watchers from cacher pods","severity":"WARNING","timestamp":"2024-06-20T12:33:17Z"}"#;
    let LogLine::Cache(line) = read(warning) else { panic!() };
    assert_eq!(line.event, CacheEvent::Restarted);
}
