//! The request log, by version.

use std::time::Duration;

use super::reading::{read, time};
use crate::logs::{LogLine, RequestLog, RequestOutcome};
use crate::redacted::Redacted;

#[track_caller]
fn request(line: &str) -> RequestLog {
    let LogLine::Request(request) = read(line) else { panic!("{line}") };
    *request
}

fn of(logged: &str, verb: &str, uri: &str, outcome: RequestOutcome) -> RequestLog {
    RequestLog {
        logged: time(logged),
        verb: verb.to_owned(),
        uri: Redacted(uri.to_owned()),
        latency: None,
        outcome,
        user_agent: String::new(),
        address: String::new(),
        audit_id: String::new(),
        priority_level: String::new(),
        flow_schema: String::new(),
        seats: None,
        execution: None,
        watch_list_init: None,
    }
}

#[test]
fn requests_of_1_16_and_1_17_are_read() {
    // kubernetes/kubernetes issue 74412.
    let line = "I0222 12:33:17.389016       1 wrap.go:47] GET /api/v1/pods?limit=500&resourceVersion=0: (1m55.976728767s) 200 [kubelet/v1.15.0 (linux/amd64) kubernetes/465f7eb 35.237.12.113:35324]";
    let expected = RequestLog {
        latency: Some(Duration::from_nanos(115_976_728_767)),
        user_agent: "kubelet/v1.15.0 (linux/amd64) kubernetes/465f7eb".to_owned(),
        address: "35.237.12.113".to_owned(),
        ..of("2024-02-22T12:33:17.389016Z", "GET", "/api/v1/pods?limit=500&resourceVersion=0", RequestOutcome::Answered(200))
    };
    assert_eq!(request(line), expected);
    assert_eq!(expected.received(), time("2024-02-22T12:31:21.412287233Z"));

    let hijacked = "I0222 12:33:17.389016       1 httplog.go:90] POST /api/v1/namespaces/a/pods/b/exec?command=ls: (5ms) hijacked [kubectl/v1.17.0 [x] [::1]:4711]";
    let expected = RequestLog {
        latency: Some(Duration::from_millis(5)),
        user_agent: "kubectl/v1.17.0 [x]".to_owned(),
        address: "::1".to_owned(),
        ..of("2024-02-22T12:33:17.389016Z", "POST", "/api/v1/namespaces/a/pods/b/exec?command=ls", RequestOutcome::Hijacked)
    };
    assert_eq!(request(hijacked), expected);

    // A stack follows, and the client stands at its end.
    let failed = "I0222 12:33:17.389016       1 wrap.go:47] GET /api/v1/pods: (5ms) 500";
    let expected = RequestLog {
        latency: Some(Duration::from_millis(5)),
        ..of("2024-02-22T12:33:17.389016Z", "GET", "/api/v1/pods", RequestOutcome::Answered(500))
    };
    assert_eq!(request(failed), expected);
    let joined = request(&format!("{failed}\ngoroutine 1 [running]:\nx()\n\n [a/b 10.0.0.1:1]"));
    assert_eq!(
        (joined.user_agent.as_str(), joined.address.as_str(), joined.outcome),
        ("a/b", "10.0.0.1", RequestOutcome::Answered(500))
    );
}

#[test]
fn requests_of_1_18_are_read() {
    let line = r#"I0222 12:33:17.389016       1 httplog.go:90] verb="GET" URI="/api/v1/pods?watch=true" latency=49.392301ms resp=200 UserAgent="a/v1 \"b\"" srcIP="10.0.0.1:41922": "#;
    let expected = RequestLog {
        latency: Some(Duration::from_nanos(49_392_301)),
        user_agent: "a/v1 \"b\"".to_owned(),
        address: "10.0.0.1".to_owned(),
        ..of("2024-02-22T12:33:17.389016Z", "GET", "/api/v1/pods?watch=true", RequestOutcome::Answered(200))
    };
    assert_eq!(request(line), expected);
    let hijacked = r#"I0222 12:33:17.389016       1 httplog.go:90] verb="POST" URI="/x" latency=5ms UserAgent="a" srcIP="10.0.0.1:41922": hijacked"#;
    assert_eq!(request(hijacked).outcome, RequestOutcome::Hijacked);
}

#[test]
fn requests_of_1_19_to_1_21_have_no_audit_id() {
    // kubernetes/kubernetes issue 97798.
    let line = r#"I0111 12:17:34.692264      12 httplog.go:89] "HTTP" verb="GET" URI="/healthz" latency="49.392301ms" userAgent="kube-probe/1.20" srcIP="[::1]:41922" resp=0"#;
    let request = request(line);
    assert_eq!((request.outcome, request.audit_id.as_str()), (RequestOutcome::NotWritten, ""));
    assert_eq!((request.address.as_str(), request.user_agent.as_str()), ("::1", "kube-probe/1.20"));
}

