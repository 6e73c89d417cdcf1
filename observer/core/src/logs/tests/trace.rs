//! Traces, by version and by interleaving.

use std::fmt::Write as _;
use std::time::Duration;

use super::reading::{clock, read, time};
use crate::logs::{EtcdListSpan, LayerSpans, LogLine, RequestTrace, TraceCollector, TraceSpan, TraceStep};
use crate::redacted::Redacted;

/// The traces in a log: those that are complete before its end, and those that are cut off by it.
fn collected(log: &str) -> (Vec<RequestTrace>, Vec<RequestTrace>, TraceCollector) {
    let (mut complete, mut rest) = (Vec::new(), Vec::new());
    let mut collector = TraceCollector::default();
    for line in log.lines() {
        if let Some(LogLine::Trace { at, parts }) = LogLine::read(line.as_bytes(), &clock()) {
            for part in parts {
                collector.take(&part, at, &mut |trace| complete.push(trace));
            }
        }
    }
    collector.finish(&mut |trace| rest.push(trace));
    (complete, rest, collector)
}

fn step(message: &str, milliseconds: u64, count: Option<u64>) -> TraceStep {
    TraceStep { message: message.to_owned(), took: Duration::from_millis(milliseconds), count }
}

fn span(name: &str, depth: usize, milliseconds: u64, steps: Vec<TraceStep>) -> TraceSpan {
    TraceSpan { name: name.to_owned(), depth, took: Duration::from_millis(milliseconds), steps, ..TraceSpan::default() }
}

fn trace(spans: Vec<TraceSpan>) -> RequestTrace {
    RequestTrace {
        logged: None,
        start: None,
        total: spans[0].took,
        url: Redacted(String::new()),
        user_agent: String::new(),
        client: String::new(),
        audit_id: String::new(),
        spans,
        given_up: 0,
        is_cut: false,
    }
}

const CURRENT: &str = r#"I0620 12:33:17.389016       1 trace.go:236] Trace[13]: "List" accept:application/json;as=Table;v=v1,application/json,audit-id:i-1,client:10.0.0.1,api-group:,resource:pods,scope:cluster,url:/api/v1/pods,user-agent:kubectl/v1.33.1 (linux/amd64) kubernetes/8adc0f0,verb:LIST (20-Jun-2024 12:33:16.100) (total time: 1200ms):
Trace[13]: ["cacher.GetList" audit-id:i-1,type:pods 1150ms (12:33:16.105)
Trace[13]:  ---"watchCache fresh enough" 3ms (12:33:16.108)
Trace[13]:  ["List(recursive=true) etcd3" audit-id:i-1,key:/pods/default,resourceVersion:0,resourceVersionMatch:,limit:500,continue: 1100ms (12:33:16.110)
Trace[13]:   ---"x" 1ms (12:33:16.111)]]
Trace[13]: ---"Writing http response done" count:4346 40ms (12:33:17.300)
Trace[13]: [1.2s] [1.2s] END"#;

fn current() -> RequestTrace {
    let etcd = TraceSpan {
        key: "/pods/default".to_owned(),
        limit: Some(500),
        resource_version: "0".to_owned(),
        ..span("List(recursive=true) etcd3", 2, 1_100, vec![step("x", 1, None)])
    };
    let handler = span("List", 0, 1_200, vec![step("Writing http response done", 40, Some(4_346))]);
    let cache = span("cacher.GetList", 1, 1_150, vec![step("watchCache fresh enough", 3, None)]);
    RequestTrace {
        logged: time("2024-06-20T12:33:17.389016Z"),
        start: time("2024-06-20T12:33:16.1Z"),
        url: Redacted("/api/v1/pods".to_owned()),
        user_agent: "kubectl/v1.33.1 (linux/amd64) kubernetes/8adc0f0".to_owned(),
        client: "10.0.0.1".to_owned(),
        audit_id: "i-1".to_owned(),
        ..trace(vec![handler, cache, etcd])
    }
}

#[test]
fn nested_block_of_1_26_and_later_is_read() {
    let (complete, rest, _) = collected(CURRENT);
    assert_eq!((complete.as_slice(), rest.as_slice()), (&[current()][..], &[][..]));
    let trace = &complete[0];
    assert_eq!((trace.name(), trace.count()), ("List", Some(4_346)));
    assert_eq!(trace.layers(), LayerSpans { cache: true, etcd: Some(EtcdListSpan::Range) });
}

