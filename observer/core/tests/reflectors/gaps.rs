//! Missing observations: a reflector reports unknown facts as unknown, and recovers.

use expect_test::expect;

use crate::script::check;

/// No row of §6.4: the end of the watch was not observed, and then the client lists.
#[test]
fn list_after_an_observation_gap_has_an_unobserved_cause() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         100s unrecorded
         200s a5 GET /api/v1/pods?resourceVersion=1500
         200020ms a5 whole rv=1510 x@500 y@1400
         200030ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1510&timeoutSeconds=333&watch=true
         200035ms a7 opens
         260s a7 BOOKMARK @1600",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            200s relist-began #1 cause=unknown/not-observed
            200020ms relist #1 cause=unknown/not-observed requests=1 items=2 known=1+/2
            #1 client 1 pods · all namespaces watching rv=1600 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=1+/4
        "]],
    );
}

/// No row of §6.4: bytes in the middle of a watch were missed, but later events were observed.
#[test]
fn bytes_missed_in_a_watch_do_not_hide_how_it_ends() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 missed 4000
         90s a3 BOOKMARK @1100
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121200ms a5 GET /api/v1/pods?resourceVersion=1100
         121220ms a5 whole rv=1130 x@1050 y@600
         121230ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         121235ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            121220ms relist #1 cause=watch-error/500 requests=1 items=2 known=1+/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=1+/4
        "]],
    );
}

/// No row of §6.4: the end of the watch was not observed, and then the client watches again.
#[test]
fn watch_after_an_observation_gap_is_not_a_resume() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         100s unrecorded
         700s a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1500&timeoutSeconds=333&watch=true
         700005ms a5 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1500 lists=1 watches=2 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// A gap in the middle of a watch, which continues after it.
#[test]
fn watch_that_continues_after_a_gap_is_the_same_watch() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         100s unrecorded
         180s a3 BOOKMARK @1300
         300035ms a3 ends
         300040ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1300&timeoutSeconds=333&watch=true
         300045ms a5 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1300 lists=1 watches=2 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// Bytes of the first list were missed.
#[test]
fn missed_bytes_in_a_list_make_known_objects_a_minimum() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         10ms a1 missed 300
         20ms a1 whole rv=1000 x@500
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121200ms a5 GET /api/v1/pods?resourceVersion=1100
         121220ms a5 whole rv=1130 x@500 y@600
         121230ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         121235ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=1 known=0+/1
            121200ms relist-began #1 cause=watch-error/500
            121220ms relist #1 cause=watch-error/500 requests=1 items=2 known=1+/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=1+/3
        "]],
    );
}

/// The observation begins in the middle of a reflector's life, with a watch.
#[test]
fn list_of_a_reflector_that_was_first_seen_to_watch_is_a_relist() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         5ms a1 opens
         60s a1 BOOKMARK @1100
         90s a1 ends
         90005ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=333&watch=true
         90010ms a3 opens
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121200ms a5 GET /api/v1/pods?resourceVersion=1100
         121220ms a5 whole rv=1130 x@500 y@600
         121230ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         121235ms a7 opens",
        &expect![[r"
            90010ms resume #1 rv=1100: the watch before was ended early by the server
            121200ms relist-began #1 cause=watch-error/500
            121220ms relist #1 cause=watch-error/500 requests=1 items=2 known=0+/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=1 watches=3 resumes=1 relists=1 known=0+/2
        "]],
    );
}

/// A gap between the first list and the first watch that was observed.
#[test]
fn initial_list_is_reported_at_the_watch_after_a_gap() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         25ms unrecorded
         400s a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1300&timeoutSeconds=333&watch=true
         400005ms a5 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1300 lists=1 watches=1 resumes=0 relists=0 known=0/2
        "]],
    );
}
