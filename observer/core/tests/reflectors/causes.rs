//! One script for each cause of a relist, and for each transition that is visible on the wire (§6.4 of docs/semantics.md).

use expect_test::expect;

use crate::script::check;

#[test]
fn watch_that_ends_normally_is_resumed_without_a_list() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         0s a1 whole rv=10 x@5 y@6
         0s a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=300&watch=true
         0s a3 opens
         7s a3 MODIFIED x@11
         60s a3 BOOKMARK @40
         300s a3 ends
         300s a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=40&timeoutSeconds=400&watch=true
         300s a5 opens",
        &expect![[r"
            0s initial-list #1 requests=1 items=2 known=0/2
            300s resume #1 rv=40: the watch before ended after its requested timeout
            #1 client 1 pods · all namespaces watching rv=40 lists=1 watches=2 resumes=1 relists=0 known=0/3
        "]],
    );
}

#[test]
fn expired_watch_without_bookmarks_causes_a_relist() {
    check(
        "0s server v1.20.15
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         0s a1 whole rv=10 x@5 y@6
         0s a3 GET /api/v1/pods?resourceVersion=10&timeoutSeconds=300&watch=true
         0s a3 opens
         7s a3 MODIFIED x@11
         300s a3 ends
         300s a5 GET /api/v1/pods?resourceVersion=11&timeoutSeconds=400&watch=true
         300s a5 opens
         300s a5 ERROR 410 Expired
         300s a5 ends
         301s a7 GET /api/v1/pods?resourceVersion=11
         301s a7 whole rv=900 x@11 y@700 z@800
         301s a9 GET /api/v1/pods?resourceVersion=900&timeoutSeconds=400&watch=true
         301s a9 opens",
        &expect![[r"
            0s initial-list #1 requests=1 items=2 known=0/2
            301s relist-began #1 cause=expired/bookmarks-not-requested
            301s relist #1 cause=expired/bookmarks-not-requested requests=1 items=3 known=1/3
            #1 client 1 pods · all namespaces watching rv=900 age=From1_18 lists=2 watches=3 resumes=0 relists=1 known=1/6
        "]],
    );
}
