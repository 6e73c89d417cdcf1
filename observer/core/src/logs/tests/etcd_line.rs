//! Lines of etcd, by version.

use std::time::Duration;

use super::reading::{clock, read, time};
use crate::logs::{EtcdEvent, EtcdLine, EtcdRequest, LogClock, LogLine, RangeRead};

#[track_caller]
fn assert_reads(line: &str, at: &str, event: EtcdEvent) {
    let form = if event == EtcdEvent::Other {
        "other etcd line"
    } else if event.is_request() {
        "etcd request"
    } else {
        "etcd maintenance"
    };
    let found = read(line);
    assert_eq!((found.form(), found), (form, LogLine::Etcd(Box::new(EtcdLine { at: time(at), event }))), "{line}");
}

fn range(key: &str, range_end: &str, limit: u64) -> EtcdRequest {
    EtcdRequest::Range(RangeRead { key: key.to_owned(), range_end: range_end.to_owned(), limit, ..RangeRead::default() })
}

fn slow(request: EtcdRequest, took: Duration, count: Option<u64>, size: Option<u64>) -> EtcdEvent {
    EtcdEvent::SlowApply { request, took, count, size }
}

#[test]
fn slow_requests_of_3_4_are_read() {
    let took = Duration::from_nanos(299_853_164);
    for (text, event) in [
        (
            r#"read-only range request "key:\"/registry/jobs/\" range_end:\"/registry/jobs0\" limit:500 " with result "range_response_count:0 size:5" took too long (299.853164ms) to execute"#,
            slow(range("/registry/jobs/", "/registry/jobs0", 500), took, Some(0), Some(5)),
        ),
        (
            r#"request "header:<ID:1 > txn:<compare:<target:MOD key:\"a\" mod_revision:1 > >" with result "size:16" took too long (299.853164ms) to execute"#,
            slow(EtcdRequest::Other("write".to_owned()), took, None, Some(16)),
        ),
        (
            r#"read-only range request "key:\"a\" " with result "error:context canceled" took too long (299.853164ms) to execute"#,
            slow(range("a", "", 0), took, None, None),
        ),
    ] {
        let line = format!("2020-03-30 04:15:00.235607 W | etcdserver: {text}");
        assert_reads(&line, "2020-03-30T04:15:00.235607Z", event);
    }
}

#[test]
fn time_of_3_4_is_that_of_the_zone() {
    let line = b"2020-03-30 04:15:00.235607 N | etcdserver/api/v3rpc: finished defragmenting the storage backend";
    let found = LogLine::read(line, &LogClock::of_year(2024, 7_200)).unwrap();
    assert_eq!(found.at(), time("2020-03-30T02:15:00.235607Z"));
}

#[test]
fn slow_requests_of_3_5_and_later_are_read() {
    // kubernetes/kubernetes issue 112622.
    let line = r#"{"level":"warn","ts":"2022-09-21T09:20:50.269Z","caller":"etcdserver/util.go:166","msg":"apply request took too long","took":"121.197746ms","expected-duration":"100ms","prefix":"read-only range ","request":"key:\"/registry/leases/kube-system/kube-scheduler\" ","response":"range_response_count:1 size:492"}"#;
    let took = Duration::from_nanos(121_197_746);
    let lease = "/registry/leases/kube-system/kube-scheduler";
    assert_reads(line, "2022-09-21T09:20:50.269Z", slow(range(lease, "", 0), took, Some(1), Some(492)));
    // A copy without the inner backslashes.
    let copied = line.replace('\\', "");
    assert_reads(&copied, "2022-09-21T09:20:50.269Z", slow(range(lease, "", 0), took, Some(1), Some(492)));

    let txn = line
        .replace("read-only range ", "read-only txn ")
        .replace("range_response_count:1 size:492", "responses:<range_response_count:3 range_response_count:4> size:9");
    let event = slow(EtcdRequest::Other("read-only txn".to_owned()), took, Some(7), Some(9));
    assert_reads(&txn, "2022-09-21T09:20:50.269Z", event);
    let write = line.replace("read-only range ", "").replace("range_response_count:1 ", "");
    assert_reads(&write, "2022-09-21T09:20:50.269Z", slow(EtcdRequest::Other("write".to_owned()), took, None, Some(492)));
}

