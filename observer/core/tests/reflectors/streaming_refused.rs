//! Streaming lists that are refused or end early, and the requests that replace them (§6.4 of docs/semantics.md, T12, T13, T15 to
//! T17).

use expect_test::expect;

use crate::script::check;

/// T15, 1.27 to 1.34: refused now, and again in the next cycle.
#[test]
fn streaming_list_refused_with_422_is_replaced_by_a_list_each_time() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 refused 422 Invalid
         10ms a3 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a3 whole rv=1000 x@500 y@600
         30ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a5 opens
         60s a5 BOOKMARK @1100
         120s a5 ERROR 500 InternalError
         120001ms a5 ends
         121200ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=411&watch=true
         121205ms a7 refused 422 Invalid
         121210ms a9 GET /api/v1/pods?resourceVersion=1100
         121230ms a9 whole rv=1130 x@500 y@600 z@1120
         121240ms a11 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         121245ms a11 opens",
        &expect![[r"
            20ms initial-list #1 requests=2 items=2 known=0/2 in place of a streaming list refused with 422, from cache
            121200ms relist-began #1 cause=watch-error/500
            121230ms relist #1 cause=watch-error/500 requests=2 items=3 known=2/3 in place of a streaming list refused with 422, from cache
            #1 client 1 pods · all namespaces watching rv=1130 age=WatchList lists=2 watches=4 resumes=0 relists=1 known=2/5
        "]],
    );
}