#[test]
fn block_of_1_19_to_1_25_is_read() {
    // keda issue 2316, of 1.20, which prints the seconds of steps as 00.
    let log = r#"I1123 11:36:52.772270       1 trace.go:205] Trace[1110288377]: "List" url:/apis/external.metrics.k8s.io/v1beta1,user-agent:kube-controller-manager/v1.20.9 (linux/amd64) kubernetes/7a576bc/system:serviceaccount:kube-system:horizontal-pod-autoscaler,client:172.31.31.244 (23-Nov-2021 11:36:52.195) (total time: 576ms):
Trace[1110288377]: ---"Listing from storage done" 576ms (11:36:00.772)
Trace[1110288377]: [576.952177ms] [576.952177ms] END"#;
    let expected = RequestTrace {
        logged: time("2024-11-23T11:36:52.77227Z"),
        start: time("2021-11-23T11:36:52.195Z"),
        url: Redacted("/apis/external.metrics.k8s.io/v1beta1".to_owned()),
        user_agent: "kube-controller-manager/v1.20.9 (linux/amd64) kubernetes/7a576bc/system:serviceaccount:kube-system:horizontal-pod-autoscaler".to_owned(),
        client: "172.31.31.244".to_owned(),
        ..trace(vec![span("List", 0, 576, vec![step("Listing from storage done", 576, None)])])
    };
    let (complete, ..) = collected(log);
    assert_eq!(complete, [expected]);
    assert_eq!(complete[0].layers(), LayerSpans::default());
}

#[test]
fn blocks_of_1_18_end_without_a_last_line() {
    let first = r#"I0301 10:00:01.300000       1 trace.go:116] Trace[11]: "List" url:/api/v1/pods,user-agent:x/v1 (linux/amd64),client:10.0.0.1 (started: 2024-03-01 10:00:00.1 +0000 UTC m=+5.1) (total time: 1.2s):
Trace[11]: [1.1s] [1.1s] Listing from storage done
Trace[11]: [1.2s] [100ms] Writing http response done count:4346"#;
    let expected = RequestTrace {
        logged: time("2024-03-01T10:00:01.3Z"),
        start: time("2024-03-01T10:00:00.1Z"),
        url: Redacted("/api/v1/pods".to_owned()),
        user_agent: "x/v1 (linux/amd64)".to_owned(),
        client: "10.0.0.1".to_owned(),
        ..trace(vec![span(
            "List",
            0,
            1_200,
            vec![step("Listing from storage done", 1_100, None), step("Writing http response done", 100, Some(4_346))],
        )])
    };
    let next = first.replace("Trace[11]", "Trace[12]");
    for (log, is_complete) in [
        (first.to_owned(), false),
        (format!("{first}\nTrace[11]: [1.2s] [1ms] END"), true),
        (format!("{first}\n{next}"), true),
        (format!("{first}\nI0301 10:00:03.200000       1 x.go:1] y"), false),
        // A shipper has joined its lines.
        (first.replace('\n', " "), false),
    ] {
        let (complete, rest, _) = collected(&log);
        let found = if is_complete { complete.first() } else { rest.first() };
        assert_eq!(found, Some(&expected), "{log}");
    }
}

#[test]
fn separate_blocks_name_their_layers() {
    let read = LayerSpans { cache: false, etcd: Some(EtcdListSpan::Range) };
    let one_key = LayerSpans { cache: false, etcd: Some(EtcdListSpan::OneKey) };
    for (name, expected) in [
        ("List etcd3", read),
        ("List(recursive=true) etcd3", read),
        ("GetToList etcd3", one_key),
        ("List(recursive=false) etcd3", one_key),
        ("cacher list", LayerSpans { cache: true, etcd: None }),
        ("cacher.GetList", LayerSpans { cache: true, etcd: None }),
        ("GuaranteedUpdate etcd3", LayerSpans::default()),
    ] {
        let log = format!(
            "I0620 12:33:17.389016 1 trace.go:1] Trace[1]: \"{name}\" (20-Jun-2024 12:33:16.100) (total time: 1200ms):\nTrace[1]: [1.2s] [1.2s] END"
        );
        let (complete, ..) = collected(&log);
        assert_eq!(complete[0].layers(), expected, "{name}");
    }
}

#[test]
fn interleaved_blocks_are_distinguished_by_their_numbers() {
    let other = CURRENT.replace("Trace[13]", "Trace[14]");
    let mixed: Vec<&str> = CURRENT.lines().zip(other.lines()).flat_map(|(a, b)| [a, b]).collect();
    let (complete, ..) = collected(&mixed.join("\n"));
    assert_eq!(complete, [current(), current()]);
}