#[test]
fn requests_of_1_22_and_later_are_read() {
    // gitops-engine issue 616, with the fields of 1.23 and 1.24.
    let line = r#"I0620 12:33:17.389016      11 httplog.go:132] "HTTP" verb="LIST" URI="/api/v1/pods?limit=500&resourceVersion=0" latency="95.186516ms" userAgent="argocd-application-controller/v0.0.0 (linux/amd64) kubernetes/$Format" audit-ID="976ba7bb-1" srcIP="10.0.3.7:41922" apf_pl="workload-low" apf_fs="service-accounts" apf_iseats=10 apf_fseats=0 apf_additionalLatency="0s" apf_execution_time="94.5ms" resp=200"#;
    let expected = RequestLog {
        latency: Some(Duration::from_nanos(95_186_516)),
        user_agent: "argocd-application-controller/v0.0.0 (linux/amd64) kubernetes/$Format".to_owned(),
        address: "10.0.3.7".to_owned(),
        audit_id: "976ba7bb-1".to_owned(),
        priority_level: "workload-low".to_owned(),
        flow_schema: "service-accounts".to_owned(),
        seats: Some(10),
        execution: Some(Duration::from_micros(94_500)),
        ..of("2024-06-20T12:33:17.389016Z", "LIST", "/api/v1/pods?limit=500&resourceVersion=0", RequestOutcome::Answered(200))
    };
    assert_eq!(request(line), expected);

    let failed = format!(
        "{}resp=504 statusStack=<\n\t\n\tgoroutine 1 [running]:\n > addedInfo=<\n\tlogging error output: \"x\"\n >",
        &line[..line.len() - 8]
    );
    assert_eq!(request(&failed).outcome, RequestOutcome::Answered(504));
    let hijacked = line.replace("resp=200", "hijacked=true");
    assert_eq!(request(&hijacked).outcome, RequestOutcome::Hijacked);
    let streamed = line.replace("resp=200", r#"watchlist_init_latency="1.25ms" resp=200"#);
    assert_eq!(request(&streamed).watch_list_init, Some(Duration::from_micros(1_250)));
}

#[test]
fn request_in_json_is_read() {
    let line = r#"{"ts":1718886797389.016,"caller":"httplog/httplog.go:132","msg":"HTTP","v":3,"verb":"LIST","URI":"/api/v1/pods","latency":"95ms","userAgent":"a","audit-ID":"i","srcIP":"10.0.3.7:4","resp":200}"#;
    let expected = RequestLog {
        latency: Some(Duration::from_millis(95)),
        user_agent: "a".to_owned(),
        address: "10.0.3.7".to_owned(),
        audit_id: "i".to_owned(),
        ..of("2024-06-20T12:33:17.389016Z", "LIST", "/api/v1/pods", RequestOutcome::Answered(200))
    };
    assert_eq!(request(line), expected);
}

#[test]
fn watch_without_a_status_has_an_unknown_life() {
    // kubernetes/kubernetes issue 125614: 1.30.0 to 1.30.3 log a watch when it opens.
    let line = r#"I0620 12:33:17.389016      11 httplog.go:132] "HTTP" verb="WATCH" URI="/api/v1/pods?allowWatchBookmarks=true&resourceVersion=97186&timeout=9m12s&timeoutSeconds=552&watch=true" latency="470.891µs" userAgent="kube-scheduler/v1.30.2" audit-ID="2cf3b6d8" srcIP="[::1]:60566" apf_pl="workload-high" apf_fs="kube-scheduler" apf_iseats=1 apf_fseats=0 resp=0"#;
    assert_eq!(request(line).outcome, RequestOutcome::UnknownLife);
    assert_eq!(request(&line.replace("\"WATCH\"", "\"GET\"")).outcome, RequestOutcome::UnknownLife);
    assert_eq!(request(&line.replace("resp=0", "resp=200")).outcome, RequestOutcome::Answered(200));
    assert_eq!(request(&line.replace("\"WATCH\"", "\"LIST\"")).outcome, RequestOutcome::NotWritten);
    // It took longer than a watch takes to open.
    assert_eq!(request(&line.replace("470.891µs", "1.5s")).outcome, RequestOutcome::NotWritten);
}

#[test]
fn query_shows_a_watch_as_the_server_reads_it() {
    let outcome = |parameter: &str| {
        let line = format!(
            r#"I0620 12:33:17.389016      11 httplog.go:132] "HTTP" verb="GET" URI="/api/v1/pods?{parameter}" latency="470.891µs" resp=0"#
        );
        request(&line).outcome
    };
    // The client for Python sends `True`.
    for parameter in ["watch=true", "watch=True", "watch=1", "limit=5&watch", "wat%63h=true"] {
        assert_eq!(outcome(parameter), RequestOutcome::UnknownLife, "{parameter}");
    }
    for parameter in
        ["watch=false", "watch=False", "watch=0", "watch=0&watch=1", "labelSelector=watch=true", "allowWatchBookmarks=true"]
    {
        assert_eq!(outcome(parameter), RequestOutcome::NotWritten, "{parameter}");
    }
}

#[test]
fn other_records_of_its_file_are_no_requests() {
    for line in [
        "I0222 12:33:17.389016       1 httplog.go:90] Unable to convert x into http.Flusher",
        "I0222 12:33:17.389016       1 wrap.go:47] GET of: (x) y",
        r#"I0222 12:33:17.389016       1 httplog.go:90] "HTTP" verb="GET""#,
        r#"I0222 12:33:17.389016       1 httplog.go:90] verb="GET" resp=200"#,
    ] {
        assert_eq!(read(line).form(), "other klog line", "{line}");
    }
}

#[test]
fn debug_shows_no_uri() {
    let line = r#"I0620 12:33:17.389016      11 httplog.go:132] "HTTP" verb="GET" URI="/x?token=c4n4ry" latency="1ms" resp=200"#;
    assert!(!format!("{:?}", read(line)).contains("c4n4ry"));
}
