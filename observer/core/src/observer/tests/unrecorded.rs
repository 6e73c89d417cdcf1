//! Tests of the state that is kept after a span of a capture that could not be read.

use expect_test::expect;

use super::script::check;

#[test]
fn open_connections_keep_their_api_server_after_a_gap() {
    check(
        "0s version v1.34.4 at a:6443
         0s version v1.30.4 at b:6443
         0s open 1 at a:6443
         0s open 2 at b:6443
         1s 1/1 GET /api/v1/configmaps
         2s unrecorded
         3s 1/3 GET /api/v1/configmaps?limit=500
         3s 1/3 <- 200
         3s 1/3 end
         4s 2/1 GET /api/v1/configmaps?limit=500
         4s 2/1 <- 200
         4s 2/1 end",
        &expect![[r"
            2s request list configmaps · all namespaces · at a:6443 → 0 CacheConsistent items=0
            3s request list configmaps · all namespaces · limit=500 · at a:6443 → 200 CacheConsistent items=0
            4s request list configmaps · all namespaces · limit=500 · at b:6443 → 200 Etcd items=0
            3 requests, 3 lists (1 etcd, 0 unknown), 0 items
        "]],
    );
}

#[test]
fn request_ends_when_its_id_is_used_again() {
    check(
        "0s version v1.34.4
         0s open 1
         1s 1/1 GET /api/v1/configmaps?watch=true
         1s 1/1 <- 200
         2s 1/1 event ADDED default/a rv=8
         3s 1/1 GET /api/v1/configmaps?limit=500
         3s 1/1 <- 200
         3s 1/1 end",
        &expect![[r"
            1s watch-opened watch configmaps · all namespaces → 200 CacheConsistent items=0
            3s watch-ended watch configmaps · all namespaces → 200 CacheConsistent items=0 events=1 bookmarks=0 last=8 error=0
            3s request list configmaps · all namespaces · limit=500 → 200 CacheConsistent items=0
            2 requests, 1 lists (0 etcd, 0 unknown), 0 items
        "]],
    );
}