#[test]
fn answered_requests_are_read_at_any_level() {
    let line = r#"{"level":"warn","ts":"2024-04-22T17:18:03.21385+0800","caller":"v3rpc/interceptor.go:197","msg":"request stats","start time":"2024-04-22T17:18:00.213107+0800","time spent":"3.000743014s","remote":"127.0.0.1:39294","response type":"/etcdserverpb.KV/Range","request count":0,"request size":28,"response count":11,"response size":2048,"request content":"key:\"/registry/pods/default/\" range_end:\"/registry/pods/default0\" limit:500 "}"#;
    let event = |request, count, size| EtcdEvent::Answered {
        start: time("2024-04-22T09:18:00.213107Z"),
        took: Duration::from_nanos(3_000_743_014),
        remote: "127.0.0.1:39294".to_owned(),
        request,
        count,
        size,
    };
    let pods = || range("/registry/pods/default/", "/registry/pods/default0", 500);
    for line in [
        line.to_owned(),
        line.replace("\"warn\"", "\"debug\""),
        line.replace('\\', ""),
        // The library of 3.7.
        line.replace(" range_end", "  range_end").replace(" limit", "  limit").replace("500 ", "500"),
    ] {
        assert_reads(&line, "2024-04-22T09:18:03.21385Z", event(pods(), Some(11), Some(2_048)));
    }
    let lease = line
        .replace("KV/Range", "Lease/LeaseGrant")
        .replace("\"response count\":11", "\"response count\":-1")
        .replace("2048", "-1");
    let other = event(EtcdRequest::Other("/etcdserverpb.Lease/LeaseGrant".to_owned()), None, None);
    assert_reads(&lease, "2024-04-22T09:18:03.21385Z", other);
}

#[test]
fn traces_of_reads_are_read() {
    let event = || EtcdEvent::RangeTrace {
        key: "/registry/pods/".to_owned(),
        range_end: "/registry/pods0".to_owned(),
        count: Some(500),
        revision: Some(2_288),
        took: Duration::from_nanos(121_459_313),
    };
    let detail = r#""detail":"{range_begin:/registry/pods/; range_end:/registry/pods0; response_count:500; response_revision:2288; }","duration":"121.459313ms","step_count":1}"#;
    for head in [
        r#"{"level":"info","ts":"2024-04-22T17:18:03.2Z","caller":"traceutil/trace.go:171","msg":"trace[1771796188] range","#,
        r#"{"level":"info","ts":"2024-04-22T17:18:03.2Z","caller":"traceutil/trace.go:171","msg":"trace","trace_id":1771796188,"operation":"range","#,
    ] {
        assert_reads(&format!("{head}{detail}"), "2024-04-22T17:18:03.2Z", event());
        let other = format!("{head}{detail}").replace(" range\"", " put\"").replace("\"range\"", "\"put\"");
        assert_reads(&other, "2024-04-22T17:18:03.2Z", EtcdEvent::Other);
    }
}

