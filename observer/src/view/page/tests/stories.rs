//! The stories of the tests' cluster.

use std::fmt::Write as _;

/// No client has connected.
pub(super) const SILENCE: &str = "0s server v1.34.4";

/// Four clients. Two have trouble: one whose revision expired, one that is stuck.
pub(in crate::view) fn trouble() -> String {
    let mut script = "
        0s server v1.30.4
        0s a connects as=apps/manager client=my-controller/0.34 pid=4711
        0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
        90ms a1 bytes 7100000
        90ms a1 whole rv=1000 x@500 y@600 z@700
        100ms a3 GET /api/v1/pods?resourceVersion=1000&timeoutSeconds=300&watch=true
        104ms a3 opens
        7s a3 MODIFIED x@1010
        8s a3 MODIFIED y@1011
        200s a3 ERROR 410 Expired
        200s a3 ends
        201s a5 GET /api/v1/pods?resourceVersion=1011
        201090ms a5 bytes 7200000
        201090ms a5 whole rv=61100 x@1010 y@1011 z@60900
        201100ms a7 GET /api/v1/pods?resourceVersion=61100&timeoutSeconds=400&watch=true
        201104ms a7 opens
        260s a7 bytes 4000
        260s a7 MODIFIED x@61201
        0s b connects as=apps/manager client=kube-rs/2.0
        0s b1 GET /api/v1/namespaces/default/configmaps?limit=500&resourceVersion=0&labelSelector=app%3Dnginx
        3ms b1 bytes 14000
        3ms b1 whole rv=1000 c@400
        4ms b3 GET /api/v1/namespaces/default/configmaps?resourceVersion=1000&watch=true&allowWatchBookmarks=true&labelSelector=app%3Dnginx
        5ms b3 opens
        60s b3 BOOKMARK @1100
        340s b3 BOOKMARK @61200
        0s c connects as=apps/manager client=elastic-operator/1.18.2
        0s c1 GET /api/v1/namespaces/kube-system/secrets?limit=500&resourceVersion=0
        20ms c1 bytes 90000
        20ms c1 whole rv=1000 s@500 t@600
        30ms c3 GET /api/v1/namespaces/kube-system/secrets?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
        35ms c3 opens
        60s c3 BOOKMARK @1100
        150s c3 ERROR 500 InternalError
        150001ms c3 ends
        0s d connects as=apps/manager client=inventory/v2
        10s d1 GET /api/v1/pods?limit=500
        10210ms d1 bytes 2100000
        10210ms d1 whole rv=1011 x@1010 y@1011
        350s d3 GET /apis/apps/v1/deployments?resourceVersion=0
        350010ms d3 bytes 31000
        350010ms d3 whole rv=61200 d@61000
        351s d5 GET /api/v1/nodes/node-1
        351004ms d5 bytes 9000
        351004ms d5 refused 404 NotFound
    "
    .to_owned();
    for number in 0..16_u64 {
        let (at, exchange) = (151 + 4 * number, 5 + 2 * number);
        let _infallible = writeln!(
            script,
            "{at}s c{exchange} GET /api/v1/namespaces/kube-system/secrets?resourceVersion=1100\n{}s c{exchange} refused 504 Timeout too-large",
            at + 3
        );
    }
    script
}

/// Twelve reflectors of three clients relist at once, and the storm is ongoing.
pub(in crate::view) fn storm() -> String {
    let mut script = "0s server v1.34.4\n".to_owned();
    for (number, client) in ["a", "b", "c"].into_iter().enumerate() {
        let _infallible = writeln!(script, "0s {client} connects as=apps/manager client=fleet-{client}/v1");
        for informer in 0..4_usize {
            let (list, watch, again, after) = (4 * informer + 1, 4 * informer + 3, 4 * informer + 101, 4 * informer + 103);
            let resource = format!("/apis/example.com/v1/kind{informer}s");
            let at = 100_000 + 100 * (4 * number + informer);
            let bytes = 1_000 * (informer + 1) * (number + 1);
            let _infallible = writeln!(
                script,
                "0s {client}{list} GET {resource}?limit=500&resourceVersion=0\n\
                 0s {client}{list} whole rv=10 x@5 y@6\n\
                 0s {client}{watch} GET {resource}?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=400&watch=true\n\
                 0s {client}{watch} opens\n\
                 {at}ms {client}{watch} ERROR 410 Expired\n{at}ms {client}{watch} ends\n\
                 {at}ms {client}{again} GET {resource}?resourceVersion=10\n\
                 {at}ms {client}{again} bytes {bytes}\n\
                 {at}ms {client}{again} whole rv=20 x@5 y@16\n\
                 {at}ms {client}{after} GET {resource}?allowWatchBookmarks=true&resourceVersion=20&timeoutSeconds=400&watch=true\n\
                 {at}ms {client}{after} opens"
            );
        }
    }
    script + "105s listening"
}

/// A client that writes objects that it watches, and then stops reading.
pub(super) fn slow() -> String {
    "
        0s server v1.34.4
        0s a connects as=apps/manager client=slow-reader/0.1
        1s a1 GET /api/v1/pods?limit=500&resourceVersion=0
        1s a1 whole rv=10 x@5
        2s a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=400&watch=true
        2s a3 opens
        5s a5 PATCH /api/v1/namespaces/default/pods/x
        5s a5 written x@11
        5250ms a3 MODIFIED x@11
        10s a3 blocked
        30s listening
    "
    .to_owned()
}
