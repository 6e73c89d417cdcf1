//! Watches that begin, by version.

use std::time::Duration;

use super::reading::{read, time};
use crate::logs::{LogLine, WatchStarted};

#[test]
fn each_form_is_read() {
    let pods = WatchStarted {
        at: time("2024-06-20T12:33:17.389016Z"),
        path: "/api/v1/pods".to_owned(),
        resource_version: "147471".to_owned(),
        labels: "a in (b, c)".to_owned(),
        fields: "spec.nodeName=n1".to_owned(),
        timeout: Some(Duration::from_secs(419)),
        send_initial_events: None,
        audit_id: String::new(),
    };
    let current = WatchStarted { send_initial_events: Some(true), audit_id: "i-1".to_owned(), ..pods.clone() };
    let unset = WatchStarted {
        path: "/apis/coordination.k8s.io/v1/leases".to_owned(),
        resource_version: String::new(),
        labels: String::new(),
        fields: String::new(),
        timeout: Some(Duration::from_secs(586)),
        ..pods.clone()
    };
    let header = "I0620 12:33:17.389016       1 get.go:251] ";
    for (line, expected) in [
        // 1.16 to 1.18, 1.19 and later, 1.36.
        ("Starting watch for /api/v1/pods, rv=147471 labels=a in (b, c) fields=spec.nodeName=n1 timeout=6m59s", &pods),
        ("Starting watch for /apis/coordination.k8s.io/v1/leases, rv= labels= fields= timeout=9m46s", &unset),
        (
            r#""Starting watch" path="/api/v1/pods" resourceVersion="147471" labels="a in (b, c)" fields="spec.nodeName=n1" timeout="6m59s""#,
            &pods,
        ),
        (
            r#""Starting watch" path="/apis/coordination.k8s.io/v1/leases" resourceVersion="" labels="" fields="" timeout="9m46s""#,
            &unset,
        ),
        (
            r#""Starting watch" path="/api/v1/pods" resourceVersion="147471" labels="a in (b, c)" fields="spec.nodeName=n1" sendInitialEvents=true timeout="6m59s" audit-ID="i-1""#,
            &current,
        ),
    ] {
        assert_eq!(read(&format!("{header}{line}")), LogLine::WatchStarted(Box::new(expected.clone())), "{line}");
    }
    assert_eq!(read(&format!("{header}Starting watch for /api, rv=1")).form(), "other klog line");
}
