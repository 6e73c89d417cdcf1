//! More gaps in the observation, events that bring nothing new, and watches at the limits of what their ends are called.

use expect_test::expect;

use crate::script::check;

/// A gap in the middle of a watch which goes on behind it.
#[test]
fn watch_that_goes_on_behind_a_gap_is_the_same_watch() {
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
fn bytes_missed_in_a_list_make_what_is_known_later_a_minimum() {
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

/// A gap between the first list and the first watch that was seen.
#[test]
fn initial_list_is_told_when_a_watch_is_seen_behind_a_gap() {
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

/// Spurious updates: events with versions that the reflector has; an object that was deleted is had no more.
#[test]
fn events_behind_the_revision_of_a_watch_are_news_even_if_they_were_sent_before() {
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

/// T2, clients that are not client-go (§6.7, Python): no timeoutSeconds, no bookmarks.
#[test]
fn watch_that_asked_for_no_time_is_ended_by_the_server() {
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

/// T1 and T2: a second before the time is after it, a little more is early.
#[test]
fn watch_that_ends_a_second_before_its_time_ended_after_it() {
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
            299045ms resume #1 rv=1100: the watch before ended after the time it asked for
            597910ms resume #1 rv=1200: the watch before was ended early by the server
            #1 client 1 pods · all namespaces watching rv=1200 lists=1 watches=3 resumes=2 relists=0 known=0/2
        "]],
    );
}

/// T2 and T3: within a second, a bookmark makes a watch no very short one; without any event the same client would list.
#[test]
fn watch_that_ends_within_a_second_behind_a_bookmark_is_ended_early() {
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

/// T3, clients that are not client-go: a very short watch that is followed by a watch.
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

/// No row of §6.4 (§6.7, JavaScript): the client cancels its watch after some silence, and goes on watching; then it leaves and comes back to watch.
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
            80020ms resume #1 rv=1005: the watch before ended when the client left
            #1 client 1 pods · all namespaces watching rv=1005 lists=1 watches=3 resumes=2 relists=0 known=0/3
        "]],
    );
}
