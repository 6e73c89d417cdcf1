//! Audit events.

use serde_json::{Value, json};

use super::reading::{audit_event, check};

#[test]
fn cut_events_are_named() {
    let event = audit_event("list", "/api/v1/pods?limit=500", &json!({}));
    let cut = format!("{}[Truncated...]", &event[..event.len() / 2]);
    let expected = [
        "line 1   cut line   EKS, an event that is too long for CloudWatch\n",
        "meaning       the beginning of an audit event that is too long for CloudWatch",
        "not shown     the request",
    ];
    check(&cut, &[], &expected);
}

#[test]
fn audit_events_are_explained_with_the_rule_and_the_proof() {
    let times = json!({"annotations": {"apiserver.latency.k8s.io/etcd": "1.15ms", "apiserver.latency.k8s.io/total": "35.68s"}});
    let event = audit_event("list", "/api/v1/pods?limit=500", &times);
    check(
        &event,
        &["--server-version", "1.30.4"],
        &[
            "line 1   audit event   kube-apiserver 1.24 or later, audit log\n",
            "meaning       the request ended",
            "time          2024-03-01T10:00:35.683763000Z\n",
            "user          system:serviceaccount:argocd:app",
            "client        argocd/v1, 10.0.3.7",
            "took          36 s",
            "in etcd       1.2 ms",
            "upstream      kubernetes/apiserver pkg/apis/audit/v1/types.go",
            "not shown     objects, bytes and bookmarks",
            "GET /api/v1/pods?limit=500   API server version v1.30.4 (flag)",
            "served from   etcd   rule list-unset-etcd",
            "proves        etcd-time-logged: ",
        ],
    );
    // Without a version, each version has its row.
    check(&event, &[], &["1.16 – 1.30      etcd", "1.33.3 – 1.37    cache, consistent", "proves        etcd-time-logged"]);
    let without = json!({"annotations": {"apiserver.latency.k8s.io/total": "35.68s"}});
    let event = audit_event("list", "/api/v1/pods?resourceVersion=0", &without);
    check(&event, &["--server-version", "1.34.2"], &["served from   cache   rule list-rv0", "proves        no-etcd-time-logged"]);
    // 1.37 does not time reads of ranges.
    check(&event, &["--server-version", "1.37.0"], &["proves        nothing about the layer, which is predicted"]);
    let watch = audit_event("watch", "/api/v1/pods?watch=true&resourceVersion=5&timeoutSeconds=480", &json!({}));
    check(&watch, &["--server-version", "1.34.2"], &["meaning       the watch ended", "lasted        36 s", "rule watch-rv"]);
    let refused = json!({"responseStatus": {"status": "Failure", "reason": "Expired", "message": "too old", "code": 410}});
    let refused = audit_event("list", "/api/v1/pods?resourceVersion=5&resourceVersionMatch=Exact", &refused);
    check(&refused, &["--server-version", "1.30.0"], &["refusal       Expired: too old", "proves        compacted-in-etcd"]);
    for (stage, meaning) in
        [("RequestReceived", "received the request"), ("ResponseStarted", "a long response"), ("Panic", "panicked")]
    {
        check(&audit_event("list", "/api/v1/pods", &json!({ "stage": stage })), &[], &[meaning, stage]);
    }
}

#[test]
fn other_forms_of_audit_events_are_explained() {
    let legacy = r#"2020-03-01T10:00:00Z AUDIT: id="a" stage="ResponseComplete" ip="10.0.0.1" method="list" user="u" groups="g" as="<self>" asgroups="<lookup>" user-agent="k/v1" namespace="<none>" uri="/api/v1/pods?resourceVersion=0" response="200""#;
    check(
        legacy,
        &["--server-version", "1.16.0"],
        &[
            "line 1   legacy audit event   kube-apiserver with --audit-log-format=legacy",
            "upstream      kubernetes/apiserver pkg/audit/format.go",
            "rule list-rv0",
        ],
    );
    let events = [audit_event("list", "/api/v1/pods", &json!({})), audit_event("get", "/api/v1/nodes/a", &json!({}))];
    let list = format!(r#"{{"kind":"EventList","items":[{}]}}"#, events.join(","));
    check(&list, &[], &["line 1   audit event   ", "GET /api/v1/pods\n", "line 1   audit event   ", "GET /api/v1/nodes/a\n"]);
    let indented: Value = serde_json::from_str(&events[0]).unwrap();
    check(&serde_json::to_string_pretty(&indented).unwrap(), &[], &["   audit event   ", "GET /api/v1/pods\n"]);
    let gke = r#"{"protoPayload":{"methodName":"io.k8s.core.v1.pods.list","resourceName":"core/v1/namespaces/x/pods","authenticationInfo":{"principalEmail":"a@b"},"status":{"code":0}},"timestamp":"2024-06-20T12:33:17Z"}"#;
    check(
        gke,
        &["--server-version", "1.34.2"],
        &[
            "line 1   GKE audit entry   Google Cloud",
            "path          core/v1/namespaces/x/pods",
            "not shown     the query:",
            "proves        nothing about the layer of a request",
        ],
    );
}
