//! Expired watches and their reasons (§6.4 of docs/semantics.md, T4; §6.5 (a)).

use expect_test::expect;

use observer_core::observer::{Event, Limits};
use serde_json::Value;

use crate::script::{check, play};

/// T4 after T8, two clients of the same resource at once (§6.5 (a)).
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
            127800ms relist-began #1 cause=expired/cache-reset
            127820ms relist #1 cause=expired/cache-reset requests=1 items=1 known=1/1
            128100ms relist-began #2 cause=expired/cache-reset
            128120ms relist #2 cause=expired/cache-reset requests=1 items=1 known=1/1
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=2 watches=3 resumes=0 relists=1 known=1/2
            #2 client 2 pods · all namespaces watching rv=1131 age=From1_18 lists=2 watches=3 resumes=0 relists=1 known=1/2
        "]],
    );
}

/// T4, 1.18 to 1.34: bookmarks came, no connection ended, and there was no time without a watch.
#[test]
fn expired_watch_without_an_explanation_has_an_unknown_cause() {
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
            301200ms relist-began #1 cause=expired/cache-reset
            301220ms relist #1 cause=expired/cache-reset requests=1 items=3 known=2/3
            #1 client 1 pods · all namespaces watching rv=1600 age=From1_18 lists=2 watches=3 resumes=0 relists=1 known=2/5
        "]],
    );
}

/// T4, 1.16 and 1.17.1 to 1.17.x, with the reason that servers of 1.16 give.
#[test]
fn expired_watch_of_a_1_16_client_without_bookmarks() {
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

/// T4, 1.17.0: after a second, a list with a limit and without a revision.
#[test]
fn expired_watch_of_1_17_0_leads_to_a_limited_list() {
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
            301049ms relist-began #1 cause=expired/window-passed
            301070ms relist #1 cause=expired/window-passed requests=1 items=2 known=1/2
            #1 client 1 pods · all namespaces watching rv=2000 lists=2 watches=3 resumes=0 relists=1 known=1/4
        "]],
    );
}

/// T4 after T8, 1.18 to 1.34: the server returns with an empty cache.
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
            128500ms relist-began #1 cause=expired/cache-reset
            128520ms relist #1 cause=expired/cache-reset requests=1 items=2 known=1/2
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

/// The watch with the expired revision began after the server had stopped refusing connections.
#[test]
fn expired_watch_after_a_restart_cites_the_refusal_as_evidence() {
    let script = "0s a connects client=controller/v1.30.0
        0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
        0s a1 whole rv=1000 x@500
        1s a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
        1s a3 opens
        120s refusing
        120s a closed by server
        126s listening
        127s b connects client=controller/v1.30.0
        127s b1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=333&watch=true
        127s b1 opens
        127s b1 ERROR 410 Expired
        127s b1 ends
        128s b3 GET /api/v1/pods?resourceVersion=1000
        129s b3 whole rv=1130 x@500";
    let events = play(script, Limits::default()).1;
    let began = events.iter().find_map(|event| if let Event::RelistBegan { began } = event { Some(began) } else { None }).unwrap();
    assert!(began.server_refused && began.cause.to_string() == "expired/cache-reset", "{began:?}");
    let list = events.iter().find_map(|event| if let Event::Relist { list } = event { Some(list) } else { None }).unwrap();
    let evidence: Vec<Value> = list.evidence.iter().map(|moment| serde_json::to_value(moment).unwrap()["moment"].clone()).collect();
    let expected = [
        "list-came",
        "watch-asked",
        "watch-opened",
        "watch-ended",
        "server-refused",
        "watch-asked",
        "watch-opened",
        "failed",
        "watch-ended",
    ];
    assert_eq!(evidence, expected);
}
