//! How watches end, and what clients of each age then ask (§6.4 of the semantics reference, T1 to T4).

use expect_test::expect;

use crate::script::check;

/// T1, 1.16 to 1.34.
#[test]
fn watches_that_end_after_their_time_follow_each_other_without_a_list() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=417&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1200
         200s a3 MODIFIED x@1300
         417035ms a3 ends
         417040ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1300&timeoutSeconds=569&watch=true
         417045ms a5 opens
         480s a5 BOOKMARK @1400
         986050ms a5 ends
         986055ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1400&timeoutSeconds=301&watch=true
         986060ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            417045ms resume #1 rv=1300: the watch before ended after the time it asked for
            986060ms resume #1 rv=1400: the watch before ended after the time it asked for
            #1 client 1 pods · all namespaces watching rv=1400 lists=1 watches=3 resumes=2 relists=0 known=0/3
        "]],
    );
}

/// T1, 1.35 and later.
#[test]
fn watch_of_a_streaming_list_that_ends_after_its_time_is_resumed_by_a_plain_watch() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         10ms a1 opens
         11ms a1 ADDED x@500
         12ms a1 ADDED y@600
         20ms a1 END-BOOKMARK @1000
         100s a1 MODIFIED x@1100
         352010ms a1 ends
         352015ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=480&watch=true
         352020ms a3 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            352020ms resume #1 rv=1100: the watch before ended after the time it asked for
            #1 client 1 pods · all namespaces watching rv=1100 age=WatchList lists=0 watches=2 resumes=1 relists=0 known=0/3
        "]],
    );
}

/// T2, all ages: older than a second, or younger with an event.
#[test]
fn watch_that_the_server_ends_early_is_resumed_at_once() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         95s a3 ends
         95005ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=344&watch=true
         95010ms a5 opens
         95300ms a5 MODIFIED x@1150
         95700ms a5 ends
         95705ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1150&timeoutSeconds=377&watch=true
         95710ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            95010ms resume #1 rv=1100: the watch before was ended early by the server
            95710ms resume #1 rv=1150: the watch before was ended early by the server
            #1 client 1 pods · all namespaces watching rv=1150 lists=1 watches=3 resumes=2 relists=0 known=0/3
        "]],
    );
}

/// T2, all ages: a stream that is reset, then a connection that the server leaves after it said so.
#[test]
fn watch_whose_stream_or_connection_is_cut_is_resumed_at_once() {
    check(
        "0s server v1.34.4
         0s a connects client=controller/v1.30.0
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         80s a3 reset by server
         80005ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=344&watch=true
         80010ms a5 opens
         150s a5 BOOKMARK @1200
         170s a goaway
         171s a closed by server
         171010ms b connects client=controller/v1.30.0
         171020ms b1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1200&timeoutSeconds=377&watch=true
         171025ms b1 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            80010ms resume #1 rv=1100: the watch before was reset by the server (code 2)
            171025ms resume #1 rv=1200: the watch before ended with its connection
            #1 client 1 pods · all namespaces watching rv=1200 lists=1 watches=3 resumes=2 relists=0 known=0/2
        "]],
    );
}

/// T3, 1.18 to 1.34.
#[test]
fn very_short_watch_leads_to_a_list_from_its_own_revision() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         300035ms a3 ends
         300040ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=450&watch=true
         300045ms a5 opens
         300500ms a5 ends
         301600ms a7 GET /api/v1/pods?resourceVersion=1100
         301620ms a7 whole rv=1130 x@500 y@1120
         301630ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         301635ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            301600ms relist-began #1 cause=very-short-watch
            301620ms relist #1 cause=very-short-watch requests=1 items=2 known=1/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=2 watches=3 resumes=0 relists=1 known=1/4
        "]],
    );
}

/// T3, 1.16 and 1.17.1 to 1.17.x: exactly a second, then from 0.
#[test]
fn very_short_watch_of_an_old_client_leads_to_a_list_from_zero() {
    check(
        "0s server v1.16.15
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         300035ms a3 ends
         300040ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=450&watch=true
         300045ms a5 opens
         300500ms a5 ends
         301502ms a7 GET /api/v1/pods?limit=500&resourceVersion=0
         301520ms a7 whole rv=1130 x@500 y@1120
         301530ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         301535ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            301502ms relist-began #1 cause=very-short-watch
            301520ms relist #1 cause=very-short-watch requests=1 items=2 known=1/2
            #1 client 1 pods · all namespaces watching rv=1130 age=Until1_17 lists=2 watches=3 resumes=0 relists=1 known=1/4
        "]],
    );
}

