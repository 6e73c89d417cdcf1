//! Traffic that causes no relist, odd revisions, and objects without metadata (§6.4 of docs/semantics.md, T19, T20).

use expect_test::expect;

use crate::script::check;

/// The first list is empty, and still counts as the initial list.
#[test]
fn empty_list_is_a_list() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100",
        &expect![[r"
            20ms initial-list #1 requests=1 items=0 known=0/0
            #1 client 1 pods · all namespaces watching rv=1100 lists=1 watches=1 resumes=0 relists=0 known=0/0
        "]],
    );
}

/// T19, all releases: a resync is local, so nothing appears on the wire.
#[test]
fn informer_resync_causes_no_event() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=590&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         580s a3 BOOKMARK @1200",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1200 lists=1 watches=1 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// T20, all releases: an event that the client cannot decode ends nothing.
#[test]
fn unknown_event_type_does_not_end_the_watch() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 UNKNOWN x@1010
         90s a3 ends
         90005ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1010&timeoutSeconds=333&watch=true
         90010ms a5 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            90010ms resume #1 rv=1010: the watch before was ended early by the server
            #1 client 1 pods · all namespaces watching rv=1010 lists=1 watches=2 resumes=1 relists=0 known=0/2
        "]],
    );
}

/// No row of §6.4: T2 and T6 with revisions that are not numbers.
#[test]
fn non_numeric_revisions_are_handled() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=abc x@aa y@bb
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=abc&timeoutSeconds=500&watch=true
         35ms a3 opens
         50s a3 MODIFIED x@ac
         60s a3 BOOKMARK @abd
         90s a3 ends
         90005ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=abd&timeoutSeconds=333&watch=true
         90010ms a5 opens
         120s a5 ERROR 500 InternalError
         120001ms a5 ends
         121200ms a7 GET /api/v1/pods?resourceVersion=abd
         121220ms a7 whole rv=abe x@ac y@bb
         121230ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=abe&timeoutSeconds=333&watch=true
         121235ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            90010ms resume #1 rv=?: the watch before was ended early by the server
            121200ms relist-began #1 cause=watch-error/500
            121220ms relist #1 cause=watch-error/500 requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching age=From1_18 lists=2 watches=3 resumes=1 relists=1 known=2/5
        "]],
    );
}

/// No row of §6.4: an event with a lower revision than an earlier one.
#[test]
fn decreasing_revision_in_a_watch_is_accepted() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         61s a3 MODIFIED x@1050
         90s a3 ends
         90005ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1050&timeoutSeconds=333&watch=true
         90010ms a5 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            90010ms resume #1 rv=1050: the watch before was ended early by the server
            #1 client 1 pods · all namespaces watching rv=1050 lists=1 watches=2 resumes=1 relists=0 known=0/3
        "]],
    );
}

/// T6, 1.16: a server that lags may answer a list at 0 with an older revision.
#[test]
fn decreasing_revision_in_a_list_is_accepted() {
    check(
        "0s server v1.16.15
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         50s a3 MODIFIED x@1090
         60s a3 BOOKMARK @1100
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121003ms a5 GET /api/v1/pods?limit=500&resourceVersion=0
         121020ms a5 whole rv=1020 x@500 y@600
         121030ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1020&timeoutSeconds=333&watch=true
         121035ms a7 opens
         121100ms a7 MODIFIED x@1090",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121003ms relist-began #1 cause=watch-error/500
            121020ms relist #1 cause=watch-error/500 requests=1 items=2 known=1/2
            #1 client 1 pods · all namespaces watching rv=1090 age=Until1_17 lists=2 watches=2 resumes=0 relists=1 known=1/6
        "]],
    );
}

/// No row of §6.4: T2 and T6 with revisions beyond 64 bits.
#[test]
fn revisions_beyond_64_bits_are_handled() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=18446744073709551616 x@18446744073709551610 y@18446744073709551617
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=18446744073709551616&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @18446744073709551700
         90s a3 ends
         90005ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=18446744073709551700&timeoutSeconds=333&watch=true
         90010ms a5 opens
         120s a5 ERROR 500 InternalError
         120001ms a5 ends
         121200ms a7 GET /api/v1/pods?resourceVersion=18446744073709551700
         121220ms a7 whole rv=18446744073709551800 x@18446744073709551610 y@18446744073709551617
         121230ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=18446744073709551800&timeoutSeconds=333&watch=true
         121235ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            90010ms resume #1 rv=?: the watch before was ended early by the server
            121200ms relist-began #1 cause=watch-error/500
            121220ms relist #1 cause=watch-error/500 requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching age=From1_18 lists=2 watches=3 resumes=1 relists=1 known=2/4
        "]],
    );
}

/// No row of §6.4: objects without metadata in lists and events.
#[test]
fn objects_without_metadata_are_never_unchanged() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 y@600 @5
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 MODIFIED @1010
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121200ms a5 GET /api/v1/pods?resourceVersion=1010
         121220ms a5 whole rv=1130 y@600 @1010
         121230ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         121235ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            121220ms relist #1 cause=watch-error/500 requests=1 items=2 known=1/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=1/5
        "]],
    );
}

/// Events after the revision of a watch are never spurious updates, even with a version that the reflector has.
#[test]
fn events_after_the_watch_revision_are_never_spurious() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         10s a3 MODIFIED x@500
         11s a3 ADDED y@600
         12s a3 MODIFIED x@1005
         13s a3 MODIFIED x@1005
         14s a3 DELETED y@1010
         15s a3 ADDED y@1011
         16s a3 DELETED y@1012",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1012 lists=1 watches=1 resumes=0 relists=0 known=0/7
        "]],
    );
}