/// T15 and T13, 1.29 and later: any error without a retry.
#[test]
fn streaming_list_refused_with_500_is_replaced_by_a_list_at_once() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 refused 500 InternalError
         10ms a3 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a3 whole rv=1000 x@500 y@600
         30ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a5 opens",
        &expect![[r"
            20ms initial-list #1 requests=2 items=2 known=0/2 in place of a streaming list refused with 500, from cache
            #1 client 1 pods · all namespaces watching rv=1000 age=WatchList lists=1 watches=2 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// T13, 1.35 and later: the server is not ready, and the transport repeats the streaming list.
#[test]
fn streaming_list_refused_with_429_is_asked_for_again() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 refused 429 TooManyRequests retry-after=1
         1010ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         1015ms a3 opens
         1016ms a3 ADDED x@500
         1017ms a3 ADDED y@600
         1020ms a3 END-BOOKMARK @1000
         60s a3 MODIFIED x@1010",
        &expect![[r"
            1020ms initial-list #1 requests=2 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1010 age=WatchList lists=0 watches=2 resumes=0 relists=0 known=0/3
        "]],
    );
}

/// T16, servers until 1.18: a plain watch, without the end of the initial events.
#[test]
fn streaming_list_served_as_a_plain_watch_never_completes() {
    check(
        "0s server v1.18.20
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         7ms a1 ADDED y@600
         60s a1 MODIFIED x@1100
         352005ms a1 ends
         352010ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=481&watch=true
         352015ms a3 opens
         352016ms a3 ADDED x@1100
         352017ms a3 ADDED y@600",
        &expect![[r"
            60s never-synced #1: not synced after 1 m 0 s (1 attempt): 2 objects came, the bookmark that ends the initial events did not
            #1 client 1 pods · all namespaces listing age=WatchList lists=0 watches=2 resumes=0 relists=0 known=0/0
        "]],
    );
}

/// T17, 1.27 and later: after an event, the client repeats the streaming list at once.
#[test]
fn streaming_list_that_ends_before_its_bookmark_is_asked_for_again_at_once() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         3s a1 ends
         3005ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=481&watch=true
         3010ms a3 opens
         3011ms a3 ADDED x@500
         3012ms a3 ADDED y@600
         3020ms a3 END-BOOKMARK @1000",
        &expect![[r"
            3020ms initial-list #1 requests=2 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1000 age=WatchList lists=0 watches=2 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// T17, 1.29 and later: an end within a second and without an event counts as an error, and the client lists at once.
#[test]
fn streaming_list_that_ends_within_a_second_is_replaced_by_a_list() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         200ms a1 ends
         205ms a3 GET /api/v1/pods?limit=500&resourceVersion=0
         220ms a3 whole rv=1000 x@500 y@600
         230ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         235ms a5 opens",
        &expect![[r"
            220ms initial-list #1 requests=2 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1000 age=WatchList lists=1 watches=2 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// T7 and T12, 1.35 and later: an ERROR event 504, then at once a streaming list without a revision.
#[test]
fn streaming_list_that_ends_as_too_new_is_asked_for_without_a_revision() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         7ms a1 ADDED y@600
         10ms a1 END-BOOKMARK @1000
         60s a1 BOOKMARK @1100
         120s a1 ERROR 500 InternalError
         120001ms a1 ends
         121200ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=391&watch=true
         121205ms a3 opens
         124205ms a3 ERROR 504 Timeout too-large
         124206ms a3 ends
         124210ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=402&watch=true
         124215ms a5 opens
         124216ms a5 ADDED x@500
         124217ms a5 ADDED y@600
         124220ms a5 END-BOOKMARK @900",
        &expect![[r"
            10ms initial-list #1 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            124210ms relist-began #1 cause=too-large-resource-version
            124220ms relist #1 cause=too-large-resource-version requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=900 age=WatchList lists=0 watches=3 resumes=0 relists=2 known=2/4
        "]],
    );
}

/// T12, 1.35 and later: status 504, then at once a streaming list without a revision.
#[test]
fn streaming_list_refused_as_too_new_is_asked_for_without_a_revision() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         10ms a1 END-BOOKMARK @1000
         60s a1 BOOKMARK @1100
         120s a1 ERROR 500 InternalError
         120001ms a1 ends
         121200ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=391&watch=true
         124200ms a3 refused 504 Timeout too-large
         124205ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=402&watch=true
         124210ms a5 opens
         124211ms a5 ADDED x@500
         124220ms a5 END-BOOKMARK @900",
        &expect![[r"
            10ms initial-list #1 requests=1 items=1 known=0/1
            121200ms relist-began #1 cause=watch-error/500
            124205ms relist-began #1 cause=too-large-resource-version
            124220ms relist #1 cause=too-large-resource-version requests=1 items=1 known=1/1
            #1 client 1 pods · all namespaces watching rv=900 age=WatchList lists=0 watches=3 resumes=0 relists=2 known=1/2
        "]],
    );
}

/// §6.5, "WL: 200 + ERROR 504/410 → WL without RV", 1.35 and later.
#[test]
fn streaming_list_that_ends_as_expired_is_asked_for_without_a_revision() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         10ms a1 END-BOOKMARK @1000
         60s a1 BOOKMARK @1100
         120s a1 ERROR 500 InternalError
         120001ms a1 ends
         121200ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=391&watch=true
         121205ms a3 opens
         121206ms a3 ERROR 410 Expired
         121207ms a3 ends
         121212ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=402&watch=true
         121215ms a5 opens
         121216ms a5 ADDED x@500
         121220ms a5 END-BOOKMARK @1900",
        &expect![[r"
            10ms initial-list #1 requests=1 items=1 known=0/1
            121200ms relist-began #1 cause=watch-error/500
            121212ms relist-began #1 cause=list-expired
            121220ms relist #1 cause=list-expired requests=1 items=1 known=1/1
            #1 client 1 pods · all namespaces watching rv=1900 age=WatchList lists=0 watches=3 resumes=0 relists=2 known=1/2
        "]],
    );
}

/// T17, 1.27 and later, in a relist.
#[test]
fn streaming_relist_that_ends_before_its_bookmark_is_the_same_relist_when_repeated() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         7ms a1 ADDED y@600
         10ms a1 END-BOOKMARK @1000
         60s a1 BOOKMARK @1100
         120s a1 ERROR 500 InternalError
         120001ms a1 ends
         121200ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=391&watch=true
         121205ms a3 opens
         121206ms a3 ADDED x@500
         123s a3 ends
         123005ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=402&watch=true
         123010ms a5 opens
         123011ms a5 ADDED x@500
         123012ms a5 ADDED y@600
         123015ms a5 END-BOOKMARK @1130",
        &expect![[r"
            10ms initial-list #1 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            123015ms relist #1 cause=watch-error/500 requests=2 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=WatchList lists=0 watches=3 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// T13, 1.35 and later, in a relist.
#[test]
fn streaming_relist_refused_with_429_is_the_same_relist_when_repeated() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         10ms a1 END-BOOKMARK @1000
         60s a1 BOOKMARK @1100
         120s a1 ERROR 500 InternalError
         120001ms a1 ends
         121200ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=391&watch=true
         121205ms a3 refused 429 TooManyRequests retry-after=1
         122210ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=391&watch=true
         122215ms a5 opens
         122216ms a5 ADDED x@500
         122220ms a5 END-BOOKMARK @1130",
        &expect![[r"
            10ms initial-list #1 requests=1 items=1 known=0/1
            121200ms relist-began #1 cause=watch-error/500
            122220ms relist #1 cause=watch-error/500 requests=2 items=1 known=1/1
            #1 client 1 pods · all namespaces watching rv=1130 age=WatchList lists=0 watches=3 resumes=0 relists=1 known=1/2
        "]],
    );
}

/// T17 by a broken connection, 1.35 and later: every attempt belongs to the initial list.
#[test]
fn first_streaming_list_whose_connection_breaks_is_one_initial_list() {
    check(
        "0s server v1.35.0
         0s a connects client=controller/v1.35.0 pid=7
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         2s a closed by server
         3005ms b connects client=controller/v1.35.0 pid=7
         3010ms b1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=391&watch=true
         3015ms b1 opens
         3016ms b1 ADDED x@500
         3017ms b1 ADDED y@600
         3020ms b1 END-BOOKMARK @1000",
        &expect![[r"
            3020ms initial-list #1 requests=2 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1000 age=WatchList lists=0 watches=2 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// T15, 1.27 and later: the refused streaming list and the transport's attempts at its fallback are one list.
#[test]
fn fallback_that_is_itself_repeated_is_one_list() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 refused 422 Invalid
         10ms a3 GET /api/v1/pods?limit=500&resourceVersion=0
         15ms a3 refused 429 TooManyRequests retry-after=1
         1020ms a5 GET /api/v1/pods?limit=500&resourceVersion=0
         1030ms a5 whole rv=10 x@5 continue
         1035ms a7 GET /api/v1/pods?continue=@10&limit=500
         1050ms a7 whole rv=10 y@6
         1060ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=500&watch=true
         1065ms a9 opens",
        &expect![[r"
            1050ms initial-list #1 requests=4 items=2 known=0/2 in place of a streaming list refused with 422, from etcd
            #1 client 1 pods · all namespaces watching rv=10 age=WatchList lists=3 watches=2 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// T11 in a fallback, 1.27 and later: the fallback at a known revision is refused with 410, then at once a full list.
#[test]
fn fallback_refused_with_410_leads_to_a_full_list() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 refused 422 Invalid
         10ms a3 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a3 whole rv=1000 x@500 y@600
         30ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a5 opens
         60s a5 BOOKMARK @1100
         120s a5 ERROR 500 InternalError
         120001ms a5 ends
         121200ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=411&watch=true
         121205ms a7 refused 422 Invalid
         121210ms a9 GET /api/v1/pods?resourceVersion=1100
         121215ms a9 refused 410 Expired
         121220ms a11 GET /api/v1/pods
         121240ms a11 whole rv=1130 x@500 y@600
         121250ms a13 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         121255ms a13 opens",
        &expect![[r"
            20ms initial-list #1 requests=2 items=2 known=0/2 in place of a streaming list refused with 422, from cache
            121200ms relist-began #1 cause=watch-error/500
            121220ms relist-began #1 cause=list-expired
            121240ms relist #1 cause=list-expired requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=WatchList lists=3 watches=4 resumes=0 relists=2 known=2/4
        "]],
    );
}
