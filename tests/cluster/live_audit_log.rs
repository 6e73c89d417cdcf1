//! `watchtap run --audit-log`, beside the audit log that a real API server writes at the same time.

use std::collections::BTreeSet;

use observer_core::time::Timestamp;
use observer_tests::{Client, Cluster, RunSession};
use serde_json::{Value, json};

const NAMESPACE: &str = "live-audit-log";
/// Difference of two times of the same request because of rounding.
const SLACK_US: u64 = 2_000;

#[test]
fn each_request_of_a_run_has_the_user_and_the_time_of_its_audit_event() {
    let cluster = Cluster::shared().unwrap();
    cluster.create_configmaps(NAMESPACE, 3).unwrap();
    let log = cluster.audit_log_file();
    let session =
        RunSession::start(&cluster.kubeconfig_token().unwrap(), &["--grace", "0s", "--audit-log", log.to_str().unwrap()]).unwrap();
    let listening = session.listening().unwrap();
    let server = format!("https://{}", listening.address);
    let [admin, visitor] = [cluster.admin_token(), cluster.visitor_token()]
        .map(|token| Client::of_server(&server, &listening.authority, token).unwrap());
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    for query in ["?resourceVersion=0", "", "?limit=1", "?watch=true&resourceVersion=0&timeoutSeconds=1"] {
        admin.get(&format!("{path}{query}")).unwrap();
    }
    admin.post(&path, &json!({"metadata": {"name": "of-the-run"}})).unwrap().success().unwrap();
    assert_eq!(visitor.raw("GET", &path, &[], b"").unwrap().status, 403);
    let report = session.finish().unwrap();

    let joined = &report["totals"]["joined"];
    let without = ["without_event", "without_id", "ambiguous", "given_up"].map(|name| joined[name].clone());
    assert_eq!((&joined["joined"], without), (&json!(6), [0, 0, 0, 0].map(Value::from)), "{joined}");
    assert_eq!((&report["totals"]["requests"], &report["totals"]["lists"]), (&json!(6), &json!(4)), "{}", report["totals"]);

    let requests = report["requests"].as_array().unwrap();
    let ids: BTreeSet<&str> = requests.iter().map(|request| request["audit_id"].as_str().unwrap()).collect();
    assert_eq!((ids.len(), requests.len()), (6, 6), "each request is in the report once");
    let is_complete = |event: &&Value| event["stage"] == "ResponseComplete";
    let events = cluster
        .audit_log_when(|events| ids.iter().all(|id| events.iter().filter(is_complete).any(|event| event["auditID"] == *id)))
        .unwrap();
    for request in requests {
        let event = events.iter().filter(is_complete).find(|event| event["auditID"] == request["audit_id"]).unwrap();
        assert_eq!(request["user"]["subject"], event["user"]["username"], "{request} {event}");
        assert_eq!(request["status"], event["responseStatus"]["code"], "{request} {event}");
        let [of_server, total] = ["server_us", "total_us"].map(|name| request[name].as_u64().unwrap());
        let time = |name: &str| Timestamp::from_rfc3339(event[name].as_str().unwrap()).unwrap();
        let in_event = time("stageTimestamp").since(time("requestReceivedTimestamp"));
        assert_eq!(u128::from(of_server), in_event.as_micros(), "{request} {event}");
        assert!(of_server <= total + SLACK_US, "the server's time is part of the client's: {request}");
    }
}
