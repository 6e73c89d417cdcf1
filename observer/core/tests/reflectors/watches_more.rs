//! Servers that are away, what lies behind an expired watch, and watches that a client gives up (§6.4 of the semantics reference, T4, T6, T8, T10).

use expect_test::expect;

use crate::script::check;

/// T8, all ages from 1.16: W again, at the last revision.
#[test]
fn watch_is_resumed_when_a_server_that_was_away_is_back() {
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

/// T8, until 1.15 (§6.6, KK PR 81634): the client does not recognise that it was refused.
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

/// T4 behind T8, 1.18 to 1.34: the server comes back with an empty cache.
#[test]
fn watch_expired_because_the_server_was_restarted() {
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
         127310ms b1 opens
         127311ms b1 ERROR 410 Expired
         127312ms b1 ends
         128500ms b3 GET /api/v1/pods?resourceVersion=1100
         128520ms b3 whole rv=1130 x@500 y@1120
         128530ms b5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         128535ms b5 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            128500ms relist-began #1 cause=expired/cache-restarted
            128520ms relist #1 cause=expired/cache-restarted requests=1 items=2 known=1/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=2 watches=3 resumes=0 relists=1 known=1/4
        "]],
    );
}

/// T4, 1.18 to 1.34: ninety seconds between two watches.
#[test]
fn watch_expired_because_the_client_stalled() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=300&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1100
         298s a3 BOOKMARK @1200
         300035ms a3 ends
         390s a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1200&timeoutSeconds=444&watch=true
         390005ms a5 opens
         390006ms a5 ERROR 410 Expired
         390007ms a5 ends
         391100ms a7 GET /api/v1/pods?resourceVersion=1200
         391120ms a7 whole rv=1900 x@500 y@1500
         391130ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1900&timeoutSeconds=333&watch=true
         391135ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            391100ms relist-began #1 cause=expired/client-stalled
            391120ms relist #1 cause=expired/client-stalled requests=1 items=2 known=1/2
            #1 client 1 pods · all namespaces watching rv=1900 age=From1_18 lists=2 watches=3 resumes=0 relists=1 known=1/4
        "]],
    );
}

/// T10, 1.18 and later in old form.
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
            301053ms relist-began #1 cause=expired/cache-restarted
            301070ms relist #1 cause=expired/cache-restarted requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1250 age=Until1_17 lists=2 watches=3 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// No row of §6.4 (§6.7, clients that are not client-go): the watch ended as it should, and the client lists without a revision.
#[test]
fn list_after_a_watch_that_ended_well_has_no_known_cause() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=600&watch=true
         35ms a3 opens
         298s a3 BOOKMARK @1200
         600035ms a3 ends
         601s a5 GET /api/v1/pods
         601020ms a5 whole rv=1250 x@500 y@600
         601030ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1250&timeoutSeconds=600&watch=true
         601035ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            601s relist-began #1 cause=unknown/watch-ended-well
            601020ms relist #1 cause=unknown/watch-ended-well requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1250 lists=2 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// No row of §6.4: a client that cancels its watch goes on from the revision it has.
#[test]
fn list_from_its_own_revision_after_a_watch_that_the_client_cancelled() {
    check(
        "0s server v1.30.4
         0s a connects
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1200
         90s a3 reset by client
         91200ms a5 GET /api/v1/pods?resourceVersion=1200
         91220ms a5 whole rv=1250 x@500 y@600
         91230ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1250&timeoutSeconds=333&watch=true
         91235ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            91200ms relist-began #1 cause=unknown/cancelled
            91220ms relist #1 cause=unknown/cancelled requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1250 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}

/// No row of §6.4 (§6.5, "client rebuilt its informer").
#[test]
fn list_from_nothing_after_a_watch_that_the_client_cancelled_is_a_rebuilt_informer() {
    check(
        "0s server v1.30.4
         0s a connects client=controller/v1.30.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1200
         90s a3 reset by client
         90500ms a5 GET /api/v1/pods?limit=500&resourceVersion=0
         90520ms a5 whole rv=1250 x@500 y@600
         90530ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1250&timeoutSeconds=333&watch=true
         90535ms a7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            90500ms relist-began #1 cause=rebuilt
            90520ms relist #1 cause=rebuilt requests=1 items=2 known=0/2
            #1 client 1 pods · all namespaces watching rv=1250 lists=2 watches=2 resumes=0 relists=0 known=0/4
        "]],
    );
}

/// T6, 1.18 to 1.34.
#[test]
fn client_that_gives_up_a_dead_connection_lists_from_its_own_revision() {
    check(
        "0s server v1.30.4
         0s a connects client=controller/v1.30.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         60s a3 BOOKMARK @1200
         150s a closed by client
         151200ms b connects client=controller/v1.30.0 pid=7
         151205ms b1 GET /api/v1/pods?resourceVersion=1200
         151220ms b1 whole rv=1250 x@500 y@600
         151230ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1250&timeoutSeconds=333&watch=true
         151235ms b3 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            151205ms relist-began #1 cause=connection-lost
            151220ms relist #1 cause=connection-lost requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1250 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=2/4
        "]],
    );
}
