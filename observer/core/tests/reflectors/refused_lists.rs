//! Failed lists, and the next request of each client-go release (§6.3, §6.4 of docs/semantics.md, T11 to T13).

use expect_test::expect;

use crate::script::check;

/// T11, 1.18 to 1.34: at once a second list, without revision and limit.
#[test]
fn list_refused_with_410_leads_to_a_full_list() {
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
         121250ms a7 whole rv=1130 x@500 y@600
         121260ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         121265ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            121210ms relist-began #1 cause=list-expired
            121250ms relist #1 cause=list-expired requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=3 watches=2 resumes=0 relists=2 known=2/4
        "]],
    );
}

/// T11, 1.17.0: at once a second list, without revision, with a limit.
#[test]
fn list_refused_with_410_leads_1_17_0_to_a_list_with_a_limit() {
    check(
        "0s server v1.17.0
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121003ms a5 GET /api/v1/pods?limit=500&resourceVersion=1100
         121010ms a5 refused 410 Expired
         121015ms a7 GET /api/v1/pods?limit=500
         121050ms a7 whole rv=1130 x@500 y@600
         121060ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         121065ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121003ms relist-began #1 cause=watch-error/500
            121015ms relist-began #1 cause=list-expired
            121050ms relist #1 cause=list-expired requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 lists=3 watches=2 resumes=0 relists=2 known=2/4
        "]],
    );
}

/// T12, 1.18.6 to 1.34: eleven attempts of the transport, then at once a list without revision and limit.
#[test]
fn list_refused_as_too_new_eleven_times_leads_to_a_full_list() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         300s a3 ERROR 500 InternalError
         300001ms a3 ends
         301100ms a5 GET /api/v1/pods?resourceVersion=1100
         304100ms a5 refused 504 Timeout too-large retry-after=1
         305105ms a7 GET /api/v1/pods?resourceVersion=1100
         308105ms a7 refused 504 Timeout too-large retry-after=1
         309110ms a9 GET /api/v1/pods?resourceVersion=1100
         312110ms a9 refused 504 Timeout too-large retry-after=1
         313115ms a11 GET /api/v1/pods?resourceVersion=1100
         316115ms a11 refused 504 Timeout too-large retry-after=1
         317120ms a13 GET /api/v1/pods?resourceVersion=1100
         320120ms a13 refused 504 Timeout too-large retry-after=1
         321125ms a15 GET /api/v1/pods?resourceVersion=1100
         324125ms a15 refused 504 Timeout too-large retry-after=1
         325130ms a17 GET /api/v1/pods?resourceVersion=1100
         328130ms a17 refused 504 Timeout too-large retry-after=1
         329135ms a19 GET /api/v1/pods?resourceVersion=1100
         332135ms a19 refused 504 Timeout too-large retry-after=1
         333140ms a21 GET /api/v1/pods?resourceVersion=1100
         336140ms a21 refused 504 Timeout too-large retry-after=1
         337145ms a23 GET /api/v1/pods?resourceVersion=1100
         340145ms a23 refused 504 Timeout too-large retry-after=1
         341150ms a25 GET /api/v1/pods?resourceVersion=1100
         344150ms a25 refused 504 Timeout too-large retry-after=1
         344155ms a27 GET /api/v1/pods
         344900ms a27 whole rv=900 x@500 y@600
         344910ms a29 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=900&timeoutSeconds=333&watch=true
         344915ms a29 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            301100ms relist-began #1 cause=watch-error/500
            344155ms relist-began #1 cause=too-large-resource-version
            344900ms relist #1 cause=too-large-resource-version requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=900 age=From1_18 lists=13 watches=2 resumes=0 relists=2 known=2/4
        "]],
    );
}