#[test]
fn block_in_one_json_record_is_read() {
    let message = CURRENT.split_once("] ").unwrap().1.replace('"', "\\\"").replace('\n', "\\n");
    let line = format!(r#"{{"ts":1718886797389.016,"caller":"trace/trace.go:236","msg":"{message}","v":0}}"#);
    assert_eq!(collected(&line).0, [current()]);
}

#[test]
fn block_without_its_end_is_cut() {
    let lines: Vec<&str> = CURRENT.lines().collect();
    let (complete, rest, _) = collected(&lines[..6].join("\n"));
    assert_eq!((complete.len(), &rest[..]), (0, &[RequestTrace { is_cut: true, ..current() }][..]));
    let (complete, rest, collector) = collected(&lines[1..].join("\n"));
    assert_eq!((complete.len(), rest.len(), collector.orphans(), collector.not_joined()), (0, 0, 6, 6));
    assert_eq!(read(lines[1]).form(), "Trace");
}

#[test]
fn audit_id_that_a_client_may_have_written_is_left_out() {
    let user_agent = "user-agent:kubectl/v1.33.1";
    let forged = "user-agent:x,audit-id:i-2,y";
    let of_etcd = |fields: &str| {
        format!(
            "I0620 12:33:17.389016 1 trace.go:1] Trace[1]: \"List etcd3\" {fields} (20-Jun-2024 12:33:16.100) (total time: 1200ms):\nTrace[1]: [1.2s] [1.2s] END"
        )
    };
    for (log, audit_id) in [
        (CURRENT.to_owned(), "i-1"),
        (CURRENT.replace(user_agent, forged), ""),
        // The same ID twice, and one after an empty one.
        (CURRENT.replace(user_agent, "user-agent:x,audit-id:i-1,y"), ""),
        (CURRENT.replace(user_agent, forged).replace("audit-id:i-1,client", "audit-id:,client"), ""),
        // The header `Accept`, before the server's field.
        (CURRENT.replace("accept:application/json;", "accept:a,audit-id:i-2,"), ""),
        (of_etcd("audit-id:i-1,key:/pods/default,resourceVersion:,limit:500,continue:"), "i-1"),
        // A namespace, on a server that writes no ID.
        (of_etcd("key:/pods/x,audit-id:i-2,resourceVersion:,limit:500,continue:"), ""),
    ] {
        let (complete, ..) = collected(&log);
        assert_eq!(complete.iter().map(|trace| &*trace.audit_id).collect::<Vec<_>>(), [audit_id], "{log}");
    }
}

#[test]
fn open_blocks_and_their_steps_are_bounded() {
    let mut log = String::new();
    for number in 0..1_000 {
        writeln!(
            log,
            "I0620 12:33:17.389016 1 trace.go:1] Trace[{number}]: \"List\" (20-Jun-2024 12:33:16.100) (total time: 1200ms):"
        )
        .unwrap();
    }
    let (complete, rest, collector) = collected(&log);
    assert_eq!((complete.len(), rest.len(), collector.not_joined()), (936, 64, 936));
    assert!(complete.iter().all(|trace| trace.is_cut));

    let mut log =
        "I0620 12:33:17.389016 1 trace.go:1] Trace[1]: \"List\" (20-Jun-2024 12:33:16.100) (total time: 1200ms):\n".to_owned();
    for _ in 0..1_000 {
        log.push_str("Trace[1]: ---\"a\" 1ms (12:33:16.108)\n");
    }
    let (_, rest, _) = collected(&log);
    assert_eq!((rest[0].spans[0].steps.len(), rest[0].given_up), (128, 872));
}

#[test]
fn reflector_of_a_client_has_traces_too() {
    // kubernetes/kubernetes issue 120776.
    let log = r#"I0620 12:33:17.389016 1 trace.go:236] Trace[2]: "Reflector ListAndWatch" name:k8s.io/client-go/informers/factory.go:150 (20-Jun-2024 12:33:00.100) (total time: 16743ms):
Trace[2]: ---"Objects listed" error:<nil> 16742ms (12:33:16.842)
Trace[2]: [16.743s] [16.743s] END"#;
    let (complete, ..) = collected(log);
    assert_eq!(complete[0].spans, [span("Reflector ListAndWatch", 0, 16_743, vec![step("Objects listed", 16_742, None)])]);
}
