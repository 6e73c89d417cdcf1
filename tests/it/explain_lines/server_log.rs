//! Lines of kube-apiserver's own log.

use serde_json::json;

use super::reading::{check, explain, klog};

#[test]
fn requests_in_the_log_of_each_version_are_explained() {
    let new = r#""HTTP" verb="LIST" URI="/api/v1/pods?limit=500&resourceVersion=0" latency="95ms" userAgent="argocd/v1" audit-ID="i-1" srcIP="10.0.3.7:4" apf_pl="workload-low" apf_fs="service-accounts" apf_iseats=10 apf_fseats=0 resp=200"#;
    check(
        &klog("httplog.go", new),
        &["--server-version", "1.34.2"],
        &[
            "line 1   request log   kube-apiserver 1.24 or later, -v=3\n",
            "time          ",
            "   year and zone assumed\n",
            "audit ID      i-1",
            "took          95 ms",
            "APF level     workload-low, flow schema service-accounts, 10 seats",
            "not shown     the user",
            "served from   cache   rule list-rv0",
            "proves        nothing about the layer, which is predicted",
        ],
    );
    for (version, line) in [
        ("1.16 or 1.17", klog("wrap.go", "GET /api/v1/pods: (5ms) 200 [kubelet/v1.15.0 35.237.12.113:35324]")),
        ("1.18", klog("httplog.go", r#"verb="GET" URI="/api/v1/pods" latency=5ms resp=200 UserAgent="a" srcIP="10.0.0.1:4": "#)),
        ("1.19 to 1.21", klog("httplog.go", r#""HTTP" verb="GET" URI="/api/v1/pods" latency="5ms" userAgent="a" srcIP="[::1]:4" resp=200"#)),
        ("1.22 or later", klog("httplog.go", r#""HTTP" verb="LIST" URI="/api/v1/pods" latency="5ms" audit-ID="i" resp=200"#)),
        ("1.23", klog("httplog.go", r#""HTTP" verb="LIST" URI="/api/v1/pods" latency="5ms" audit-ID="i" apf_pl="a" apf_fs="b" resp=200"#)),
        ("1.36 or later", klog("httplog.go", r#""HTTP" verb="LIST" URI="/api/v1/pods" latency="5ms" audit-ID="i" watchlist_init_latency="1ms" resp=200"#)),
        (
            "1.24 or later",
            r#"{"ts":1718886797389.016,"caller":"httplog/httplog.go:132","msg":"HTTP","v":3,"verb":"LIST","URI":"/api/v1/pods","latency":"95ms","audit-ID":"i","apf_iseats":1,"resp":200}"#.to_owned(),
        ),
    ] {
        check(&line, &[], &[&format!("request log   kube-apiserver {version}, -v=3\n"), "status        200", "GET /api/v1/pods\n"]);
    }
}

#[test]
fn times_of_json_and_of_gke_are_complete() {
    let request = r#""HTTP" verb="LIST" URI="/api/v1/pods" latency="5ms" audit-ID="i" apf_iseats=1 resp=200"#;
    let gke = json!({
        "resource": {"type": "k8s_control_plane_component"}, "textPayload": klog("httplog.go", request),
        "timestamp": "2024-06-20T12:33:17.5Z",
    });
    check(
        &gke.to_string(),
        &[],
        &["request log   kube-apiserver 1.24 or later, -v=3\n", "time          2024-06-20T12:33:17.500000000Z\n"],
    );
    let line = json!({
        "ts": 1_718_886_797_389.016, "caller": "handlers/get.go:251", "msg": "Starting watch", "v": 3, "path": "/api/v1/pods",
        "resourceVersion": "5", "labels": "", "fields": "", "timeout": "6m59s",
    });
    check(
        &line.to_string(),
        &[],
        &["watch started   kube-apiserver 1.19 to 1.35, -v=3\n", "time          2024-06-20T12:33:17.389016000Z\n"],
    );
}

#[test]
fn trap_of_1_30_is_named() {
    // kubernetes/kubernetes issue 125614.
    let line = klog(
        "httplog.go",
        r#""HTTP" verb="WATCH" URI="/api/v1/pods?allowWatchBookmarks=true&resourceVersion=97186&timeoutSeconds=552&watch=true" latency="470.891µs" userAgent="kube-scheduler/v1.30.2" audit-ID="2cf3b6d8" srcIP="[::1]:60566" resp=0"#,
    );
    let expected = [
        "request log   kube-apiserver 1.30.0 to 1.30.3, -v=3\n",
        "meaning       the watch is open, and its end is not logged",
        "trap          kube-apiserver 1.30.0 to 1.30.3 log a watch as it opens (kubernetes/kubernetes issue 125614)",
    ];
    check(&line, &["--server-version", "1.30.2"], &[&expected[..], &["served from   cache   rule watch-rv"]].concat());
    let text = explain(line.as_bytes(), &[]).stdout;
    assert!(!String::from_utf8_lossy(&text).contains("\nlasted"), "the latency is not the life of the watch");
}

#[test]
fn watches_that_begin_are_explained() {
    for (line, version) in [
        (
            klog("get.go", "Starting watch for /api/v1/pods, rv=147471 labels=a in (b, c) fields=spec.nodeName=n timeout=6m59s"),
            "1.18 or earlier",
        ),
        (
            klog(
                "get.go",
                r#""Starting watch" path="/api/v1/pods" resourceVersion="147471" labels="a in (b, c)" fields="spec.nodeName=n" timeout="6m59s""#,
            ),
            "1.19 to 1.35",
        ),
        (
            klog(
                "get.go",
                r#""Starting watch" path="/api/v1/pods" resourceVersion="147471" labels="a in (b, c)" fields="spec.nodeName=n" timeout="6m59s" audit-ID="i""#,
            ),
            "1.36 or later",
        ),
    ] {
        check(
            &line,
            &["--server-version", "1.34.2"],
            &[
                &format!("watch started   kube-apiserver {version}, -v=3\n"),
                "meaning       a watch begins from resource version 147471",
                "not shown     the client",
                "resourceVersion=147471&labelSelector=a%20in%20%28b%2C%20c%29&fieldSelector=spec%2EnodeName%3Dn&timeoutSeconds=419",
                "rule watch-rv",
            ],
        );
    }
}

#[test]
fn lines_of_watch_caches_are_explained() {
    let watch = r#"key: "/pods", labels: "", fields: "spec.nodeName=n""#;
    for (message, expected) in [
        ("Terminating all watchers from cacher pods".to_owned(), &["all watches of pods end"][..]),
        ("Terminating all watchers from cacher *core.Pod".to_owned(), &["1.25 or earlier", "all watches of *core.Pod end"]),
        (
            "cacher (pods): unexpected ListAndWatch error: x: connection refused; reinitializing...".to_owned(),
            &["list or watch of pods in etcd failed", "error         connection refused"],
        ),
        (
            r#""cacher initialized" group="apps" resource="deployments""#.to_owned(),
            &["1.34 or later", "the watch cache of deployments.apps is ready"],
        ),
        (
            format!(
                "Forcing pods watcher close due to unresponsiveness: {watch}. len(c.input) = 10, len(c.result) = 10, graceful = false"
            ),
            &[
                "1.27 or later",
                "its client reads too slowly",
                "fields        spec.nodeName=n",
                "waiting       10 events",
                "graceful      false",
            ],
        ),
        (
            format!("processing 14040 initEvents of pods ({watch}) took 993.5ms"),
            &["its first events", "sent          14", "took          994 ms"],
        ),
        (
            "watch chan error: etcdserver: mvcc: required revision has been compacted".to_owned(),
            &["a watch of etcd failed", "error         410: the resource version is too old"],
        ),
        (
            r#""Cache consistency check failed" group="" resource="pods" resourceVersion="9" etcdDigest="a" cacheDigest="b""#
                .to_owned(),
            &["the watch cache of pods differs from etcd", "compared at   9"],
        ),
    ] {
        check(
            &klog("cacher.go", &message),
            &[],
            &[&["watch cache line   kube-apiserver"], expected, &["not shown     the clients"]].concat(),
        );
    }
}

#[test]
fn traces_over_several_lines_are_explained() {
    let head = |number: u32, more: &str| {
        klog(
            "trace.go",
            &format!(
                r#"Trace[{number}]: "List" url:/api/v1/pods,user-agent:a/v1,audit-id:i-{number},client:10.0.0.1{more} (20-Jun-2024 12:33:16.100) (total time: 1289ms):"#
            ),
        )
    };
    let etcd = [
        head(7, ""),
        // Blocks interleave.
        head(8, ""),
        r#"Trace[7]: ["List(recursive=true) etcd3" audit-id:i-7,key:/pods,resourceVersion:,resourceVersionMatch:,limit:500,continue: 1280ms (12:33:16.105)]"#.to_owned(),
        r#"Trace[8]: ["cacher.GetList" audit-id:i-8,type:pods 1280ms (12:33:16.105)"#.to_owned(),
        r#"Trace[8]:  ---"Filtered items" count:4346 1270ms (12:33:17.375)]"#.to_owned(),
        r#"Trace[7]: ---"Writing http response done" count:500 4ms (12:33:17.385)"#.to_owned(),
        "Trace[7]: [1.289s] [1.289s] END".to_owned(),
        "Trace[8]: [1.289s] [1.289s] END".to_owned(),
    ];
    check(
        &etcd.join("\n"),
        &[],
        &[
            "line 7   Trace   kube-apiserver 1.25 or later\n",
            "a range of keys was read from etcd",
            "audit ID      i-7",
            "took          1.3 s",
            "objects       500",
            "step          ",
            "not shown     the query",
            "proves        etcd-list-traced",
            "line 8   Trace",
            "audit ID      i-8",
            "proves        cache-list-traced",
        ],
    );
    // Without its last line, and without its first one.
    check(
        &etcd[..1].join("\n"),
        &[],
        &[
            "line 1   Trace   kube-apiserver 1.22 or later\n",
            "   year and zone assumed\n",
            "torn          the line that ends the trace is missing",
            "proves        nothing",
        ],
    );
    check(&etcd[5], &[], &["line 1   Trace", "a line of a trace whose first line is missing"]);
    // JSON has a block in one record, with a complete time.
    let (_header, first) = etcd[0].split_once("] ").unwrap();
    let block = [first, &etcd[2], &etcd[5], &etcd[6]].join("\n");
    let record = json!({"ts": 1_718_886_797_389.016, "caller": "trace/trace.go:236", "msg": block, "v": 0});
    check(
        &record.to_string(),
        &[],
        &[
            "line 1   Trace   kube-apiserver 1.25 or later\n",
            "time          2024-06-20T12:33:17.389016000Z\n",
            "audit ID      i-7",
            "proves        etcd-list-traced",
        ],
    );
    let reflector = format!(
        "{}\n{}",
        klog("trace.go", r#"Trace[5]: "Reflector ListAndWatch" name:a.go:1 (20-Jun-2024 12:33:16.100) (total time: 16742ms):"#),
        "Trace[5]: [16.742s] [16.742s] END"
    );
    check(&reflector, &[], &["line 2   Trace   a client with client-go", "more than 10 s"]);
    let old = klog(
        "trace.go",
        "Trace[6]: \"List\" url:/api/v1/pods (started: 2024-06-20 12:33:16.1 +0000 UTC m=+5.1) (total time: 1.208s):\nTrace[6]: [1.204s] [1.1s] Writing http response done count:4346",
    );
    check(&old, &[], &["line 2   Trace   kube-apiserver", "objects       4346"]);
}