/// T3, 1.35 and later.
#[test]
fn very_short_watch_of_a_new_client_leads_to_a_streaming_list_at_its_revision() {
    check(
        "0s server v1.35.0
         0s a connects
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         10ms a1 opens
         11ms a1 ADDED x@500
         12ms a1 ADDED y@600
         20ms a1 END-BOOKMARK @1000
         60s a1 BOOKMARK @1100
         352010ms a1 ends
         352015ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=480&watch=true
         352020ms a3 opens
         352400ms a3 ends
         353500ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=391&watch=true
         353510ms a5 opens
         353511ms a5 ADDED x@500
         353512ms a5 ADDED y@1120
         353520ms a5 END-BOOKMARK @1130",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            353500ms relist-began #1 cause=very-short-watch
            353520ms relist #1 cause=very-short-watch requests=1 items=2 known=1/2
            #1 client 1 pods · all namespaces watching rv=1130 age=WatchList lists=0 watches=3 resumes=0 relists=1 known=1/4
        "]],
    );
}

/// T4, 1.18 to 1.34: bookmarks came, no connection ended, no time was lost.
#[test]
fn expired_watch_for_which_nothing_accounts() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 BOOKMARK @1200
         180s a3 BOOKMARK @1300
         240s a3 BOOKMARK @1400
         298s a3 BOOKMARK @1500
         300035ms a3 ends
         300040ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1500&timeoutSeconds=450&watch=true
         300045ms a5 opens
         300046ms a5 ERROR 410 Expired
         300047ms a5 ends
         301200ms a7 GET /api/v1/pods?resourceVersion=1500
         301220ms a7 whole rv=1600 x@500 y@600 z@1550
         301230ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1600&timeoutSeconds=333&watch=true
         301235ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            301200ms relist-began #1 cause=expired/cache-restarted
            301220ms relist #1 cause=expired/cache-restarted requests=1 items=3 known=2/3
            #1 client 1 pods · all namespaces watching rv=1600 age=From1_18 lists=2 watches=3 resumes=0 relists=1 known=2/5
        "]],
    );
}

/// T4, 1.16 and 1.17.1 to 1.17.x, with the reason that servers of 1.16 give.
#[test]
fn expired_watch_of_an_old_client_that_no_bookmark_reached() {
    check(
        "0s server v1.16.15
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         300035ms a3 ends
         300040ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=450&watch=true
         300045ms a5 opens
         300046ms a5 ERROR 410 Gone
         300047ms a5 ends
         301049ms a7 GET /api/v1/pods?limit=500&resourceVersion=0
         301070ms a7 whole rv=2000 x@500 y@600 z@1900
         301080ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=2000&timeoutSeconds=333&watch=true
         301085ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            301049ms relist-began #1 cause=expired/no-bookmarks
            301070ms relist #1 cause=expired/no-bookmarks requests=1 items=3 known=2/3
            #1 client 1 pods · all namespaces watching rv=2000 age=Until1_17 lists=2 watches=3 resumes=0 relists=1 known=2/5
        "]],
    );
}

/// T4, 1.17.0: a second, then a list with a limit and without a revision.
#[test]
fn expired_watch_of_1_17_0_leads_to_a_list_with_a_limit_and_without_a_revision() {
    check(
        "0s server v1.17.0
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         290s a3 BOOKMARK @1500
         300035ms a3 ends
         300040ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1500&timeoutSeconds=450&watch=true
         300045ms a5 opens
         300046ms a5 ERROR 410 Expired
         300047ms a5 ends
         301049ms a7 GET /api/v1/pods?limit=500
         301070ms a7 whole rv=2000 x@500 y@1900
         301080ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=2000&timeoutSeconds=333&watch=true
         301085ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            301049ms relist-began #1 cause=expired/cache-restarted
            301070ms relist #1 cause=expired/cache-restarted requests=1 items=2 known=1/2
            #1 client 1 pods · all namespaces watching rv=2000 lists=2 watches=3 resumes=0 relists=1 known=1/4
        "]],
    );
}
