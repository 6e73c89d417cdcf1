//! Tests of server versions that are learned from clients' requests for `/version`.

use expect_test::expect;

use super::super::*;
use super::script::{check, play};

#[test]
fn version_that_a_client_asked_for_is_that_of_the_server() {
    let script = "0s open 1
         1s 1/1 GET /api/v1/pods
         1s 1/1 <- 200
         1s 1/1 end
         2s 1/3 GET /version
         2s 1/3 <- 200
         2s 1/3 version v1.30.4
         2s 1/3 end
         3s 1/5 GET /api/v1/pods
         3s 1/5 <- 200
         3s 1/5 end";
    check(
        script,
        &expect![[r"
            1s request list pods · all namespaces → 200 Unknown{CacheConsistent,Etcd} items=0
            2s request get /version → 200  items=0
            3s request list pods · all namespaces → 200 Etcd items=0
            3 requests, 2 lists (1 etcd, 1 unknown), 0 items
        "]],
    );
    let (snapshot, _) = play(script, Limits::default());
    assert!(snapshot.profile.assumptions()[0].contains("v1.30.4 (/version, read in a client's traffic)"));
}

#[test]
fn server_versions_at_one_address_are_distinguished_by_connection() {
    check(
        "0s version v1.34.4
         0s open 1
         0s open 2
         1s 1/1 GET /version
         1s 1/1 <- 200
         1s 1/1 version v1.30.4
         1s 1/1 end
         2s 1/3 GET /api/v1/pods
         2s 1/3 <- 200
         2s 1/3 end
         2s 2/1 GET /api/v1/pods
         2s 2/1 <- 200
         2s 2/1 end",
        &expect![[r"
            1s request get /version → 200  items=0
            2s request list pods · all namespaces → 200 Etcd items=0
            2s request list pods · all namespaces → 200 CacheConsistent items=0
            3 requests, 2 lists (1 etcd, 0 unknown), 0 items
        "]],
    );
}
