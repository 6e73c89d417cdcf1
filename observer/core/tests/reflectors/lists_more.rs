//! More lists that fail or come in pages (§6.1, §6.3, §6.4 of the semantics reference, T11, T13, T14).

use expect_test::expect;

use crate::script::check;

/// T14, all ages: the second page of the first list is refused, the pager asks for all at the revision of the list, 0.
#[test]
fn page_of_the_first_list_refused_with_410_belongs_to_the_first_list() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=10 x@5 y@6 continue
         25ms a3 GET /api/v1/pods?continue=@10&limit=500
         40ms a3 refused 410 Expired
         45ms a5 GET /api/v1/pods?resourceVersion=0
         90ms a5 whole rv=50 x@5 y@6 z@45
         95ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=50&timeoutSeconds=500&watch=true
         99ms a7 opens",
        &expect![[r"
            90ms initial-list #1 requests=3 items=3 known=0/3
            #1 client 1 pods · all namespaces watching rv=50 lists=3 watches=1 resumes=0 relists=0 known=0/3
        "]],
    );
}

/// T4 after a first list in pages, 1.18 to 1.34 (§6.1): from its own revision with a limit, which tells no age.
#[test]
fn relist_in_pages_from_its_own_revision() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=10 x@5 continue
         25ms a3 GET /api/v1/pods?continue=@10&limit=500
         40ms a3 whole rv=10 y@6
         50ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=500&watch=true
         55ms a5 opens
         120s a5 ERROR 500 InternalError
         120001ms a5 ends
         121200ms a7 GET /api/v1/pods?limit=500&resourceVersion=10
         121220ms a7 whole rv=10 x@5 continue
         121230ms a9 GET /api/v1/pods?continue=@10&limit=500
         121240ms a9 whole rv=10 y@6
         121290ms a11 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=333&watch=true
         121295ms a11 opens",
        &expect![[r"
            40ms initial-list #1 requests=2 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            121240ms relist #1 cause=watch-error/500 requests=2 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=10 lists=4 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// Pages, 1.16 (§6.1): the pages keep the revision 0.
#[test]
fn pages_that_keep_the_revision_zero_belong_to_their_list() {
    check(
        "0s server v1.16.15
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=10 x@5 continue
         25ms a3 GET /api/v1/pods?continue=@10&limit=500&resourceVersion=0
         40ms a3 whole rv=10 y@6
         50ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=500&watch=true
         55ms a5 opens
         120s a5 ERROR 500 InternalError
         120001ms a5 ends
         121003ms a7 GET /api/v1/pods?limit=500&resourceVersion=0
         121020ms a7 whole rv=10 x@5 continue
         121030ms a9 GET /api/v1/pods?continue=@10&limit=500&resourceVersion=0
         121040ms a9 whole rv=10 y@6
         121090ms a11 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=333&watch=true
         121095ms a11 opens",
        &expect![[r"
            40ms initial-list #1 requests=2 items=2 known=0/2
            121003ms relist-began #1 cause=watch-error/500
            121040ms relist #1 cause=watch-error/500 requests=2 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=10 age=Until1_17 lists=4 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// T13, all ages: a right that is missing at first, asked for in cycles with back-off.
#[test]
fn first_list_refused_in_several_cycles_is_one_initial_list() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         5ms a1 refused 403 Forbidden
         1205ms a3 GET /api/v1/pods?limit=500&resourceVersion=0
         1210ms a3 refused 403 Forbidden
         3410ms a5 GET /api/v1/pods?limit=500&resourceVersion=0
         3415ms a5 refused 403 Forbidden
         8s a7 GET /api/v1/pods?limit=500&resourceVersion=0
         8020ms a7 whole rv=1000 x@500 y@600
         8030ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         8035ms a9 opens",
        &expect![[r"
            8020ms initial-list #1 requests=4 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1000 lists=4 watches=1 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// T11 (§6.1, "next attempt after both lists failed"), 1.18 to 1.34.
#[test]
fn list_after_two_lists_that_failed() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121200ms a5 GET /api/v1/pods?resourceVersion=1100
         121205ms a5 refused 410 Expired
         121210ms a7 GET /api/v1/pods
         121250ms a7 refused 500 InternalError
         123550ms a9 GET /api/v1/pods?limit=500
         123580ms a9 whole rv=1130 x@500 y@600
         123590ms a11 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         123595ms a11 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            121210ms relist-began #1 cause=list-expired
            123580ms relist #1 cause=list-expired requests=2 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=4 watches=2 resumes=0 relists=2 known=2/4
        "]],
    );
}

/// §6.3: what comes before the time of Retry-After is no repetition of the transport.
#[test]
fn list_asked_for_before_the_time_of_retry_after_is_another_attempt() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121200ms a5 GET /api/v1/pods?resourceVersion=1100
         121205ms a5 refused 503 ServiceUnavailable retry-after=30
         123400ms a7 GET /api/v1/pods?resourceVersion=1100
         123420ms a7 whole rv=1130 x@500 y@600
         123430ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         123435ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            123420ms relist #1 cause=watch-error/500 requests=2 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=3 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// §6.3, a break that is not in the transport's set: the next cycle, after the back-off.
#[test]
fn list_whose_connection_broke_is_tried_again() {
    check(
        "0s server v1.30.4
         0s a connects client=controller/v1.30.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121200ms a5 GET /api/v1/pods?resourceVersion=1100
         121300ms a closed by server
         123895ms b connects client=controller/v1.30.0 pid=7
         123900ms b1 GET /api/v1/pods?resourceVersion=1100
         123920ms b1 whole rv=1130 x@500 y@600
         123930ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         123935ms b3 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            123920ms relist #1 cause=watch-error/500 requests=2 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=3 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// T13, 1.16 and 1.17.1 to 1.17.x.
#[test]
fn list_of_an_old_client_refused_without_retry_after_is_asked_for_again_in_a_new_cycle() {
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
         121010ms a5 refused 500 InternalError
         122012ms a7 GET /api/v1/pods?limit=500&resourceVersion=0
         122030ms a7 whole rv=1130 x@500 y@600
         122040ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         122045ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121003ms relist-began #1 cause=watch-error/500
            122030ms relist #1 cause=watch-error/500 requests=2 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=Until1_17 lists=3 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// No row of §6.4: a client known to watch lists twice, with no watch between.
#[test]
fn list_after_a_list_that_no_watch_followed() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121200ms a5 GET /api/v1/pods?resourceVersion=1100
         121220ms a5 whole rv=1130 x@500 y@600
         130s a7 GET /api/v1/pods?resourceVersion=1130
         130020ms a7 whole rv=1140 x@500 y@600
         130030ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1140&timeoutSeconds=333&watch=true
         130035ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            121220ms relist #1 cause=watch-error/500 requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1140 age=From1_18 lists=3 watches=2 resumes=0 relists=1 known=4/6
        "]],
    );
}

/// The first list is empty: what the reflector is for is not seen whole.
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
            #1 client 1 pods · all watching rv=1100 lists=1 watches=1 resumes=0 relists=0 known=0/0
        "]],
    );
}