/// T12, 1.18.0 to 1.18.5 (§6.6): the client repeats the same list forever.
#[test]
fn client_that_keeps_a_too_new_revision_is_stuck() {
    check(
        "0s server v1.18.3
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         300s a3 ERROR 500 InternalError
         300001ms a3 ends
         301100ms a5 GET /api/v1/pods?resourceVersion=1100
         304100ms a5 refused 504 Timeout too-large retry-after=1
         305105ms a7 GET /api/v1/pods?resourceVersion=1100
         308105ms a7 refused 504 Timeout too-large retry-after=1
         309110ms a9 GET /api/v1/pods?resourceVersion=1100
         312110ms a9 refused 504 Timeout too-large retry-after=1
         313115ms a11 GET /api/v1/pods?resourceVersion=1100
         316115ms a11 refused 504 Timeout too-large retry-after=1
         317120ms a13 GET /api/v1/pods?resourceVersion=1100
         320120ms a13 refused 504 Timeout too-large retry-after=1
         321125ms a15 GET /api/v1/pods?resourceVersion=1100
         324125ms a15 refused 504 Timeout too-large retry-after=1
         325130ms a17 GET /api/v1/pods?resourceVersion=1100
         328130ms a17 refused 504 Timeout too-large retry-after=1
         329135ms a19 GET /api/v1/pods?resourceVersion=1100
         332135ms a19 refused 504 Timeout too-large retry-after=1
         333140ms a21 GET /api/v1/pods?resourceVersion=1100
         336140ms a21 refused 504 Timeout too-large retry-after=1
         337145ms a23 GET /api/v1/pods?resourceVersion=1100
         340145ms a23 refused 504 Timeout too-large retry-after=1
         341150ms a25 GET /api/v1/pods?resourceVersion=1100
         344150ms a25 refused 504 Timeout too-large retry-after=1
         345350ms a27 GET /api/v1/pods?resourceVersion=1100
         348350ms a27 refused 504 Timeout too-large retry-after=1 current=900
         349355ms a29 GET /api/v1/pods?resourceVersion=1100
         352355ms a29 refused 504 Timeout too-large retry-after=1 current=900",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            301100ms relist-began #1 cause=watch-error/500
            348350ms stuck #1 rv=1100 current=900 refusals=12
            #1 client 1 pods · all namespaces stuck rv=1100 age=From1_18 lists=14 watches=1 resumes=0 relists=1 known=0/2
        "]],
    );
}

/// T12 (§6.6, heals when the cache catches up), 1.18 to 1.34.
#[test]
fn list_refused_as_too_new_until_the_server_catches_up_is_one_list() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         300s a3 ERROR 500 InternalError
         300001ms a3 ends
         301100ms a5 GET /api/v1/pods?resourceVersion=1100
         304100ms a5 refused 504 Timeout too-large retry-after=1
         305105ms a7 GET /api/v1/pods?resourceVersion=1100
         308105ms a7 refused 504 Timeout too-large retry-after=1
         309110ms a9 GET /api/v1/pods?resourceVersion=1100
         312110ms a9 refused 504 Timeout too-large retry-after=1
         313115ms a11 GET /api/v1/pods?resourceVersion=1100
         313140ms a11 whole rv=1101 x@500 y@600
         313150ms a13 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1101&timeoutSeconds=333&watch=true
         313155ms a13 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            301100ms relist-began #1 cause=watch-error/500
            313140ms relist #1 cause=watch-error/500 requests=4 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1101 age=From1_18 lists=5 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// T13, all releases: the server is not ready for the first list.
#[test]
fn first_list_refused_with_429_is_retried_after_retry_after() {
    check(
        "0s server v1.34.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         10ms a1 refused 429 TooManyRequests retry-after=1
         1015ms a3 GET /api/v1/pods?limit=500&resourceVersion=0
         1025ms a3 refused 429 TooManyRequests retry-after=1
         2030ms a5 GET /api/v1/pods?limit=500&resourceVersion=0
         2050ms a5 whole rv=1000 x@500 y@600
         2060ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=333&watch=true
         2065ms a7 opens",
        &expect![[r"
            2050ms initial-list #1 requests=3 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1000 lists=3 watches=1 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// T13, 1.18 to 1.34: 500 without Retry-After, then the same form after the backoff.
#[test]
fn list_refused_with_500_is_retried_in_a_new_cycle() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         120s a3 ERROR 410 Expired
         120001ms a3 ends
         121200ms a5 GET /api/v1/pods?resourceVersion=1100
         121210ms a5 refused 500 InternalError
         123710ms a7 GET /api/v1/pods?resourceVersion=1100
         123730ms a7 whole rv=1130 x@500 y@600
         123740ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         123745ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=expired/cache-reset
            123730ms relist #1 cause=expired/cache-reset requests=2 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=3 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// §6.3, all releases: if the connection of a list breaks, the transport repeats the list after a second.
#[test]
fn broken_list_retried_after_a_second_is_one_relist() {
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
         122305ms b connects client=controller/v1.30.0 pid=7
         122310ms b1 GET /api/v1/pods?resourceVersion=1100
         122330ms b1 whole rv=1130 x@500 y@600
         122340ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         122345ms b3 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            122330ms relist #1 cause=watch-error/500 requests=2 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=3 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// T13, all releases: a permission is missing at first, and the client retries in cycles with backoff.
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
fn list_after_410_and_500_keeps_the_list_expired_cause() {
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

/// §6.3: a request before the time of Retry-After is not a retry of the transport.
#[test]
fn list_before_retry_after_elapses_is_a_new_attempt() {
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

/// §6.3, a break that the transport does not retry: the next cycle, after the backoff.
#[test]
fn broken_list_retried_in_the_next_cycle_is_one_relist() {
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
fn old_client_retries_a_list_refused_with_500() {
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
