//! Clients that restart: rolled out, crashed, left (§6.4 of docs/semantics.md, T18; §6.5).

use expect_test::expect;

use crate::script::check;

/// T18, 1.16 to 1.34, a client identified only by its user agent.
#[test]
fn restart_matched_by_user_agent_is_a_new_process() {
    check(
        "0s server v1.34.4
         0s a connects client=manager/v1.2.0
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         200s a closed by client
         215s b connects client=manager/v1.2.0
         215100ms b1 GET /api/v1/pods?limit=500&resourceVersion=0
         215120ms b1 whole rv=1200 x@500 y@600 z@1150
         215130ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1200&timeoutSeconds=333&watch=true
         215135ms b3 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            215100ms relist-began #1 cause=new-process
            215120ms relist #1 cause=new-process requests=1 items=3 known=0/3
            #1 client 1 pods · all namespaces watching rv=1200 lists=2 watches=2 resumes=0 relists=0 known=0/5
        "]],
    );
}

/// T18, 1.16 to 1.34, a client whose process is known.
#[test]
fn restart_of_a_client_known_by_its_process_is_another_client() {
    check(
        "0s server v1.34.4
         0s a connects client=manager/v1.2.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         200s a closed by client
         215s b connects client=manager/v1.2.0 pid=8
         215100ms b1 GET /api/v1/pods?limit=500&resourceVersion=0
         215120ms b1 whole rv=1200 x@500 y@600 z@1150
         215130ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1200&timeoutSeconds=333&watch=true
         215135ms b3 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            215120ms initial-list #2 requests=1 items=3 known=0/3
            #1 client 1 pods · all namespaces waiting rv=1100 lists=1 watches=1 resumes=0 relists=0 known=0/2
            #2 client 2 pods · all namespaces watching rv=1200 lists=1 watches=1 resumes=0 relists=0 known=0/3
        "]],
    );
}

/// §6.5, "client rebuilt its informer": on another connection, by the same process.
#[test]
fn same_process_listing_on_a_new_connection_rebuilt_its_informer() {
    check(
        "0s server v1.34.4
         0s a connects client=manager/v1.2.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         200s a closed by client
         203s b connects client=manager/v1.2.0 pid=7
         203100ms b1 GET /api/v1/pods?limit=500&resourceVersion=0
         203120ms b1 whole rv=1200 x@500 y@600
         203130ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1200&timeoutSeconds=333&watch=true
         203135ms b3 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            203100ms relist-began #1 cause=rebuilt
            203120ms relist #1 cause=rebuilt requests=1 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1200 lists=2 watches=2 resumes=0 relists=0 known=0/4
        "]],
    );
}

/// T18, interleaved restarts of two replicas whose processes are known.
#[test]
fn replicas_that_restart_one_after_the_other_are_four_clients() {
    check(
        "0s server v1.30.4
         0s a connects client=manager/v1.2.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         3s b connects client=manager/v1.2.0 pid=8
         3s b1 GET /api/v1/pods?limit=500&resourceVersion=0
         3020ms b1 whole rv=1001 x@500
         3030ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1001&timeoutSeconds=400&watch=true
         3035ms b3 opens
         100s c connects client=manager/v1.2.0 pid=9
         100s c1 GET /api/v1/pods?limit=500&resourceVersion=0
         105s a closed by client
         105020ms c1 whole rv=1002 x@500
         105030ms c3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1002&timeoutSeconds=400&watch=true
         105035ms c3 opens
         110s b closed by client
         111s d connects client=manager/v1.2.0 pid=10
         111s d1 GET /api/v1/pods?limit=500&resourceVersion=0
         111020ms d1 whole rv=1003 x@500
         111030ms d3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1003&timeoutSeconds=400&watch=true
         111035ms d3 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=1 known=0/1
            3020ms initial-list #2 requests=1 items=1 known=0/1
            105020ms initial-list #3 requests=1 items=1 known=0/1
            111020ms initial-list #4 requests=1 items=1 known=0/1
            #1 client 1 pods · all namespaces waiting rv=1000 lists=1 watches=1 resumes=0 relists=0 known=0/1
            #2 client 2 pods · all namespaces waiting rv=1001 lists=1 watches=1 resumes=0 relists=0 known=0/1
            #3 client 3 pods · all namespaces watching rv=1002 lists=1 watches=1 resumes=0 relists=0 known=0/1
            #4 client 4 pods · all namespaces watching rv=1003 lists=1 watches=1 resumes=0 relists=0 known=0/1
        "]],
    );
}

/// T18, rolling update of a client identified only by its user agent: the new one begins before the old one leaves.
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

/// T18, a client identified only by its user agent, in a crash loop.
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

/// T18, a client identified only by its user agent leaves before its first list is complete: every attempt belongs to the initial
/// list.
#[test]
fn retry_after_an_incomplete_first_list_is_the_initial_list() {
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

/// T18, 1.35 and later, a client identified only by its user agent.
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

/// T18, a client identified only by its user agent, with two informers for the same resource.
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
