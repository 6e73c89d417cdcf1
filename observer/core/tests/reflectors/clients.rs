//! The attribution of requests to clients and reflectors: several informers, several connections, pollers (§6.4, §6.5, §6.7 of
//! docs/semantics.md).

use expect_test::expect;

use observer_core::observer::Limits;

use crate::script::{check, play};

/// Two informers of one client: the second begins while the first watches; then the first relists.
#[test]
fn two_informers_of_one_client_are_two_reflectors() {
    check(
        "0s server v1.30.4
         0s a connects client=manager/v1.2.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         5s a5 GET /api/v1/pods?limit=500&resourceVersion=0
         5020ms a5 whole rv=1010 x@500 y@600
         5030ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1010&timeoutSeconds=400&watch=true
         5035ms a7 opens
         60s a3 BOOKMARK @1100
         65s a7 BOOKMARK @1105
         120s a3 ERROR 500 InternalError
         120001ms a3 ends
         121200ms a9 GET /api/v1/pods?resourceVersion=1100
         121220ms a9 whole rv=1130 x@500 y@600
         121230ms a11 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=333&watch=true
         121235ms a11 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            5020ms initial-list #2 requests=1 items=2 known=0/2
            121200ms relist-began #1 cause=watch-error/500
            121220ms relist #1 cause=watch-error/500 requests=1 items=2 known=2/2
            #1 client 1 pods · all namespaces watching rv=1130 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=2/4
            #2 client 1 pods · all namespaces watching rv=1105 lists=1 watches=1 resumes=0 relists=0 known=0/2
        "]],
    );
}

/// Two informers of one client: both lists are under way before any watch; then the second resumes.
#[test]
fn two_informers_of_one_client_that_begin_together_are_two_reflectors() {
    check(
        "0s server v1.30.4
         0s a connects client=manager/v1.2.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         1ms a3 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         22ms a3 whole rv=1002 x@500 y@600
         30ms a5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         32ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1002&timeoutSeconds=301&watch=true
         35ms a5 opens
         37ms a7 opens
         60s a5 BOOKMARK @1100
         61s a7 BOOKMARK @1101
         301037ms a7 ends
         301040ms a9 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1101&timeoutSeconds=333&watch=true
         301045ms a9 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            22ms initial-list #2 requests=1 items=2 known=0/2
            301045ms resume #2 rv=1101: the watch before ended after its requested timeout
            #1 client 1 pods · all namespaces watching rv=1100 lists=1 watches=1 resumes=0 relists=0 known=0/2
            #2 client 1 pods · all namespaces watching rv=1101 lists=1 watches=2 resumes=1 relists=0 known=0/2
        "]],
    );
}

/// Several informers share a connection, which is cut. Each informer resumes or relists by itself.
#[test]
fn informers_on_one_connection_are_distinguished_by_request_shape() {
    check(
        "0s server v1.30.4
         0s a connects client=manager/v1.2.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         1ms a3 GET /api/v1/services?limit=500&resourceVersion=0
         2ms a5 GET /api/v1/namespaces/default/pods?labelSelector=app%3Dx&limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500 y@600
         21ms a3 whole rv=1001 s@400
         22ms a5 whole rv=1002 x@500
         30ms a7 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         31ms a9 GET /api/v1/services?allowWatchBookmarks=true&resourceVersion=1001&timeoutSeconds=400&watch=true
         32ms a11 GET /api/v1/namespaces/default/pods?allowWatchBookmarks=true&labelSelector=app%3Dx&resourceVersion=1002&timeoutSeconds=333&watch=true
         40ms a7 opens
         41ms a9 opens
         42ms a11 opens
         60s a7 BOOKMARK @1100
         60s a9 BOOKMARK @1101
         60s a11 BOOKMARK @1102
         90s a closed by server
         90010ms b connects client=manager/v1.2.0 pid=7
         90020ms b1 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=500&watch=true
         90021ms b3 GET /api/v1/namespaces/default/pods?allowWatchBookmarks=true&labelSelector=app%3Dx&resourceVersion=1102&timeoutSeconds=333&watch=true
         90030ms b1 opens
         90031ms b3 opens
         91200ms b5 GET /api/v1/services?resourceVersion=1101
         91220ms b5 whole rv=1130 s@400
         91230ms b7 GET /api/v1/services?allowWatchBookmarks=true&resourceVersion=1130&timeoutSeconds=400&watch=true
         91235ms b7 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=2 known=0/2
            21ms initial-list #2 requests=1 items=1 known=0/1
            22ms initial-list #3 requests=1 items=1 known=0/1
            90030ms resume #1 rv=1100: the watch before ended with its connection
            90031ms resume #3 rv=1102: the watch before ended with its connection
            91200ms relist-began #2 cause=connection-lost
            91220ms relist #2 cause=connection-lost requests=1 items=1 known=1/1
            #1 client 1 pods · all namespaces watching rv=1100 lists=1 watches=2 resumes=1 relists=0 known=0/2
            #2 client 1 services · all namespaces watching rv=1130 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=1/2
            #3 client 1 pods · default/ · labels app=x watching rv=1102 lists=1 watches=2 resumes=1 relists=0 known=0/1
        "]],
    );
}

