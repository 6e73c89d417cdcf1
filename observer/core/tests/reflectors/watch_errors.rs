//! Watches that end with an ERROR event, break or are refused, and the next request of each client-go release (§6.4 of
//! docs/semantics.md, T5 to T10).

use expect_test::expect;

use crate::script::check;

/// T10, 1.18 and later without streaming lists.
#[test]
fn watch_refused_with_500_leads_to_a_list() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         298s a3 BOOKMARK @1200
         300035ms a3 ends
         300040ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1200&timeoutSeconds=444&watch=true
         300050ms a5 refused 500 InternalError
         301350ms a7 GET /api/v1/pods?resourceVersion=1200
         301370ms a7 whole rv=1250 x@500 y@600
         301380ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1250&timeoutSeconds=333&watch=true
         301385ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            301350ms relist-began #1 cause=watch-refused/500
            301370ms relist #1 cause=watch-refused/500 requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1250 age=From1_18 lists=2 watches=3 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// T10, 1.16 and 1.17.1 to 1.17.x.
#[test]
fn watch_refused_with_the_status_410_leads_to_a_list() {
    check(
        "0s server v1.16.15
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         298s a3 BOOKMARK @1200
         300035ms a3 ends
         300040ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1200&timeoutSeconds=444&watch=true
         300050ms a5 refused 410 Gone
         301053ms a7 GET /api/v1/pods?limit=500&resourceVersion=0
         301070ms a7 whole rv=1250 x@500 y@600
         301080ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1250&timeoutSeconds=333&watch=true
         301085ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            301053ms relist-began #1 cause=expired/window-passed
            301070ms relist #1 cause=expired/window-passed requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1250 age=Until1_17 lists=2 watches=3 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// T5, 1.18 to 1.21.
#[test]
fn error_event_429_makes_a_client_until_1_21_list() {
    check(
        "0s server v1.20.15
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 ERROR 429 TooManyRequests
         120001ms a3 ends
         121300ms a5 GET /api/v1/pods?resourceVersion=1100
         121320ms a5 whole rv=1130 x@500 y@600
         121330ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         121335ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121300ms relist-began #1 cause=too-many-requests
            121320ms relist #1 cause=too-many-requests requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// T5, 1.22 and later.
#[test]
fn error_event_429_makes_a_client_from_1_22_watch_again() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 ERROR 429 TooManyRequests
         120001ms a3 ends
         121300ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=333&watch=true
         121305ms a5 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121305ms resume #1 rv=1100: the watch before ended with an ERROR event, code 429
            #1 client 1 pods · all namespaces watching rv=1100 lists=1 watches=2 resumes=1 relists=0 known=0/2
        "]],
    );
}

/// T6, 1.18 to 1.34.
#[test]
fn error_event_500_leads_to_a_list_from_its_own_revision() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         119s a3 MODIFIED x@1150
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121s a5 GET /api/v1/pods?resourceVersion=1150
         121020ms a5 whole rv=1160 x@1150 y@600
         121030ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1160&timeoutSeconds=333&watch=true
         121035ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121s relist-began #1 cause=watch-error/500
            121020ms relist #1 cause=watch-error/500 requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1160 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=2/5
        "]],
    );
}

/// T6, 1.16 and 1.17.1 to 1.17.x.
#[test]
fn error_event_500_makes_an_old_client_list_from_zero() {
    check(
        "0s server v1.16.15
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121003ms a5 GET /api/v1/pods?limit=500&resourceVersion=0
         121020ms a5 whole rv=1160 x@1150 y@600
         121030ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1160&timeoutSeconds=333&watch=true
         121035ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121003ms relist-began #1 cause=watch-error/500
            121020ms relist #1 cause=watch-error/500 requests=1 items=2 known=1/2
            #1 client 1 pods · all namespaces watching rv=1160 age=Until1_17 lists=2 watches=2 resumes=0 relists=1 known=1/4
        "]],
    );
}

/// T6, 1.35 and later.
#[test]
fn error_event_500_makes_a_new_client_ask_for_a_streaming_list() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=552&watch=true
         10ms a1 opens
         11ms a1 ADDED x@500
         12ms a1 ADDED y@600
         20ms a1 END-BOOKMARK @1000
         60s a1 BOOKMARK @1100
         120s a1 ERROR 500 InternalError
         120001ms a1 ends
         121400ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=391&watch=true
         121410ms a3 opens
         121411ms a3 ADDED x@500
         121412ms a3 ADDED y@600
         121420ms a3 END-BOOKMARK @1130",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121400ms relist-began #1 cause=watch-error/500
            121420ms relist #1 cause=watch-error/500 requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=WatchList lists=0 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// T6, 1.18 to 1.34: no ERROR event on the wire; the stream just breaks.
#[test]
fn stream_that_breaks_leads_to_a_list() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 reset by server
         121200ms a5 GET /api/v1/pods?resourceVersion=1100
         121220ms a5 whole rv=1130 x@500 y@600
         121230ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         121235ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=stream-reset
            121220ms relist #1 cause=stream-reset requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// T6, 1.18 to 1.34: the connection breaks, and the client does not take this for a probable EOF.
#[test]
fn connection_that_breaks_leads_to_a_list_on_another() {
    check(
        "0s server v1.30.4
         0s a connects client=controller/v1.30.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a closed by server
         121200ms b connects client=controller/v1.30.0 pid=7
         121205ms b1 GET /api/v1/pods?resourceVersion=1100
         121220ms b1 whole rv=1130 x@500 y@600
         121230ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         121235ms b3 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121205ms relist-began #1 cause=connection-lost
            121220ms relist #1 cause=connection-lost requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// T7, 1.18 to 1.34.
#[test]
fn error_event_of_another_code_leads_to_a_list() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 ERROR 403 Forbidden
         120001ms a3 ends
         121550ms a5 GET /api/v1/pods?resourceVersion=1100
         121570ms a5 whole rv=1130 x@500
         121580ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         121585ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121550ms relist-began #1 cause=watch-error/403
            121570ms relist #1 cause=watch-error/403 requests=1 items=1 known=1/1
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=1/3
        "]],
    );
}

/// T9, 1.18 to 1.21.
#[test]
fn watch_refused_with_429_makes_a_client_until_1_21_list() {
    check(
        "0s server v1.20.15
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         290s a3 BOOKMARK @1100
         300035ms a3 ends
         300040ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=444&watch=true
         300045ms a5 refused 429 TooManyRequests retry-after=1
         301500ms a7 GET /api/v1/pods?resourceVersion=1100
         301520ms a7 whole rv=1130 x@500 y@600
         301530ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         301535ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            301500ms relist-began #1 cause=too-many-requests
            301520ms relist #1 cause=too-many-requests requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=2 watches=3 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// T9, 1.22 and later: the transport repeats the watch after Retry-After.
#[test]
fn watch_refused_with_429_is_repeated_until_it_is_granted() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         290s a3 BOOKMARK @1100
         300035ms a3 ends
         300040ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=444&watch=true
         300045ms a5 refused 429 TooManyRequests retry-after=1
         301050ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=444&watch=true
         301055ms a7 refused 429 TooManyRequests retry-after=1
         302060ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=444&watch=true
         302065ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            302065ms resume #1 rv=1100: the watch before ended after its requested timeout
            #1 client 1 pods · all namespaces watching rv=1100 lists=1 watches=4 resumes=1 relists=0 known=0/2
        "]],
    );
}
