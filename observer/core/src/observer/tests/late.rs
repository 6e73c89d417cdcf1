//! Tests of connections that were open before they were observed.

use expect_test::expect;

use super::script::check;

#[test]
fn unseen_requests_are_unknown_and_their_events_are_counted() {
    check(
        "0s version v1.34.4
         0s late 1
         1s 1/1 unknown
         1s 1/1 <- 200
         2s 1/1 event ADDED default/a rv=8
         3s 1/3 GET /api/v1/configmaps?limit=500
         3s 1/3 <- 200
         3s 1/3 end
         4s 1/1 end
         5s open 2
         5s 2/1 unknown
         5s 2/1 end",
        &expect![[r"
            3s request list configmaps · all namespaces · limit=500 → 200 CacheConsistent items=0
            4s watch-ended ? unknown → 200 Unknown{} items=0 events=1 bookmarks=0 last=8 error=0
            5s request ? unknown → 0  items=0
            3 requests, 1 lists (0 etcd, 0 unknown), 0 items
        "]],
    );
}