/// One connection per informer: the informers of one process are one client, that of another process is another client.
#[test]
fn informers_with_separate_connections_belong_to_one_client() {
    check(
        "0s server v1.30.4
         0s a connects client=manager/v1.2.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         1s b connects client=manager/v1.2.0 pid=7
         1s b1 GET /api/v1/services?limit=500&resourceVersion=0
         1020ms b1 whole rv=1001 s@400
         1030ms b3 GET /api/v1/services?allowWatchBookmarks=true&resourceVersion=1001&timeoutSeconds=400&watch=true
         1035ms b3 opens
         2s c connects client=agent/v0.9.0 pid=8
         2s c1 GET /api/v1/services?limit=500&resourceVersion=0
         2020ms c1 whole rv=1002 s@400
         2030ms c3 GET /api/v1/services?allowWatchBookmarks=true&resourceVersion=1002&timeoutSeconds=333&watch=true
         2035ms c3 opens
         60s b3 BOOKMARK @1100
         90s b closed by server
         90010ms d connects client=manager/v1.2.0 pid=7
         90020ms d1 GET /api/v1/services?allowWatchBookmarks=true&resourceVersion=1100&timeoutSeconds=400&watch=true
         90025ms d1 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=1 known=0/1
            1020ms initial-list #2 requests=1 items=1 known=0/1
            2020ms initial-list #3 requests=1 items=1 known=0/1
            90025ms resume #2 rv=1100: the watch before ended with its connection
            #1 client 1 pods · all namespaces watching rv=1000 lists=1 watches=1 resumes=0 relists=0 known=0/1
            #2 client 1 services · all namespaces watching rv=1100 lists=1 watches=2 resumes=1 relists=0 known=0/1
            #3 client 2 services · all namespaces watching rv=1002 lists=1 watches=1 resumes=0 relists=0 known=0/1
        "]],
    );
}

