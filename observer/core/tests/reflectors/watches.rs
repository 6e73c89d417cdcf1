//! How watches end, and how they are resumed (§6.4 of docs/semantics.md, T1 to T3, T8).

use expect_test::expect;

use crate::script::check;

/// T2, clients other than client-go (§6.7, Python): no timeoutSeconds, no bookmarks.
#[test]
fn watch_without_a_timeout_is_ended_by_the_server() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?resourceVersion=1000&watch=true
         35ms a3 opens
         60s a3 MODIFIED x@1005
         2400s a3 ends
         2400005ms a5 GET /api/v1/pods?resourceVersion=1005&watch=true
         2400010ms a5 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            2400010ms resume #1 rv=1005: the watch before was ended early by the server
            #1 client 1 pods · all namespaces watching rv=1005 lists=1 watches=2 resumes=1 relists=0 known=0/3
        "]],
    );
}

/// T1 and T2: an end up to a second before `timeoutSeconds` counts as after it; an earlier end is early.
#[test]
fn watch_ending_a_second_early_counts_as_timed_out() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         290s a3 BOOKMARK @1100
         299035ms a3 ends
         299040ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=300&watch=true
         299045ms a5 opens
         590s a5 BOOKMARK @1200
         597900ms a5 ends
         597905ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1200&timeoutSeconds=300&watch=true
         597910ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            299045ms resume #1 rv=1100: the watch before ended after its requested timeout
            597910ms resume #1 rv=1200: the watch before was ended early by the server
            #1 client 1 pods · all namespaces watching rv=1200 lists=1 watches=3 resumes=2 relists=0 known=0/2
        "]],
    );
}

/// T2 and T3: a watch that ends within a second is not very short if a bookmark came. Without any event, the client would list.
#[test]
fn watch_ending_within_a_second_after_a_bookmark_is_resumed() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         300ms a3 BOOKMARK @1001
         600ms a3 ends
         605ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1001&timeoutSeconds=300&watch=true
         610ms a5 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            610ms resume #1 rv=1001: the watch before was ended early by the server
            #1 client 1 pods · all namespaces watching rv=1001 lists=1 watches=2 resumes=1 relists=0 known=0/2
        "]],
    );
}

/// T3, clients other than client-go: a watch follows a very short watch.
#[test]
fn very_short_watch_that_is_followed_by_a_watch_is_resumed() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         600ms a3 ends
         605ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         610ms a5 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            610ms resume #1 rv=1000: the watch before was ended within a second, before any event
            #1 client 1 pods · all namespaces watching rv=1000 lists=1 watches=2 resumes=1 relists=0 known=0/2
        "]],
    );
}

/// T1, 1.16 to 1.34.
#[test]
fn timed_out_watches_are_resumed_without_a_list() {
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
            417045ms resume #1 rv=1300: the watch before ended after its requested timeout
            986060ms resume #1 rv=1400: the watch before ended after its requested timeout
            #1 client 1 pods · all namespaces watching rv=1400 lists=1 watches=3 resumes=2 relists=0 known=0/3
        "]],
    );
}

/// T1, 1.35 and later.
#[test]
fn timed_out_streaming_list_is_resumed_by_plain_watch() {
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
            352020ms resume #1 rv=1100: the watch before ended after its requested timeout
            #1 client 1 pods · all namespaces watching rv=1100 age=WatchList lists=0 watches=2 resumes=1 relists=0 known=0/3
        "]],
    );
}

/// T2, all releases: older than a second, or younger with an event.
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

/// T2, all releases: a stream that is reset, then a connection that the server closes after a GOAWAY.
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

/// T3, 1.16 and 1.17.1 to 1.17.x: after exactly a second, a list at 0.
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

/// T8, all releases from 1.16: a watch again, at the last revision.
#[test]
fn watch_is_resumed_after_a_server_outage() {
    check(
        "0s server v1.30.4
         0s a connects client=controller/v1.30.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s refusing
         120001ms a closed by server
         126s listening
         127300ms b connects client=controller/v1.30.0 pid=7
         127305ms b1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=333&watch=true
         127310ms b1 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            127310ms resume #1 rv=1100: the watch before ended with its connection
            #1 client 1 pods · all namespaces watching rv=1100 lists=1 watches=2 resumes=1 relists=0 known=0/2
        "]],
    );
}

/// T8, until 1.15 (§6.6, kubernetes/kubernetes #81634): the client does not recognise a refused connection.
#[test]
fn client_that_misreads_a_refused_connection_lists_from_zero() {
    check(
        "0s server v1.16.15
         0s a connects client=controller/v1.15.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s refusing
         120001ms a closed by server
         126s listening
         126400ms b connects client=controller/v1.15.0 pid=7
         126405ms b1 GET /api/v1/pods?limit=500&resourceVersion=0
         126420ms b1 whole rv=1130 x@500 y@1120
         126430ms b3 GET /api/v1/pods?resourceVersion=1130&timeoutSeconds=333&watch=true
         126435ms b3 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            126405ms relist-began #1 cause=refused-misread
            126420ms relist #1 cause=refused-misread requests=1 items=2 known=1/2
            #1 client 1 pods · all namespaces watching rv=1130 age=Until1_17 lists=2 watches=2 resumes=0 relists=1 known=1/4
        "]],
    );
}
