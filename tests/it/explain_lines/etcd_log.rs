//! Lines of etcd.

use super::reading::{check, explain};

#[test]
fn lines_of_etcd_are_explained() {
    let zap = |message: &str, more: &str| {
        format!(r#"{{"level":"warn","ts":"2024-04-22T17:18:03.2Z","caller":"a.go:1","msg":"{message}",{more}}}"#)
    };
    let slow = r#""took":"121.1ms","prefix":"read-only range ","request":"key:\"/registry/pods/\" range_end:\"/registry/pods0\" limit:500 ","response":"range_response_count:500 size:492""#;
    let stats = r#""time spent":"3s","remote":"127.0.0.1:39294","response type":"/etcdserverpb.KV/Range","response count":11,"response size":1230,"request content":"key:\"/registry/pods/\" range_end:\"/registry/pods0\" limit:500 ""#;
    let text = r#"2020-03-30 04:15:00.235607 W | etcdserver: read-only range request "key:\"/registry/jobs/\" range_end:\"/registry/jobs0\" limit:500 " with result "range_response_count:0 size:5" took too long (299.8ms) to execute"#;
    let keys = "keys          /registry/pods/ … /registry/pods0";
    let proof = "proves        etcd-read-logged: ";
    for (line, expected) in [
        (
            text.to_owned(),
            &[
                "etcd request   etcd 3.4 or earlier, in its text form",
                "time          2020-03-30T04:15:00.235607000Z   zone assumed\n",
                "keys          /registry/jobs/",
                "keys read     0",
                "upstream      etcd-io/etcd etcdserver/util.go",
                proof,
            ][..],
        ),
        (
            zap("apply request took too long", slow),
            &[
                "etcd request   etcd 3.4 or later",
                "time          2024-04-22T17:18:03.200000000Z\n",
                keys,
                "limit         500",
                "took          121 ms",
                "keys read     500",
                proof,
            ],
        ),
        (
            zap("request stats", stats),
            &[
                "etcd request   etcd 3.5 or later; 3.4 with --log-level=debug",
                keys,
                "size          1.2 kB",
                "asked by      127.0.0.1:39294",
                proof,
            ],
        ),
        (
            zap(
                "trace[1771796188] range",
                r#""detail":"{range_begin:/registry/pods/; range_end:/registry/pods0; response_count:500; response_revision:2288; }","duration":"121ms""#,
            ),
            &["etcd was slow in a read of a range of keys", keys, "keys read     500", "revision      2288"],
        ),
        (
            zap("finished scheduled compaction", r#""compact-revision":2288,"took":"12ms""#),
            &["etcd maintenance", "expire with 410", "revision      2288"],
        ),
        (zap("compact tree index", r#""revision":2288"#), &["etcd removes old revisions"]),
        (zap("finished defragmenting directory", r#""took":"12s""#), &["it answered no request meanwhile", "took          12 s"]),
        (zap("defragmenting", r#""path":"x""#), &["answers no request meanwhile"]),
        (zap("failed to defragment", r#""path":"x""#), &["could not defragment"]),
    ] {
        check(&line, &[], expected);
    }
}

#[test]
fn other_lines_of_etcd_are_recognised() {
    let zap = r#"{"level":"info","ts":"2023-09-08T03:00:19.376Z","logger":"raft","caller":"etcdserver/zap_raft.go:77","msg":"5a66c5a502692d6f became follower at term 8"}"#;
    let text = "2026-11-22 02:00:00.123456 I | etcdserver: published {Name:a} to cluster cdf818194e3a8c32";
    check(
        &format!("{zap}\n{text}"),
        &[],
        &[
            "line 1   other etcd line   etcd 3.4 or later, or a program with its client\n",
            "meaning       etcd, or its client, reports neither a request nor maintenance",
            "time          2023-09-08T03:00:19.376000000Z\n",
            "proves        nothing about the layer of a request",
            "line 2   other etcd line   etcd 3.4 or earlier, in its text form\n",
            "time          2026-11-22T02:00:00.123456000Z   zone assumed\n",
        ],
    );
    // AWS VPC CNI, whose lines have the same form.
    let other = r#"{"level":"debug","ts":"2025-04-09T12:00:14.936Z","caller":"ipamd/ipamd.go:664","msg":"Reconcile existing ENI"}"#;
    assert_eq!(explain(other.as_bytes(), &[]).status.code(), Some(1));
}
