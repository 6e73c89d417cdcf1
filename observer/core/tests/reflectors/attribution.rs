//! The attribution of a request to a reflector, where several reflectors could have made it.

use expect_test::expect;

use crate::script::check;

#[test]
fn poll_while_an_informer_pauses_stays_the_pollers() {
    check(
        "0s server v1.34.4
         0s a connects client=c/v1 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         0s a1 whole rv=10 x@5
         0s a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=400&watch=true
         0s a3 opens
         5s a5 GET /api/v1/pods
         5s a5 whole rv=20 x@5
         15s a7 GET /api/v1/pods
         15s a7 whole rv=30 x@5
         24s a3 reset by server
         25s a9 GET /api/v1/pods
         25s a9 whole rv=40 x@5
         26s a11 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=400&watch=true
         26s a11 opens
         35s a13 GET /api/v1/pods
         35s a13 whole rv=50 x@5",
        &expect![[r"
            0s initial-list #1 requests=1 items=1 known=0/1
            26s resume #1 rv=10: the watch before was reset by the server (code 2)
            #1 client 1 pods · all namespaces watching rv=10 lists=1 watches=2 resumes=1 relists=0 known=0/1
            #2 client 1 pods · all namespaces listed rv=50 lists=4 watches=0 resumes=0 relists=0 known=3/4
        "]],
    );
}

#[test]
fn lists_after_a_disconnected_watch_cause_only_one_relist() {
    check(
        "0s server v1.34.4
         0s a connects client=kubectl/v1.34
         0s a1 GET /api/v1/pods?limit=500
         0s a1 whole rv=10 x@5
         0s a3 GET /api/v1/pods?resourceVersion=10&watch=true
         0s a3 opens
         9s a closed by client
         60s b connects client=kubectl/v1.34
         60s b1 GET /api/v1/pods?limit=500
         60s b1 whole rv=20 x@5
         61s b closed by client
         120s c connects client=kubectl/v1.34
         120s c1 GET /api/v1/pods?limit=500
         120s c1 whole rv=30 x@5",
        &expect![[r"
            0s initial-list #1 requests=1 items=1 known=0/1
            60s relist-began #1 cause=new-process
            60s relist #1 cause=new-process requests=1 items=1 known=0/1
            #1 client 1 pods · all namespaces listed rv=30 lists=3 watches=1 resumes=0 relists=0 known=1/3
        "]],
    );
}

#[test]
fn replica_relist_is_not_attributed_to_a_departed_one() {
    check(
        "0s server v1.34.4
         0s a connects client=c/v1
         0s a1 GET /api/v1/pods?limit=500
         0s a1 whole rv=10 x@5
         0s a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=290&watch=true
         0s a3 opens
         5s b connects client=c/v1
         5s b1 GET /api/v1/pods?limit=500
         5s b1 whole rv=12 x@5
         5s b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=12&timeoutSeconds=290&watch=true
         5s b3 opens
         9s a closed by client
         200s b3 ERROR 410 Expired
         200s b3 ends
         201s b5 GET /api/v1/pods?limit=500
         201s b5 whole rv=99 x@5",
        &expect![[r"
            0s initial-list #1 requests=1 items=1 known=0/1
            5s initial-list #2 requests=1 items=1 known=0/1
            201s relist-began #2 cause=expired/no-bookmarks
            201s relist #2 cause=expired/no-bookmarks requests=1 items=1 known=1/1
            #1 client 1 pods · all namespaces waiting rv=10 lists=1 watches=1 resumes=0 relists=0 known=0/1
            #2 client 1 pods · all namespaces listed rv=99 lists=2 watches=1 resumes=0 relists=1 known=1/2
        "]],
    );
}

#[test]
fn list_that_names_a_revision_goes_to_the_replica_that_has_it() {
    check(
        "0s server v1.34.4
         0s a connects client=c/v1
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         0s a1 whole rv=100 x@5
         0s a3 GET /api/v1/pods?resourceVersion=100&timeoutSeconds=400&watch=true
         0s a3 opens
         1s b connects client=c/v1
         1s b1 GET /api/v1/pods?limit=500&resourceVersion=0
         1s b1 whole rv=200 x@5 y@150
         1s b3 GET /api/v1/pods?resourceVersion=200&timeoutSeconds=400&watch=true
         1s b3 opens
         50s b3 ERROR 500 InternalError
         50s b3 ends
         51s b5 GET /api/v1/pods?resourceVersion=200
         51s b5 refused 429 TooManyRequests retry-after=1
         51500ms a3 ERROR 500 InternalError
         51500ms a3 ends
         51900ms a5 GET /api/v1/pods?resourceVersion=100
         51910ms a5 whole rv=210 x@5 y@150
         52005ms b7 GET /api/v1/pods?resourceVersion=200
         52010ms b7 whole rv=210 x@5 y@150",
        &expect![[r"
            0s initial-list #1 requests=1 items=1 known=0/1
            1s initial-list #2 requests=1 items=2 known=0/2
            51s relist-began #2 cause=watch-error/500
            51900ms relist-began #1 cause=watch-error/500
            51910ms relist #1 cause=watch-error/500 requests=1 items=2 known=1/2
            52010ms relist #2 cause=watch-error/500 requests=2 items=2 known=2/2
            #1 client 1 pods · all namespaces listed rv=210 age=From1_18 lists=2 watches=1 resumes=0 relists=1 known=1/3
            #2 client 1 pods · all namespaces listed rv=210 age=From1_18 lists=3 watches=1 resumes=0 relists=1 known=2/4
        "]],
    );
}

#[test]
fn pages_go_to_the_list_that_announced_them() {
    check(
        "0s server v1.34.4
         0s a connects client=c/v1
         0s b connects client=c/v1
         0s a1 GET /api/v1/pods?limit=500
         0s a1 whole rv=10 x@5 continue
         0s b1 GET /api/v1/pods?limit=500
         0s b1 whole rv=11 x@5
         1s a3 GET /api/v1/pods?limit=500&continue=@10
         1s a3 whole rv=10 y@6
         2s b3 GET /api/v1/pods?resourceVersion=11&watch=true
         2s b3 opens
         2s a5 GET /api/v1/pods?resourceVersion=10&watch=true
         2s a5 opens",
        &expect![[r"
            0s initial-list #2 requests=1 items=1 known=0/1
            1s initial-list #1 requests=2 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=10 lists=2 watches=1 resumes=0 relists=0 known=0/2
            #2 client 1 pods · all namespaces watching rv=11 lists=1 watches=1 resumes=0 relists=0 known=0/1
        "]],
    );
}

#[test]
fn watch_granted_then_expired_is_not_a_resume() {
    check(
        "0s server v1.34.4
         0s a connects client=c/v1
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         0s a1 whole rv=100 x@5
         0s a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=100&timeoutSeconds=400&watch=true
         0s a3 opens
         60s a closed by server
         60s refusing
         63s listening
         64s b connects client=c/v1
         64s b1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=100&timeoutSeconds=400&watch=true
         64s b1 opens
         64s b1 ERROR 410 Expired
         64s b1 ends
         65s b3 GET /api/v1/pods?resourceVersion=100
         65s b3 whole rv=180 x@5",
        &expect![[r"
            0s initial-list #1 requests=1 items=1 known=0/1
            65s relist-began #1 cause=expired/cache-reset
            65s relist #1 cause=expired/cache-reset requests=1 items=1 known=1/1
            #1 client 1 pods · all namespaces listed rv=180 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=1/2
        "]],
    );
}

#[test]
fn gateway_timeout_is_not_a_too_large_revision() {
    check(
        "0s server v1.34.4
         0s a connects client=c/v1
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         0s a1 whole rv=100 x@5
         0s a3 GET /api/v1/pods?resourceVersion=100&timeoutSeconds=400&watch=true
         60s a3 refused 504 GatewayTimeout
         61s a5 GET /api/v1/pods?resourceVersion=100
         61s a5 whole rv=180 x@5",
        &expect![[r"
            61s relist-began #1 cause=watch-refused/504
            61s relist #1 cause=watch-refused/504 requests=1 items=1 known=1/1
            #1 client 1 pods · all namespaces listed rv=180 age=From1_18 lists=2 watches=1 resumes=0 relists=1 known=1/2
        "]],
    );
}

#[test]
fn restart_after_refused_connections_does_not_imply_an_old_client() {
    check(
        "0s server v1.34.4
         0s a connects client=c/v1
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         0s a1 whole rv=100 x@5
         0s a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=100&timeoutSeconds=400&watch=true
         0s a3 opens
         60s a closed by server
         60s refusing
         80s listening
         81s b connects client=c/v1
         81s b1 GET /api/v1/pods?limit=500&resourceVersion=0
         81s b1 whole rv=180 x@5",
        &expect![[r"
            0s initial-list #1 requests=1 items=1 known=0/1
            81s relist-began #1 cause=unknown/after-refusal
            81s relist #1 cause=unknown/after-refusal requests=1 items=1 known=0+/1
            #1 client 1 pods · all namespaces listed rv=180 lists=2 watches=1 resumes=0 relists=1 known=0+/2
        "]],
    );
}
