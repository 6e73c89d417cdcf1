//! Details that Enter opens.

use expect_test::expect;

use super::screen::{large, page, press, small};
use super::stories::{slow, storm, trouble};

#[test]
fn stuck_reflector_shows_its_finding_and_time_line() {
    let mut page = page(&trouble());
    press(&mut page, "<enter>");
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) …  1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 mo…
        [1 Reflectors(5)] 2 Requests(11)  3 Storms(0)  4 Clients(4)  5 Findings(3)
        reflector #3 · elastic-operator/1.18.2 secrets kube-system/
          client          elastic-operator/1.18.2 (apps/manager), client 3
          process         unknown: it runs on another machine or in another PID
                          namespace, belongs to another user, is watchtap itself, or
                          exited before the lookup
          requests        secrets · kube-system/: full objects
          client-go       1.18 or later, inferred from its requests: it relisted at its
                          own resource version without a limit (other libraries may do
                          the same)
          state           stuck for 3 m 17 s
          revision        1100
          finding         stuck-reflector
          advice          Restart the client, which helps at once. Then update client-go
                          to 1.18.6 or later, which lists without a resource version
                          after this error.

        TIMELINE  L list  R last relist  w watch  b bookmarks  · events
                  x end or refusal  z client does not read  ? not observed
        j k scroll · esc back · ? help · q quit · p pause · y copy · w note
    "]]
    .assert_eq(&small(&page));
}

#[test]
fn relisting_reflector_shows_its_causes_and_advice() {
    let mut page = page(&trouble());
    press(&mut page, "j<enter>");
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) · feature gates: defaults assumed                                                                                          1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms · 2 open watches · req 0.2/s · events 0/s · 27 requests · 17 MB
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 more · 1 object · 14 kB
        [1 Reflectors(5)] 2 Requests(11)  3 Storms(0)  4 Clients(4)  5 Findings(3)
        reflector #1 · my-controller/0.34 pods all namespaces
          client          my-controller/0.34 (apps/manager), client 1
          process         manager 4711
          requests        pods · all namespaces: full objects
          client-go       1.18 or later, inferred from its requests: it relisted at its own resource version without a limit (other libraries may do the same)
          state           watching for 2 m 29 s
          revision        61201, 0 behind the newest observed of its resource, 0 behind the newest observed in its etcd
          last event      1 m 31 s ago, 0/s recently
          relisted        410 Gone, the resource version of the watch had expired: no bookmark had advanced it, and the client had not requested any
          finding         no-bookmarks
          advice          Set allowWatchBookmarks=true (client-go's reflectors do), so that the resource version advances while the resource does not change; this needs API server 1.16 or later.
          finding         wide-informer
          advice          Restrict the informer to the namespaces or labels that the client needs, or keep metadata only (PartialObjectMetadata).

        TIMELINE  L list  R last relist  w watch  b bookmarks  · events  x end or refusal  z client does not read  ? not observed
          12:00:00.000  L  requests a list, RV=0, limit=500
          12:00:00.090  L  received 3 objects, RV=1000
          12:00:00.100  w  requests a watch, RV=1000
          12:00:00.104  w  the watch is open
          12:00:07.000  ·  2 events within 1.0 s, the newest at RV=1011
          12:03:20.000  x  410 Expired
          12:03:20.000  x  the watch ended with an ERROR event, code 410
          12:03:21.000  R  requests a list, RV=1011
          12:03:21.090  L  received 3 objects, RV=61100
          12:03:21.100  w  requests a watch, RV=61100
          12:03:21.104  w  the watch is open
          12:04:20.000  ·  1 event, the newest at RV=61201

        LAST RELIST   12:03:21.000   expired/bookmarks-not-requested
          why             410 Gone, the resource version of the watch had expired: no bookmark had advanced it, and the client had not requested any
          received        3 objects · 7.2 MB · 1 request in 90 ms
          served from     ~ cache   rule list-rv
          unchanged       2 of 3 objects
          evidence        observed before this relist:
          12:00:07.000  ·  2 events within 1.0 s, the newest at RV=1011
          12:03:20.000  x  410 Expired
          12:03:20.000  x  the watch ended with an ERROR event, code 410

        COST AND WASTE
          lists           2 requests · 6 objects · 7.2 MB in the last complete list · 1 relist
          watches         2 requests · 3 events · 0 bookmarks · 0 resumes
          answers         14 MB
          unchanged       2 of 9 objects received: the client already had this version
          objects         3 in the client's store now
        j k scroll · esc back · ? help · q quit · p pause · y copy · w note
    "]].assert_eq(&large(&page));
    press(&mut page, "<end>");
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) …  1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 mo…
        [1 Reflectors(5)] 2 Requests(11)  3 Storms(0)  4 Clients(4)  5 Findings(3)
          lists           2 requests · 6 objects · 7.2 MB in the last complete list · 1
                          relist
          watches         2 requests · 3 events · 0 bookmarks · 0 resumes
          answers         14 MB
          unchanged       2 of 9 objects received: the client already had this version
          objects         3 in the client's store now
          relists         1 × 410 Gone: bookmarks off (expired/bookmarks-not-requested)

        FINDINGS
          no-bookmarks · pods · all namespaces: 1 relist after its resource version
          expired: it had not requested bookmarks
            Set allowWatchBookmarks=true (client-go's reflectors do), so that the
            resource version advances while the resource does not change; this needs API
            server 1.16 or later.
          wide-informer · pods · all namespaces: keeps 3 full objects of all namespaces;
          its last list had 7.2 MB
            Restrict the informer to the namespaces or labels that the client needs, or
            keep metadata only (PartialObjectMetadata).
        j k scroll · esc back · ? help · q quit · p pause · y copy · w note
    "]]
    .assert_eq(&small(&page));
}

