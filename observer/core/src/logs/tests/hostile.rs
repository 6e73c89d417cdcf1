//! Broken lines of each form. None may panic, and no text grows.

use proptest::prelude::*;

use super::reading::clock;
use crate::logs::{LogLine, TraceCollector};

/// A line of each form and of each kind of its values.
const LINES: [&str; 20] = [
    r#"{"auditID":"a","stage":"ResponseComplete","verb":"list","requestURI":"/x","stageTimestamp":"2026-11-22T02:00:00Z"}"#,
    r#"2020-03-01T10:00:00.1Z AUDIT: id="a" stage="Panic" ip="<unknown>" groups="\"a\",\"b\"" as="<self>" uri="/a%zz" response="200""#,
    r#"{"protoPayload":{"methodName":"io.k8s.core.v1.pods.list","resourceName":"core/v1/namespaces/x/pods"},"timestamp":"2024-06-20T12:33:17Z"}"#,
    r#"{"resource":{"type":"k8s_control_plane_component"},"textPayload":"I0620 12:33:16.000000 1 a.go:1] x","timestamp":"2024-06-20T12:33:17Z"}"#,
    "I0222 12:33:17.389016       1 wrap.go:47] GET /api/v1/pods?limit=500: (1m55.976728767s) 200 [kubelet/v1.15.0 (linux/amd64) é [::1]:35324]",
    r#"I0222 12:33:17.389016       1 httplog.go:90] verb="GET" URI="/a\u00e9\x41\n" latency=49.39µs resp=200 UserAgent="…" srcIP="[::1]:4": hijacked"#,
    r#"I0620 12:33:17.389016 1 httplog.go:132] "HTTP" verb="LIST" URI="/é" latency="95ms" srcIP="x" a={"b":["\""]} resp=500 statusStack=<"#,
    r#"{"ts":1718886797389.016,"caller":"a/httplog.go:132","msg":"HTTP","v":3,"verb":"LIST","URI":"/é","latency":"95ms","resp":200}"#,
    "I0620 12:33:17.389016 1 get.go:251] Starting watch for /api/v1/pods, rv=147471 labels=a in (b) fields=é timeout=6m59s",
    "E0620 12:33:17.389016 1 cacher.go:475] cacher (pods): unexpected ListAndWatch error: é: connection refused; reinitializing...",
    r#"I0620 12:33:17.389016 1 cacher.go:1] Forcing é watcher close due to unresponsiveness: key: "/é", labels: "\x41", fields: "". len(c.input) = 10, len(c.result) = 10, graceful = false"#,
    r#"I0620 12:33:17.389016 1 cacher.go:1] processing 14040 initEvents of pods (key: "/é", labels: "", fields: "") took 993.5ms"#,
    "I0620 12:33:17.389016 1 trace.go:1] Trace[1]: \"List\" url:/é,limit:5,client:x (started: 2024-03-01 10:00:00.1 +0000 UTC m=+5.1) (total time: 1.2s): Trace[1]: [1.1s] [1.1s] é count:4 Trace[1]: [1s] [1s] END",
    "Trace[1]:   [\"List etcd3\" key:/é,limit:5 12ms (12:33:16.105)]]]",
    "Trace[1]:  ---\"é\" count:4,error:<nil> 12ms (12:33:16.105)",
    "W0620 12:33:17.389016 1 reflector.go:1] é.go:1: watch of *v1.Pod ended with: too old resource version: 123 (456)",
    "E0620 12:33:17.389016 1 reflector.go:1] é.go:1: Failed to watch *v1.Pod: failed to list *v1.Pod: Too large resource version: 12, current: 3",
    "I0921 08:06:26.988081 2259949 round_trippers.go:553] GET https://é/apis?limit=500 200 OK in 8 milliseconds",
    r#"2020-03-30 04:15:00.235607 W | etcdserver: read-only range request "key:\"/é\000\" limit:5 " with result "range_response_count:0 size:5" took too long (299.8ms) to execute"#,
    r#"{"level":"warn","ts":"2024-04-22T17:18:03.2+0800","msg":"request stats","time spent":"3s","response type":"/etcdserverpb.KV/Range","response count":1,"request content":"key:"/é" range_end:"/ê" limit:500 "}"#,
];

/// Reads a line as all consumers do.
fn consume(line: &[u8], collector: &mut TraceCollector) {
    let Some(line) = LogLine::read(line, &clock()) else { return };
    assert!(!format!("{line:?} {:?} {}", line.at(), line.form()).is_empty());
    if let LogLine::Trace { at, parts } = &line {
        for part in parts {
            collector.take(part, *at, &mut |trace| assert!(trace.layers().etcd.is_none() || !trace.name().is_empty()));
        }
    }
}

#[test]
fn lines_are_understood() {
    for line in LINES {
        assert!(
            LogLine::read(line.as_bytes(), &clock()).is_some_and(|line| line.form() != "other klog line" || line.at().is_some()),
            "{line}"
        );
    }
}

#[test]
fn lines_cut_at_each_byte_or_without_one_do_not_panic() {
    let mut collector = TraceCollector::default();
    for line in LINES.map(str::as_bytes) {
        for at in 0..line.len() {
            consume(&line[..at], &mut collector);
            consume(&line[at..], &mut collector);
            let mut changed = line.to_vec();
            changed.remove(at);
            consume(&changed, &mut collector);
            for byte in *b"\"\\ =<[]{}:,\n\xff0" {
                line.clone_into(&mut changed);
                changed[at] = byte;
                consume(&changed, &mut collector);
            }
        }
    }
}

#[test]
fn texts_that_are_kept_are_short() {
    let long = "é".repeat(100_000);
    for line in LINES {
        let line = line.replace('é', &long);
        // The URI of a request is kept up to 64 KiB, and it is not shown.
        let shown = LogLine::read(line.as_bytes(), &clock()).map(|line| format!("{line:?}").len());
        assert!(shown.is_some_and(|shown| shown < 8_192), "{shown:?}");
    }
}

proptest! {
    #[test]
    fn mixed_parts_of_lines_do_not_panic(parts in prop::collection::vec((0..LINES.len(), 0..400_usize, 0..80_usize), 1..6)) {
        let mut mixed = Vec::new();
        for (line, start, length) in parts {
            let line = LINES[line].as_bytes();
            let start = start.min(line.len());
            mixed.extend_from_slice(&line[start..line.len().min(start + length)]);
        }
        consume(&mixed, &mut TraceCollector::default());
    }
}