/// Two clients with the same user agent and without a known process: one client with two reflectors, since both watch at once.
#[test]
fn clients_with_one_user_agent_are_one_client() {
    check(
        "0s server v1.30.4
         0s a connects client=manager/v1.2.0
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500
         30ms a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
         35ms a3 opens
         3s b connects client=manager/v1.2.0
         3s b1 GET /api/v1/pods?limit=500&resourceVersion=0
         3020ms b1 whole rv=1001 x@500
         3030ms b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1001&timeoutSeconds=400&watch=true
         3035ms b3 opens
         60s a3 BOOKMARK @1100
         61s b3 BOOKMARK @1101
         400s b3 BOOKMARK @1700
         403035ms b3 ends
         403040ms b5 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1700&timeoutSeconds=333&watch=true
         403045ms b5 opens",
        &expect![[r"
            20ms initial-list #1 requests=1 items=1 known=0/1
            3020ms initial-list #2 requests=1 items=1 known=0/1
            403045ms resume #2 rv=1700: the watch before ended after its requested timeout
            #1 client 1 pods · all namespaces watching rv=1100 lists=1 watches=1 resumes=0 relists=0 known=0/1
            #2 client 1 pods · all namespaces watching rv=1700 lists=1 watches=2 resumes=1 relists=0 known=0/1
        "]],
    );
}

/// §6.7, kubectl get in a loop.
#[test]
fn client_that_only_lists_is_a_poller() {
    check(
        "0s server v1.34.4
         0s a connects client=kubectl/v1.34.0 pid=7
         0s a1 GET /api/v1/pods?limit=500
         20ms a1 whole rv=1000 x@500 y@600
         10s a3 GET /api/v1/pods?limit=500
         10020ms a3 whole rv=1010 x@500 y@600
         20s a5 GET /api/v1/pods?limit=500
         20020ms a5 whole rv=1020 x@500 y@1015",
        &expect![[r"
            #1 client 1 pods · all namespaces listed rv=1020 lists=3 watches=0 resumes=0 relists=0 known=3/6
        "]],
    );
}

/// §6.7, kubectl get -w: a list without a revision, then a watch without `timeoutSeconds` or bookmarks, until the client leaves.
#[test]
fn kubectl_get_watch_is_an_initial_list() {
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

/// A client that has an informer, and also makes the same list every ten seconds.
#[test]
fn lists_beside_a_watching_informer_are_not_its_relists() {
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

/// §6.4, GOAWAY alone: the watch continues, another informer begins on a new connection, and the watch resumes there after its end.
#[test]
fn watch_continues_after_goaway() {
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
            300045ms resume #1 rv=1200: the watch before ended after its requested timeout
            #1 client 1 pods · all namespaces watching rv=1200 lists=1 watches=2 resumes=1 relists=0 known=0/2
            #2 client 1 services · all namespaces watching rv=1101 lists=1 watches=1 resumes=0 relists=0 known=0/1
        "]],
    );
}

/// An initial list is reported only when a watch follows it, so these lists have no event yet.
#[test]
fn reflector_without_a_watch_emits_no_event() {
    check(
        "0s server v1.34.4
         0s a connects client=manager/v1.2.0 pid=7
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500
         1s b connects client=agent/v0.9.0 pid=8
         1s b1 GET /api/v1/pods?limit=500&resourceVersion=0",
        &expect![[r"
            #1 client 1 pods · all namespaces listed rv=1000 lists=1 watches=0 resumes=0 relists=0 known=0/1
            #2 client 2 pods · all namespaces listing lists=1 watches=0 resumes=0 relists=0 known=0/0
        "]],
    );
}

/// A process that reconnects and is not looked up in time is identified by its user agent, unless another process has the same one.
#[test]
fn reconnect_without_a_known_process_is_matched_by_user_agent() {
    let script = |other: &str| {
        format!(
            "0s a connects client=controller/v1.30.0 pid=7
             0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
             0s a1 whole rv=1000 x@500
             {other}
             1s a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
             1s a3 opens
             60s a closed by server
             61s b connects client=controller/v1.30.0
             61s b1 GET /api/v1/pods?resourceVersion=1000
             61s b1 whole rv=1030 x@500
             62s b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1030&timeoutSeconds=500&watch=true
             62s b3 opens"
        )
    };
    check(
        &script(""),
        &expect![[r"
        0s initial-list #1 requests=1 items=1 known=0/1
        61s relist-began #1 cause=connection-lost
        61s relist #1 cause=connection-lost requests=1 items=1 known=1/1
        #1 client 1 pods · all namespaces watching rv=1030 age=From1_18 lists=2 watches=2 resumes=0 relists=1 known=1/2
    "]],
    );
    check(
        &script("0s c connects client=controller/v1.30.0 pid=8\n0s c1 GET /api/v1/secrets"),
        &expect![[r"
            0s initial-list #1 requests=1 items=1 known=0/1
            61s initial-list #3 requests=1 items=1 known=0/1
            #1 client 1 pods · all namespaces waiting rv=1000 lists=1 watches=1 resumes=0 relists=0 known=0/1
            #2 client 2 secrets · all namespaces listing lists=1 watches=0 resumes=0 relists=0 known=0/0
            #3 client 3 pods · all namespaces watching rv=1030 age=From1_18 lists=1 watches=1 resumes=0 relists=0 known=0/1
        "]],
    );
}

/// A client whose process is looked up only when it reconnects is still the same client, unless its first connection is still open.
#[test]
fn process_found_only_on_reconnect_is_matched_by_user_agent() {
    let script = |end: &str| {
        format!(
            "0s a connects client=controller/v1.30.0
             0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
             0s a1 whole rv=1000 x@500
             1s a3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
             1s a3 opens
             {end}
             61s b connects client=controller/v1.30.0 pid=7
             61s b3 GET /api/v1/pods?allowWatchBookmarks=true&resourceVersion=1000&timeoutSeconds=500&watch=true
             61s b3 opens
             63s b3 BOOKMARK @1005"
        )
    };
    check(
        &script("60s a closed by server"),
        &expect![[r"
        0s initial-list #1 requests=1 items=1 known=0/1
        61s resume #1 rv=1000: the watch before ended with its connection
        #1 client 1 pods · all namespaces watching rv=1005 lists=1 watches=2 resumes=1 relists=0 known=0/1
    "]],
    );
    check(
        &script("60s a3 BOOKMARK @1003"),
        &expect![[r"
            0s initial-list #1 requests=1 items=1 known=0/1
            #1 client 1 pods · all namespaces watching rv=1003 lists=1 watches=1 resumes=0 relists=0 known=0/1
            #2 client 2 pods · all namespaces watching rv=1005 lists=0 watches=1 resumes=0 relists=0 known=0/0
        "]],
    );
}

/// Two lists of one process, each on a connection of its own, with what the connection shows of the process.
fn on_two_connections(first: &str, second: &str) -> String {
    format!(
        "0s a connects client=manager/v1.2.0 pid=7 {first}
         0s a1 GET /api/v1/pods?limit=500&resourceVersion=0
         20ms a1 whole rv=1000 x@500
         1s b connects client=manager/v1.2.0 pid=7 {second}
         1s b1 GET /api/v1/nodes?limit=500&resourceVersion=0
         1020ms b1 whole rv=1000 n@500"
    )
}

/// One connection may show the container of a process while another does not. It is one client, with the first container seen.
#[test]
fn client_keeps_the_first_container_of_its_connections() {
    for (first, second) in [("", "pod=p"), ("pod=p", ""), ("pod=p", "pod=q")] {
        let rows = play(&on_two_connections(first, second), Limits::default()).0.reflectors;
        let clients: Vec<(u64, Option<String>)> = rows
            .into_iter()
            .map(|row| (row.client_id.0, row.process.and_then(|process| process.container).map(|one| one.pod_uid)))
            .collect();
        assert_eq!(clients, [(1, Some("p".to_owned())), (1, Some("p".to_owned()))], "{first} {second}");
    }
}

/// The log folder of a pod may be found after its first connection.
#[test]
fn later_connection_shows_the_names_of_a_container() {
    let named = "pod=p,default/web-0,app";
    for (first, second, expected) in
        [("pod=p", named, "default/web-0 app"), (named, "pod=p", "default/web-0 app"), ("", named, "default/web-0 app")]
    {
        let rows = play(&on_two_connections(first, second), Limits::default()).0.reflectors;
        let container = rows[0].process.as_ref().and_then(|process| process.container.as_ref()).unwrap();
        let pod = container.pod.as_ref().unwrap();
        assert_eq!(format!("{}/{} {}", pod.namespace, pod.name, container.name.as_ref().unwrap()), expected, "{first} {second}");
    }
}