#[test]
fn list_from_etcd_shows_the_reason_of_its_verdict() {
    let mut page = page(&trouble());
    press(&mut page, "2/served:etcd verb:list<enter><enter>");
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) …  1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 mo…
         1 Reflectors(5) [2 Requests(11)] 3 Storms(0)  4 Clients(4)  5 Findings(3)
        list pods · all namespaces · limit=500
          served from     ~ etcd   rule list-unset-etcd
          why             no resourceVersion: a quorum read from etcd, before 1.31 or
                          without ConsistentListFromCache
          etcd reads      Range /registry/pods/ … /registry/pods0  limit 500 at the
                          current revision
          more            watchtap explain list-unset-etcd

        COST
          requests        1 · 2.1 MB
          objects         2
          median          211 ms to the first byte · 211 ms in total

        LATEST
                    AT  CLIENT        STATUS  OBJECTS   BYTES   TOTAL  END
          12:00:10.000  inventory/v2     200        2  2.1 MB  210 ms  complete


        j k scroll · esc back · ? help · q quit · p pause · y copy · w note
    "]]
    .assert_eq(&small(&page));
}

#[test]
fn watch_shows_its_cost_and_latest_responses() {
    let mut page = page(&trouble());
    press(&mut page, "2/verb:watch resource:pods<enter><enter>");
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) …  1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 mo…
         1 Reflectors(5) [2 Requests(11)] 3 Storms(0)  4 Clients(4)  5 Findings(3)
        watch pods · all namespaces · RV=N
          served from     ~ cache   rule watch-rv
          why             a resourceVersion: the watch cache sends the changes after it
                          from its event window; below the window, an ERROR event 410
          more            watchtap explain watch-rv

        COST
          requests        2 · 1 failed · 4.0 kB
          events          3 · 0 bookmarks
          open            1 now · 5 m 49 s in total
          last end        410 Expired

        LATEST
                    AT  CLIENT              STATUS  OBJECTS   BYTES     TOTAL
          12:03:21.100  my-controller/0.34     200        1  4.0 kB   ongoing
          12:00:00.100  my-controller/0.34     200        2     0 B  3 m 19 s


        j k scroll · esc back · ? help · q quit · p pause · y copy · w note
    "]]
    .assert_eq(&small(&page));
}

