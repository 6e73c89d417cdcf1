//! More restarts, pollers, and clients beside each other (§6.4 of the semantics reference, T18; §6.5, §6.7).

use expect_test::expect;

use crate::script::check;

/// T18, rolling update of a client known by its words: the new one begins before the old one leaves.
#[test]
fn new_process_that_begins_while_the_old_one_watches_is_a_second_reflector() {
    check(
        "0s server v1.34.4
         0s a connects client=manager/v1.2.0
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         100s b connects client=manager/v1.2.0
         100100ms b1 GET /api/v1/pods?limit=500&resourceVersion=0
         100120ms b1 whole rv=1150 x@500
         100130ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1150&timeoutSeconds=333&watch=true
         100135ms b3 opens
         110s a closed by client
         160s b3 BOOKMARK @1200",
        &expect![[r"
            20ms initial-list #1 requests=1 items=1 known=0/1
            100120ms initial-list #2 requests=1 items=1 known=0/1
            #1 client 1 pods · all namespaces waiting rv=1100 lists=1 watches=1 resumes=0 relists=0 known=0/1
            #2 client 1 pods · all namespaces watching rv=1200 lists=1 watches=1 resumes=0 relists=0 known=0/1
        "]],
    );
}

/// T18, a client known by its words that crashes again and again.
#[test]
fn client_that_crashes_in_a_loop_is_a_new_process_each_time() {
    check(
        "0s server v1.34.4
         0s a connects client=manager/v1.2.0
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         5s a closed by client
         15s b connects client=manager/v1.2.0
         15100ms b1 GET /api/v1/pods?limit=500&resourceVersion=0
         15120ms b1 whole rv=1010 x@500
         15130ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1010&timeoutSeconds=333&watch=true
         15135ms b3 opens
         20s b closed by client
         40s c connects client=manager/v1.2.0
         40100ms c1 GET /api/v1/pods?limit=500&resourceVersion=0
         40120ms c1 whole rv=1020 x@500
         40130ms c3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1020&timeoutSeconds=333&watch=true
         40135ms c3 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=1 known=0/1
            15100ms relist-began #1 cause=new-process
            15120ms relist #1 cause=new-process requests=1 items=1 known=0/1
            40100ms relist-began #1 cause=new-process
            40120ms relist #1 cause=new-process requests=1 items=1 known=0/1
            #1 client 1 pods · all namespaces watching rv=1020 lists=3 watches=3 resumes=0 relists=0 known=0/3
        "]],
    );
}

/// T18, a client known by its words that leaves before its first list came: every attempt belongs to the initial list.
#[test]
fn client_that_left_before_its_first_list_came_has_an_initial_list_yet() {
    check(
        "0s server v1.34.4
         0s a connects client=manager/v1.2.0
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         10s a closed by client
         20s b connects client=manager/v1.2.0
         20100ms b1 GET /api/v1/pods?limit=500&resourceVersion=0
         20120ms b1 whole rv=1010 x@500
         20130ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1010&timeoutSeconds=333&watch=true
         20135ms b3 opens",
        &expect![[r"
            20120ms initial-list #1 requests=2 items=1 known=0/1
            #1 client 1 pods · all namespaces watching rv=1010 lists=2 watches=1 resumes=0 relists=0 known=0/1
        "]],
    );
}

/// T18, 1.35 and later, a client known by its words.
#[test]
fn restart_of_a_client_with_streaming_lists_is_a_new_process() {
    check(
        "0s server v1.35.0
         0s a connects client=manager/v1.2.0
         0s a1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=352&watch=true
         5ms a1 opens
         6ms a1 ADDED x@500
         10ms a1 END-BOOKMARK @1000
         60s a1 BOOKMARK @1100
         90s a closed by client
         100s b connects client=manager/v1.2.0
         100100ms b1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=418&watch=true
         100105ms b1 opens
         100106ms b1 ADDED x@500
         100110ms b1 END-BOOKMARK @1150",
        &expect![[r"
            10ms initial-list #1 requests=1 items=1 known=0/1
            100100ms relist-began #1 cause=new-process
            100110ms relist #1 cause=new-process requests=1 items=1 known=0/1
            #1 client 1 pods · all namespaces watching rv=1150 age=WatchList lists=0 watches=2 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// §6.7, kubectl get -w: a list without a revision, a watch without a time and without bookmarks, and the client leaves.
#[test]
fn watch_from_the_command_line_is_an_initial_list() {
    check(
        "0s server v1.34.4
         0s a connects client=kubectl/v1.34.0 pid=7
         0s a1 GET /api/v1/pods?limit=500
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?resourceVersion=1000&watch=true
         35ms a3 opens
         12s a3 MODIFIED x@1001
         30s a closed by client",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            #1 client 1 pods · all namespaces waiting rv=1001 lists=1 watches=1 resumes=0 relists=0 known=0/3
        "]],
    );
}

/// A client that has an informer, and also lists the same every ten seconds.
#[test]
fn lists_beside_an_informer_that_watches_are_no_relists_of_it() {
    check(
        "0s server v1.34.4
         0s a connects client=manager/v1.2.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         10s a5 GET /api/v1/pods?limit=500
         10020ms a5 whole rv=1001 x@500
         20s a7 GET /api/v1/pods?limit=500
         20020ms a7 whole rv=1002 x@500
         30s a9 GET /api/v1/pods?limit=500
         30020ms a9 whole rv=1003 x@500
         60s a3 BOOKMARK @1100",
        &expect![[r"
            20ms initial-list #1 requests=1 items=1 known=0/1
            #1 client 1 pods · all namespaces watching rv=1100 lists=1 watches=1 resumes=0 relists=0 known=0/1
            #2 client 1 pods · all namespaces listed rv=1003 lists=3 watches=0 resumes=0 relists=0 known=2/3
        "]],
    );
}

/// T18, a client known by its words with two informers for the same.
#[test]
fn restart_of_a_client_with_two_informers_is_a_new_process_for_both() {
    check(
        "0s server v1.34.4
         0s a connects client=manager/v1.2.0
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         1s a5 GET /api/v1/pods?limit=500&resourceVersion=0
         1020ms a5 whole rv=1001 x@500
         1030ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1001&timeoutSeconds=400&watch=true
         1035ms a7 opens
         100s a closed by client
         110s b connects client=manager/v1.2.0
         110100ms b1 GET /api/v1/pods?limit=500&resourceVersion=0
         110101ms b3 GET /api/v1/pods?limit=500&resourceVersion=0
         110120ms b1 whole rv=1200 x@500
         110121ms b3 whole rv=1201 x@500
         110130ms b5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1200&timeoutSeconds=333&watch=true
         110131ms b7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1201&timeoutSeconds=444&watch=true
         110135ms b5 opens
         110136ms b7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=1 known=0/1
            1020ms initial-list #2 requests=1 items=1 known=0/1
            110100ms relist-began #1 cause=new-process
            110101ms relist-began #2 cause=new-process
            110120ms relist #1 cause=new-process requests=1 items=1 known=0/1
            110121ms relist #2 cause=new-process requests=1 items=1 known=0/1
            #1 client 1 pods · all namespaces watching rv=1200 lists=2 watches=2 resumes=0 relists=0 known=0/2
            #2 client 1 pods · all namespaces watching rv=1201 lists=2 watches=2 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// §6.4, GOAWAY alone: the watch goes on, another informer begins on a new connection, and the watch follows when it ends.
#[test]
fn connection_that_is_to_be_left_goes_on_with_its_watch() {
    check(
        "0s server v1.34.4
         0s a connects client=manager/v1.2.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         50s a goaway
         60s a3 BOOKMARK @1100
         70s b connects client=manager/v1.2.0 pid=7
         70s b1 GET /api/v1/services?limit=500&resourceVersion=0
         70020ms b1 whole rv=1101 s@400
         70030ms b3 GET /api/v1/services?allowWatchBookmarks=true&resourceVersion=1101&timeoutSeconds=500&watch=true
         70035ms b3 opens
         200s a3 MODIFIED x@1200
         300035ms a3 ends
         300036ms a closed by client
         300040ms b5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1200&timeoutSeconds=333&watch=true
         300045ms b5 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=1 known=0/1
            70020ms initial-list #2 requests=1 items=1 known=0/1
            300045ms resume #1 rv=1200: the watch before ended after the time it asked for
            #1 client 1 pods · all namespaces watching rv=1200 lists=1 watches=2 resumes=1 relists=0 known=0/2
            #2 client 1 services · all namespaces watching rv=1101 lists=1 watches=1 resumes=0 relists=0 known=0/1
        "]],
    );
}

/// T4 behind T8, two clients of the same resource at once (§6.5 (a)).
#[test]
fn restarted_server_expires_the_watches_of_all_clients() {
    check(
        "0s server v1.30.4
         0s a connects client=manager/v1.2.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         1s b connects client=agent/v0.9.0 pid=8
         1s b1 GET /api/v1/pods?limit=500&resourceVersion=0
         1020ms b1 whole rv=1001 x@500
         1030ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1001&timeoutSeconds=400&watch=true
         1035ms b3 opens
         60s a3 BOOKMARK @1100
         61s b3 BOOKMARK @1101
         120s refusing
         120001ms a closed by server
         120002ms b closed by server
         126s listening
         126500ms c connects client=manager/v1.2.0 pid=7
         126505ms c1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=444&watch=true
         126510ms c1 opens
         126511ms c1 ERROR 410 Expired
         126512ms c1 ends
         126700ms d connects client=agent/v0.9.0 pid=8
         126705ms d1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1101&timeoutSeconds=422&watch=true
         126710ms d1 opens
         126711ms d1 ERROR 410 Expired
         126712ms d1 ends
         127800ms c3 GET /api/v1/pods?resourceVersion=1100
         127820ms c3 whole rv=1130 x@500
         127830ms c5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         127835ms c5 opens
         128100ms d3 GET /api/v1/pods?resourceVersion=1101
         128120ms d3 whole rv=1131 x@500
         128130ms d5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1131&timeoutSeconds=333&watch=true
         128135ms d5 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=1 known=0/1
            1020ms initial-list #2 requests=1 items=1 known=0/1
            127800ms relist-began #1 cause=expired/cache-restarted
            127820ms relist #1 cause=expired/cache-restarted requests=1 items=1 known=1/1
            128100ms relist-began #2 cause=expired/cache-restarted
            128120ms relist #2 cause=expired/cache-restarted requests=1 items=1 known=1/1
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=2 watches=3 resumes=0 relists=1 known=1/2
            #2 client 2 pods · all namespaces watching rv=1131 age=From1_18 lists=2 watches=3 resumes=0 relists=1 known=1/2
        "]],
    );
}

/// The first watch after a list is no resume, neither after the first list nor after a relist; a list without a watch has no line yet.
#[test]
fn reflector_that_has_not_watched_yet_has_no_line() {
    check(
        "0s server v1.34.4
         0s a connects client=manager/v1.2.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500
         1s b connects client=agent/v0.9.0 pid=8
         1s b1 GET /api/v1/pods?limit=500&resourceVersion=0",
        &expect![[r"
            #1 client 1 pods · all namespaces listed rv=1000 lists=1 watches=0 resumes=0 relists=0 known=0/1
            #2 client 2 pods · all listing lists=1 watches=0 resumes=0 relists=0 known=0/0
        "]],
    );
}