#[test]
fn maintenance_is_read() {
    let at = "2024-04-22T17:18:03.2Z";
    let took = Some(Duration::from_millis(12));
    for (rest, event) in [
        (r#""msg":"compact tree index","revision":42}"#, EtcdEvent::CompactionStarted { revision: 42 }),
        (
            r#""msg":"finished scheduled compaction","compact-revision":42,"took":"12ms","hash":1,"current-db-size":"2.1 MB"}"#,
            EtcdEvent::Compacted { revision: 42, took },
        ),
        (r#""msg":"defragmenting","path":"/a"}"#, EtcdEvent::DefragmentationStarted),
        (r#""msg":"finished defragmenting directory","path":"/a","took":"12ms"}"#, EtcdEvent::Defragmented { took }),
        (r#""msg":"defragmented","path":"/a","took":"12ms"}"#, EtcdEvent::Defragmented { took }),
        (r#""msg":"failed to defragment","error":"x"}"#, EtcdEvent::DefragmentationFailed),
    ] {
        assert_reads(&format!(r#"{{"level":"info","ts":"{at}","caller":"x.go:1",{rest}"#), at, event);
    }
    for (text, event) in [
        ("mvcc: store.index: compact 42", EtcdEvent::CompactionStarted { revision: 42 }),
        ("mvcc: finished scheduled compaction at 42 (took 12ms)", EtcdEvent::Compacted { revision: 42, took }),
        ("etcdserver/api/v3rpc: starting to defragment the storage backend...", EtcdEvent::DefragmentationStarted),
        ("etcdserver/api/v3rpc: finished defragmenting the storage backend", EtcdEvent::Defragmented { took: None }),
        ("etcdserver/api/v3rpc: failed to defragment the storage backend (x)", EtcdEvent::DefragmentationFailed),
    ] {
        assert_reads(&format!("2024-04-22 17:18:03.200000 I | {text}"), at, event);
    }
}

#[test]
fn other_lines_of_etcd_are_recognised_with_their_times() {
    for (line, at) in [
        // etcd 3.4, 3.5 and 3.6.
        (
            r#"{"level":"warn","ts":"2022-04-26T16:27:02.033+0800","caller":"grpclog/grpclog.go:60","msg":"transport: http2Server.HandleStreams failed to read frame"}"#,
            "2022-04-26T08:27:02.033Z",
        ),
        (
            r#"{"level":"info","ts":"2023-09-08T03:00:19.376Z","logger":"raft","caller":"etcdserver/zap_raft.go:77","msg":"5a66c5a502692d6f became follower at term 8"}"#,
            "2023-09-08T03:00:19.376Z",
        ),
        (
            r#"{"level":"info","ts":"2026-11-22T09:35:20.335022Z","logger":"raft","caller":"v3@v3.6.0/raft.go:912","msg":"7e87bdcab2fde7d became candidate at term 2"}"#,
            "2026-11-22T09:35:20.335022Z",
        ),
        (
            r#"{"level":"info","ts":"2026-11-22T09:35:20.335644Z","caller":"version/monitor.go:116","msg":"cluster version differs from storage version.","cluster-version":"3.6.0","storage-version":"3.5.0"}"#,
            "2026-11-22T09:35:20.335644Z",
        ),
        // The numbers of other lines may be negative.
        (
            r#"{"level":"info","ts":"2026-11-22T09:35:20.335644Z","caller":"mvcc/hash.go:157","msg":"storing new hash","hash":1,"revision":7,"compact-revision":-1}"#,
            "2026-11-22T09:35:20.335644Z",
        ),
        // etcd's client, in the log of kube-apiserver.
        (
            r#"{"level":"warn","ts":"2023-12-14T08:54:30.147606Z","logger":"etcd-client","caller":"v3@v3.5.9/retry_interceptor.go:62","msg":"retrying of unary invoker failed","attempt":0}"#,
            "2023-12-14T08:54:30.147606Z",
        ),
        (
            "2026-11-22 02:00:00.123456 I | etcdserver: published {Name:a} to cluster cdf818194e3a8c32",
            "2026-11-22T02:00:00.123456Z",
        ),
        (
            "2020-03-30 04:15:00.235607 N | etcdserver/membership: set the initial cluster version to 3.4",
            "2020-03-30T04:15:00.235607Z",
        ),
        ("2020-03-30 04:15:00.235607 W | etcdserver: read-only range request", "2020-03-30T04:15:00.235607Z"),
        // With `--debug`.
        (
            "2020-03-30 04:15:00.235607 [interceptor.go:170] D | etcdserver/api/v3rpc: start time = 2020-03-30 04:15:00",
            "2020-03-30T04:15:00.235607Z",
        ),
    ] {
        assert_reads(line, at, EtcdEvent::Other);
    }
}

#[test]
fn place_of_a_line_at_level_debug_is_passed_over() {
    let line = "2020-03-30 04:15:00.235607 [index.go:191] I | mvcc: store.index: compact 42";
    assert_reads(line, "2020-03-30T04:15:00.235607Z", EtcdEvent::CompactionStarted { revision: 42 });
}

#[test]
fn lines_of_other_programs_with_zap_are_not_those_of_etcd() {
    for line in [
        // A controller without a caller, and with the numbers that zap writes by default.
        r#"{"level":"info","ts":"2024-04-22T17:18:03.2Z","msg":"serving client traffic"}"#,
        r#"{"level":"info","ts":"2024-04-22T17:18:03Z","logger":"controller","msg":"Starting workers","worker count":1}"#,
        r#"{"level":"info","ts":1661997112.15,"caller":"embed/etcd.go:1","msg":"x"}"#,
        // The same form, and another package: AWS VPC CNI, and a program in one package.
        r#"{"level":"debug","ts":"2025-04-09T12:00:14.936Z","caller":"ipamd/ipamd.go:664","msg":"Reconcile existing ENI"}"#,
        r#"{"level":"info","ts":"2025-04-09T12:00:14.936Z","caller":"main.go:52","msg":"starting"}"#,
        r#"{"level":"info","ts":"2025-04-09T12:00:14.936Z","caller":"embed","msg":"starting"}"#,
        r#"{"level":"INFO","ts":"2025-04-09T12:00:14.936Z","caller":"embed/etcd.go:1","msg":"starting"}"#,
        r#"{"level":"info","ts":"yesterday","caller":"embed/etcd.go:1","msg":"starting"}"#,
        r#"{"level":"info","ts":"2025-04-09T12:00:14.936Z","caller":"embed/etcd.go:1"}"#,
        "2020-03-30 04:15:00.235607 X | raft: became leader",
        "2020-03-30 04:15:00.235607 INFO | raft: became leader",
        "2020-03-30 04:15:00.235607 I | Some words: became leader",
        "2020-03-30 04:15:00.235607 I | became leader",
        "2020-02-30 04:15:00.235607 I | mvcc: store.index: compact 42",
    ] {
        assert_eq!(LogLine::read(line.as_bytes(), &clock()), None, "{line}");
    }
    // klog has no level.
    let klog = r#"{"ts":1718886797389.016,"caller":"embed/etcd.go:1","msg":"x","v":0}"#;
    assert_eq!(read(klog).form(), "other klog line");
}

#[test]
fn known_lines_without_their_facts_are_not_understood() {
    for line in [
        r#"{"level":"warn","ts":"2024-04-22T17:18:03.2Z","caller":"v3rpc/interceptor.go:197","msg":"request stats","response type":"/etcdserverpb.KV/Range"}"#,
        r#"{"level":"info","ts":"2024-04-22T17:18:03.2Z","caller":"mvcc/index.go:194","msg":"compact tree index","revision":-1}"#,
        r#"{"level":"warn","msg":"apply request took too long","request":"key:\"a"}"#,
        r#"{"level":"warn","msg":"apply request took too long","request":"key:"a""#,
    ] {
        assert_eq!(LogLine::read(line.as_bytes(), &clock()), None, "{line}");
    }
}