#[test]
fn storm_shows_its_members_ranked_by_cost() {
    let mut page = page(&storm());
    press(&mut page, "3<enter>");
    expect![[r"
        watchtap  kind-dev …                ▲ relist storm: 12 reflectors within 1.1 s …
        from etcd: 0 of 24 lists · 12 relists · 1 storm · 12 open watches · req 1.5/s …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 0 of 12 watching reflectors would relist, perhaps 12 …
         1 Reflectors(12)  2 Requests(12) [3 Storms(1)] 4 Clients(3)  5 Findings(1)
        storm 1 · mass-expiry
          state           ongoing; its members joined within 1.1 s
          times           began 12:01:40.000 · reported at 12:01:40.900 · last reflector
                          joined 12:01:41.100
          size            12 reflectors of 3 clients · 12 relists · peak 7 a second
          cost            24 objects (12 unchanged) · 60 kB
          served from     cache: 12
          cause           12 × 410 Gone: no bookmarks sent (expired/no-bookmarks)

        MEMBERS   most bytes first; columns after RELISTS count complete relists only
          CLIENT      RESOURCE            RELISTS  OBJECTS  UNCHANGED   BYTES
          fleet-c/v1  kind3s.example.com        1        2          1   12 kB
          fleet-c/v1  kind2s.example.com        1        2          1  9.0 kB
          fleet-b/v1  kind3s.example.com        1        2          1  8.0 kB
          fleet-b/v1  kind2s.example.com        1        2          1  6.0 kB
          fleet-c/v1  kind1s.example.com        1        2          1  6.0 kB
          fleet-a/v1  kind3s.example.com        1        2          1  4.0 kB
          fleet-b/v1  kind1s.example.com        1        2          1  4.0 kB
        j k scroll · esc back · ? help · q quit · p pause · y copy · w note
    "]]
    .assert_eq(&small(&page));
}

#[test]
fn stalled_client_shows_its_stall_and_own_writes() {
    let mut page = page(&slow());
    press(&mut page, "<enter>");
    expect![[r"
        watchtap  kind-dev …                                 1 stalled · 1 finding · UTC
        from etcd: 0 of 1 list · 0 relists · 0 storms · 1 open watch · req <0.1/s …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 0 of 1 watching reflectors would relist, perhaps 1 mo…
        [1 Reflectors(1)] 2 Requests(3)  3 Storms(0)  4 Clients(1)  5 Findings(1)
        reflector #1 · slow-reader/0.1 pods all namespaces
          client          slow-reader/0.1 (apps/manager), client 1
          process         unknown: it runs on another machine or in another PID
                          namespace, belongs to another user, is watchtap itself, or
                          exited before the lookup
          requests        pods · all namespaces: full objects
          client-go       release unknown: not enough requests yet to infer it
          state           stalled for 20 s
          revision        11, 0 behind the newest observed of its resource, 0 behind the
                          newest observed in its etcd
          last event      24 s ago, <0.1/s recently
          does not read   the API server waits for the flow-control window of the stream
          finding         slow-reader
          advice          Read the watch in a loop that does nothing else, as
                          client-go's reflectors do, and queue the work; if the entire
                          process pauses, look for CPU limits and garbage collection.

        TIMELINE  L list  R last relist  w watch  b bookmarks  · events
        j k scroll · esc back · ? help · q quit · p pause · y copy · w note
    "]]
    .assert_eq(&small(&page));
    press(&mut page, "<esc>4<enter>");
    expect![[r"
        watchtap  kind-dev …                                 1 stalled · 1 finding · UTC
        from etcd: 0 of 1 list · 0 relists · 0 storms · 1 open watch · req <0.1/s …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 0 of 1 watching reflectors would relist, perhaps 1 mo…
         1 Reflectors(1)  2 Requests(3)  3 Storms(0) [4 Clients(1)] 5 Findings(1)
        client 1 · slow-reader/0.1
          identity        apps/manager
          process         unknown: it runs on another machine or in another PID
                          namespace, belongs to another user, is watchtap itself, or
                          exited before the lookup
          requests        3 (c shows them in tab 2): 1 list (0 from etcd), 1 watch, 0
                          failed; 0 µs in total without watches, logs and sessions

        REFLECTORS   worst first; to open one, select it in tab 1
          CLIENT           RESOURCE  STATE    IN STATE  EVENTS/S  RELISTS  LAST CAUSE
          slow-reader/0.1  pods      stalled      20 s      <0.1        0  -

        KEEPS   objects of its informers, and the bytes of their last lists
          RESOURCE  SCOPE           FORM          OBJECTS  GROWTH  LIST BYTES
          pods      all namespaces  full objects        1       -         0 B

        OWN WRITES   time until its own watches delivered them
          RESOURCE  N  BEFORE ANSWER  MEDIAN AFTER  P99 AFTER  LONGEST
        j k scroll · esc back · ? help · q quit · p pause · y copy · w note
    "]]
    .assert_eq(&small(&page));
}

#[test]
fn client_shows_its_reflectors() {
    let mut page = page(&trouble());
    press(&mut page, "4j<enter>");
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) …  1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 mo…
         1 Reflectors(5)  2 Requests(11)  3 Storms(0) [4 Clients(4)] 5 Findings(3)
        client 1 · my-controller/0.34
          identity        apps/manager
          process         manager 4711
          requests        4 (c shows them in tab 2): 2 lists (0 from etcd), 2 watches, 1
                          failed; 180 ms in total without watches, logs and sessions

        REFLECTORS   worst first; to open one, select it in tab 1
          CLIENT              RESOURCE  STATE     RELISTS  LAST CAUSE
          my-controller/0.34  pods      watching        1  410 Gone: bookmarks off

        KEEPS   objects of its informers, and the bytes of their last lists
          RESOURCE  SCOPE           FORM          OBJECTS  GROWTH  LIST BYTES
          pods      all namespaces  full objects        3       -      7.2 MB

        FINDINGS
          no-bookmarks · pods · all namespaces: 1 relist after its resource version
          expired: it had not requested bookmarks
            Set allowWatchBookmarks=true (client-go's reflectors do), so that the
        j k scroll · esc back · ? help · q quit · p pause · y copy · w note
    "]]
    .assert_eq(&small(&page));
}

#[test]
fn client_and_its_reflector_show_container_and_pod() {
    let facts = ["pod ", "workload ", "container ", "container ID ", "pod UID "];
    let shown = |lines: &str| -> Vec<String> {
        let is_fact = |line: &&str| facts.iter().any(|fact| line.starts_with(fact));
        lines.lines().map(str::trim).filter(is_fact).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    let uid = "5f1b2c3d-0a1b-4c5d-8e9f-001122334455";
    let id = format!("container ID {}", "0123456789abcdef".repeat(4));
    let uid_fact = format!("pod UID {uid}");
    let named = [
        "pod default/web-5d4c6b9f7d-x2k9p",
        "workload Deployment web, derived from the name of the pod",
        "container app",
        &id,
        &uid_fact,
    ];
    for (pod, expected) in
        [(uid.to_owned(), &[id.as_str(), &uid_fact][..]), (format!("{uid},default/web-5d4c6b9f7d-x2k9p,app"), &named)]
    {
        let mut page = page(&trouble().replace("pid=4711", &format!("pid=4711 pod={pod}")));
        for keys in ["j<enter>", "<esc>4j<enter>"] {
            press(&mut page, keys);
            assert_eq!(shown(&large(&page)), expected, "{keys}");
        }
    }
}

#[test]
fn process_of_the_host_shows_its_unit() {
    let mut page = page(&trouble().replace("pid=4711", "pid=4711 unit=kubelet.service"));
    press(&mut page, "j<enter>");
    assert!(large(&page).contains("process         manager 4711 in kubelet.service"));
}

#[test]
fn tables_name_clients_by_their_pods() {
    let pod = "pod=5f1b2c3d-0a1b-4c5d-8e9f-001122334455,default/web-0,app";
    let mut page = page(&trouble().replace("pid=4711", &format!("pid=4711 {pod}")));
    for tab in ["1", "4"] {
        press(&mut page, tab);
        assert!(large(&page).contains("default/web-0 my-controller/0.34 "), "{tab}");
        press(&mut page, "/client:default/web<enter>");
        assert!(!large(&page).contains("kube-rs/2.0"), "{tab}");
        press(&mut page, "<esc>");
    }
}

#[test]
fn finding_shows_its_advice() {
    let mut page = page(&trouble());
    press(&mut page, "5<enter>");
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) …  1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 mo…
         1 Reflectors(5)  2 Requests(11)  3 Storms(0)  4 Clients(4) [5 Findings(3)]
        finding stuck-reflector
          client          elastic-operator/1.18.2
          requests        secrets · kube-system/
          reflectors      #3

        EVIDENCE
          requests revision 1100 repeatedly; the server has not reached it

        ADVICE
          Restart the client, which helps at once. Then update client-go to 1.18.6 or
          later, which lists without a resource version after this error.

        ID
          stuck-reflector:elastic-operator/1.18.2:secrets/kube-system/
          the same in every run; --mute accepts it
        (3 empty lines)
        j k scroll · esc back · ? help · q quit · p pause · y copy · w note
    "]]
    .assert_eq(&small(&page));
}

#[test]
fn dropped_entry_is_reported_as_over() {
    let mut page = page(&trouble());
    press(&mut page, "<enter>");
    page.show(super::script::play(super::stories::SILENCE));
    expect![[r"
        watchtap  kind-dev · API server v1.34.4 (/version) …                         UTC
        from etcd: 0 of 0 lists · 0 relists · 0 storms · 0 open watches · req 0/s …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: no relist, as no reflector is synced and watching
        [1 Reflectors(0)] 2 Requests(0)  3 Storms(0)  4 Clients(0)  5 Findings(0)
          This is over, or was dropped to make room. esc goes back.
        (17 empty lines)
        j k scroll · esc back · ? help · q quit · p pause · y copy · w note
    "]]
    .assert_eq(&small(&page));
}
