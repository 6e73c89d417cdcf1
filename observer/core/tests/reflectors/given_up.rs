//! Watches that a client gives up, or that end without a cause on the wire (§6.5, §6.7 of docs/semantics.md).

use expect_test::expect;

use crate::script::check;

/// No row of §6.4: a client that is known to watch lists twice, without a watch between.
#[test]
fn second_list_without_a_watch_is_not_another_relist() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121200ms a5 GET /api/v1/pods?resourceVersion=1100
         121220ms a5 whole rv=1130 x@500 y@600
         130s a7 GET /api/v1/pods?resourceVersion=1130
         130020ms a7 whole rv=1140 x@500 y@600
         130030ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1140&timeoutSeconds=333&watch=true
         130035ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            121220ms relist #1 cause=watch-error/500 requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1140 age=From1_18 lists=3 watches=2 resumes=0 relists=1 known=4/6
        "]],
    );
}

/// No row of §6.4 (§6.7, JavaScript): the client cancels its watch after some silence and resumes. Then it leaves, returns and
/// resumes.
#[test]
fn watches_that_the_client_ends_are_resumed() {
    check(
        "0s server v1.34.4
         0s a connects client=node/v20.0.0 pid=7
         0s a1 GET /api/v1/pods
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?resourceVersion=1000&watch=true
         35ms a3 opens
         10s a3 MODIFIED x@1005
         40s a3 reset by client
         40005ms a5 GET /api/v1/pods?resourceVersion=1005&watch=true
         40010ms a5 opens
         80s a closed by client
         80010ms b connects client=node/v20.0.0 pid=7
         80015ms b1 GET /api/v1/pods?resourceVersion=1005&watch=true
         80020ms b1 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            40010ms resume #1 rv=1005: the watch before was cancelled by the client
            80020ms resume #1 rv=1005: the watch before ended when the client disconnected
            #1 client 1 pods · all namespaces watching rv=1005 lists=1 watches=3 resumes=2 relists=0 known=0/3
        "]],
    );
}

/// No row of §6.4 (§6.7, clients other than client-go): the watch ended normally, and the client lists without a revision.
#[test]
fn list_after_a_watch_that_ended_well_has_no_known_cause() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=600&watch=true
         35ms a3 opens
         298s a3 BOOKMARK @1200
         600035ms a3 ends
         601s a5 GET /api/v1/pods
         601020ms a5 whole rv=1250 x@500 y@600
         601030ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1250&timeoutSeconds=600&watch=true
         601035ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            601s relist-began #1 cause=unknown/watch-ended-normally
            601020ms relist #1 cause=unknown/watch-ended-normally requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1250 lists=2 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// No row of §6.4: a client cancels its watch, and relists at the revision that it has.
#[test]
fn cancelled_watch_leads_to_a_list_at_its_revision() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1200
         90s a3 reset by client
         91200ms a5 GET /api/v1/pods?resourceVersion=1200
         91220ms a5 whole rv=1250 x@500 y@600
         91230ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1250&timeoutSeconds=333&watch=true
         91235ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            91200ms relist-began #1 cause=unknown/cancelled
            91220ms relist #1 cause=unknown/cancelled requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1250 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// No row of §6.4 (§6.5, "client rebuilt its informer").
#[test]
fn list_without_revision_after_cancel_is_a_rebuilt_informer() {
    check(
        "0s server v1.30.4
         0s a connects client=controller/v1.30.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1200
         90s a3 reset by client
         90500ms a5 GET /api/v1/pods?limit=500&resourceVersion=0
         90520ms a5 whole rv=1250 x@500 y@600
         90530ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1250&timeoutSeconds=333&watch=true
         90535ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            90500ms relist-began #1 cause=rebuilt
            90520ms relist #1 cause=rebuilt requests=1 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1250 lists=2 watches=2 resumes=0 relists=0 known=0/4
        "]],
    );
}

/// T6, 1.18 to 1.34.
#[test]
fn client_that_gives_up_a_dead_connection_lists_from_its_own_revision() {
    check(
        "0s server v1.30.4
         0s a connects client=controller/v1.30.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1200
         150s a closed by client
         151200ms b connects client=controller/v1.30.0 pid=7
         151205ms b1 GET /api/v1/pods?resourceVersion=1200
         151220ms b1 whole rv=1250 x@500 y@600
         151230ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1250&timeoutSeconds=333&watch=true
         151235ms b3 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            151205ms relist-began #1 cause=connection-lost
            151220ms relist #1 cause=connection-lost requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1250 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}
