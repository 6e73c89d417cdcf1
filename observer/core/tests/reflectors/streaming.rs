//! Streaming lists that complete, relists as streaming lists, and the watches that they become (§6.3 to §6.5 of docs/semantics.md,
//! T4 to T7, T10).

use expect_test::expect;

use crate::script::check;

/// T4, 1.35 and later.
#[test]
fn expired_watch_leads_to_a_streaming_list_at_its_revision() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         7ms a1 ADDED y@600
         10ms a1 END-BOOKMARK @1000
         350s a1 BOOKMARK @1100
         352005ms a1 ends
         352010ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=481&watch=true
         352015ms a3 opens
         352016ms a3 ERROR 410 Expired
         352017ms a3 ends
         353300ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=391&watch=true
         353305ms a5 opens
         353306ms a5 ADDED x@500
         353307ms a5 ADDED y@600
         353308ms a5 ADDED z@1120
         353310ms a5 END-BOOKMARK @1130",
        &expect![[r"
            10ms initial-list #1 requests=1 items=2 known=0/2
            353300ms relist-began #1 cause=expired/cache-reset
            353310ms relist #1 cause=expired/cache-reset requests=1 items=3 known=2/3
            #1 client 1 pods · all namespaces watching rv=1130 age=WatchList lists=0 watches=3 resumes=0 relists=1 known=2/5
        "]],
    );
}

/// T10, 1.35 and later.
#[test]
fn watch_refused_with_500_leads_to_a_streaming_list() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         10ms a1 END-BOOKMARK @1000
         350s a1 BOOKMARK @1100
         352005ms a1 ends
         352010ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=481&watch=true
         352015ms a3 refused 500 InternalError
         353300ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=391&watch=true
         353305ms a5 opens
         353306ms a5 ADDED x@500
         353310ms a5 END-BOOKMARK @1130",
        &expect![[r"
            10ms initial-list #1 requests=1 items=1 known=0/1
            353300ms relist-began #1 cause=watch-refused/500
            353310ms relist #1 cause=watch-refused/500 requests=1 items=1 known=1/1
            #1 client 1 pods · all namespaces watching rv=1130 age=WatchList lists=0 watches=3 resumes=0 relists=1 known=1/2
        "]],
    );
}

/// T5, 1.35 and later: an ERROR event 429 in the watch that a streaming list became.
#[test]
fn error_429_after_a_complete_streaming_list_is_resumed() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         10ms a1 END-BOOKMARK @1000
         60s a1 BOOKMARK @1100
         90s a1 ERROR 429 TooManyRequests
         90001ms a1 ends
         91200ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=481&watch=true
         91205ms a3 opens",
        &expect![[r"
            10ms initial-list #1 requests=1 items=1 known=0/1
            91205ms resume #1 rv=1100: the watch before ended with an ERROR event, code 429
            #1 client 1 pods · all namespaces watching rv=1100 age=WatchList lists=0 watches=2 resumes=1 relists=0 known=0/1
        "]],
    );
}

/// §6.5, "client rebuilt its informer", with a streaming list.
#[test]
fn streaming_list_without_revision_after_cancel_rebuilds_the_informer() {
    check(
        "0s server v1.35.0
         0s a connects client=controller/v1.35.0 pid=7
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         10ms a1 END-BOOKMARK @1000
         60s a1 BOOKMARK @1100
         90s a1 reset by client
         90300ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=391&watch=true
         90305ms a3 opens
         90306ms a3 ADDED x@500
         90310ms a3 END-BOOKMARK @1130",
        &expect![[r"
            10ms initial-list #1 requests=1 items=1 known=0/1
            90300ms relist-began #1 cause=rebuilt
            90310ms relist #1 cause=rebuilt requests=1 items=1 known=0/1
            #1 client 1 pods · all namespaces watching rv=1130 age=WatchList lists=0 watches=2 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// T2, 1.35 and later: the watch that a streaming list became ends early, then breaks.
#[test]
fn watch_of_a_streaming_list_that_is_cut_is_resumed_by_plain_watches() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         10ms a1 END-BOOKMARK @1000
         60s a1 BOOKMARK @1100
         90s a1 ends
         90005ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=391&watch=true
         90010ms a3 opens
         95s a3 MODIFIED x@1120
         99s a3 reset by server
         99005ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1120&timeoutSeconds=402&watch=true
         99010ms a5 opens",
        &expect![[r"
            10ms initial-list #1 requests=1 items=1 known=0/1
            90010ms resume #1 rv=1100: the watch before was ended early by the server
            99010ms resume #1 rv=1120: the watch before was reset by the server (code 2)
            #1 client 1 pods · all namespaces watching rv=1120 age=WatchList lists=0 watches=3 resumes=2 relists=0 known=0/2
        "]],
    );
}

/// A streaming list without items is a list.
#[test]
fn empty_streaming_list_is_a_list() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         10ms a1 END-BOOKMARK @1000
         60s a1 BOOKMARK @1100",
        &expect![[r"
            10ms initial-list #1 requests=1 items=0 known=0/0
            #1 client 1 pods · all namespaces watching rv=1100 age=WatchList lists=0 watches=1 resumes=0 relists=0 known=0/0
        "]],
    );
}

/// T3, 1.35 and later: the client counts from the end of the list, so a watch that ends soon after it is very short.
#[test]
fn watch_that_ends_soon_after_its_streaming_list_is_very_short() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         1s a1 END-BOOKMARK @1000
         1500ms a1 ends
         2800ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=391&watch=true
         2805ms a3 opens
         2806ms a3 ADDED x@500
         2810ms a3 END-BOOKMARK @1000
         2820ms a3 ADDED y@1010
         3100ms a3 ends
         3105ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1010&timeoutSeconds=402&watch=true
         3110ms a5 opens",
        &expect![[r"
            1s initial-list #1 requests=1 items=1 known=0/1
            2800ms relist-began #1 cause=very-short-watch
            2810ms relist #1 cause=very-short-watch requests=1 items=1 known=1/1
            3110ms resume #1 rv=1010: the watch before was ended early by the server
            #1 client 1 pods · all namespaces watching rv=1010 age=WatchList lists=0 watches=3 resumes=1 relists=1 known=1/3
        "]],
    );
}
