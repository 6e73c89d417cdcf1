//! The five tables.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use observer_core::observer::Snapshot;
use observer_core::storm::{StormId, StormRecord};
use observer_core::time::Timestamp;

use super::screen::{large, page, press, small};
use super::script::play;
use super::stories::{storm, trouble};
use crate::view::colour::Colour;
use crate::view::page::Page;

#[test]
fn reflectors_are_sorted_worst_first() {
    let page = page(&trouble());
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) …  1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 mo…
        1. restart elastic-operator, and update client-go there to 1.18.6 or later:
           stuck for 3 m 17 s at a revision that the API server has not reached
           (secrets)
        2. restrict the informers of my-controller to the namespaces or labels that it
           needs, or to metadata: 3 objects of pods kept in full
        3. in my-controller, set allowWatchBookmarks=true: 1 needless relist of pods
        [1 Reflectors(5)] 2 Requests(11)  3 Storms(0)  4 Clients(4)  5 Findings(3)
          CLIENT                   RESOURCE        STATE     RELISTS  LAST CAUSE
        ▸ elastic-operator/1.18.2  secrets         stuck           1  relisting: ERROR …
          my-controller/0.34       pods            watching        1  410 Gone: bookmar…
          inventory/v2             pods            listed          0  -
          inventory/v2             deployments.a…  listed          0  -
          kube-rs/2.0              configmaps      watching        0  -


          evidence  requests revision 1100 repeatedly; the server has not reached it
          advice    Restart the client, which helps at once. Then update client-go to
                    1.18.6 or later, which lists without a resource version after this
                    error.
        enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note …
    "]]
    .assert_eq(&small(&page));
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) · feature gates: defaults assumed                                                                                          1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms · 2 open watches · req 0.2/s · events 0/s · 27 requests · 17 MB
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 more · 1 object · 14 kB
        1. restart elastic-operator, and update client-go there to 1.18.6 or later: stuck for 3 m 17 s at a revision that the API server has not reached (secrets)
        2. restrict the informers of my-controller to the namespaces or labels that it needs, or to metadata: 3 objects of pods kept in full
        3. in my-controller, set allowWatchBookmarks=true: 1 needless relist of pods
        [1 Reflectors(5)] 2 Requests(11)  3 Storms(0)  4 Clients(4)  5 Findings(3)
          CLIENT                   RESOURCE          SCOPE                        STATE     IN STATE  EVENTS/S  BEHIND  EVENTS  RESUMES  RELISTS  LAST CAUSE                  UNCHANGED   BYTES
        ▸ elastic-operator/1.18.2  secrets           kube-system/                 stuck     3 m 17 s         0       ?       0        0        1  relisting: ERROR event 500          0   90 kB
          my-controller/0.34       pods              all namespaces               watching  2 m 29 s         0       0       3        0        1  410 Gone: bookmarks off             2   14 MB
          inventory/v2             pods              all namespaces               listed    5 m 40 s         0  60,190       0        0        0  -                                   0  2.1 MB
          inventory/v2             deployments.apps  all namespaces               listed        <1 s         0       0       0        0        0  -                                   0   31 kB
          kube-rs/2.0              configmaps        default/ · labels app=nginx  watching  5 m 50 s         0       0       0        0        0  -                                   0   14 kB
        (15 empty lines)
        ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
        reflector #3 · elastic-operator/1.18.2 secrets kube-system/
          client          elastic-operator/1.18.2 (apps/manager), client 3
          process         unknown: it runs on another machine or in another PID namespace, belongs to another user, is watchtap itself, or exited before the lookup
          requests        secrets · kube-system/: full objects
          client-go       1.18 or later, inferred from its requests: it relisted at its own resource version without a limit (other libraries may do the same)
          state           stuck for 3 m 17 s
          revision        1100
          finding         stuck-reflector
          advice          Restart the client, which helps at once. Then update client-go to 1.18.6 or later, which lists without a resource version after this error.

        TIMELINE  L list  R last relist  w watch  b bookmarks  · events  x end or refusal  z client does not read  ? not observed
          7 earlier entries not kept
          12:02:31.000  L  requests a list, RV=1100
          12:02:34.000  x  504 Timeout
          12:02:35.000  L  requests a list, RV=1100
          12:02:38.000  x  504 Timeout
          12:02:39.000  L  requests a list, RV=1100
          12:02:42.000  x  504 Timeout
          12:02:43.000  L  requests a list, RV=1100
        enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note · i about
    "]].assert_eq(&large(&page));
}

#[test]
fn requests_are_grouped_by_shape() {
    let mut page = page(&trouble());
    press(&mut page, "2");
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) …  1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 mo…
        1. restart elastic-operator, and update client-go there to 1.18.6 or later:
           stuck for 3 m 17 s at a revision that the API server has not reached
           (secrets)
        2. restrict the informers of my-controller to the namespaces or labels that it
           needs, or to metadata: 3 objects of pods kept in full
        3. in my-controller, set allowWatchBookmarks=true: 1 needless relist of pods
         1 Reflectors(5) [2 Requests(11)] 3 Storms(0)  4 Clients(4)  5 Findings(3)
          VERB   REQUEST                                        N    SERVED FROM   BYTES
        ▸ list   pods · all namespaces · RV=N                   1  ~ cache        7.2 MB
          list   pods · all namespaces · RV=0 · limit=500       1  ~ cache        7.1 MB
          list   pods · all namespaces · limit=500              1  ~ etcd         2.1 MB
          list   secrets · kube-system/ · RV=0 · limit=500      1  ~ cache         90 kB
          list   deployments.apps · all namespaces · RV=0       1  ~ cache         31 kB
          list   configmaps · default/ · RV=0 · limit=500 · …   1  ~ cache         14 kB
          list   secrets · kube-system/ · RV=N                 16  ! refused         0 B


          why       a resourceVersion without limit: the watch cache answers once it has
                    reached that revision, or 504 after 3 s
        enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note …
    "]]
    .assert_eq(&small(&page));
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) · feature gates: defaults assumed                                                                                          1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms · 2 open watches · req 0.2/s · events 0/s · 27 requests · 17 MB
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 more · 1 object · 14 kB
        1. restart elastic-operator, and update client-go there to 1.18.6 or later: stuck for 3 m 17 s at a revision that the API server has not reached (secrets)
        2. restrict the informers of my-controller to the namespaces or labels that it needs, or to metadata: 3 objects of pods kept in full
        3. in my-controller, set allowWatchBookmarks=true: 1 needless relist of pods
         1 Reflectors(5) [2 Requests(11)] 3 Storms(0)  4 Clients(4)  5 Findings(3)
          VERB   REQUEST                                                       N    SERVED FROM  RULE             OBJECTS   BYTES  FIRST BYTE (MEDIAN)  TOTAL (MEDIAN)  FAILED  LAST END
        ▸ list   pods · all namespaces · RV=N                                  1  ~ cache        list-rv                3  7.2 MB                90 ms           90 ms       0  -
          list   pods · all namespaces · RV=0 · limit=500                      1  ~ cache        list-rv0               3  7.1 MB                90 ms           90 ms       0  -
          list   pods · all namespaces · limit=500                             1  ~ etcd         list-unset-etcd        2  2.1 MB               211 ms          211 ms       0  -
          list   secrets · kube-system/ · RV=0 · limit=500                     1  ~ cache        list-rv0               2   90 kB                20 ms           20 ms       0  -
          list   deployments.apps · all namespaces · RV=0                      1  ~ cache        list-rv0               1   31 kB                10 ms           10 ms       0  -
          list   configmaps · default/ · RV=0 · limit=500 · labels app=nginx   1  ~ cache        list-rv0               1   14 kB               3.0 ms          3.0 ms       0  -
          list   secrets · kube-system/ · RV=N                                16  ! refused      list-rv                0     0 B                3.0 s           3.0 s      16  -
          watch  pods · all namespaces · RV=N                                  2  ~ cache        watch-rv               3  4.0 kB                    -      Σ 5 m 49 s       1  1 open
          watch  configmaps · default/ · RV=N · labels app=nginx               1  ~ cache        watch-rv               0     0 B                    -      Σ 5 m 51 s       0  1 open
          watch  secrets · kube-system/ · RV=N                                 1  ~ cache        watch-rv               0     0 B                    -      Σ 2 m 29 s       1  500 InternalError
          get    nodes · cluster                                               1  ~ etcd         get-unset-etcd         -  9.0 kB                    -          4.0 ms       1  -
        (9 empty lines)
        ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
        list pods · all namespaces · RV=N
          served from     ~ cache   rule list-rv
          why             a resourceVersion without limit: the watch cache answers once it has reached that revision, or 504 after 3 s
          exception       refused with 504, if the watch cache lags more than 3 s
          more            watchtap explain list-rv

        COST
          requests        1 · 7.2 MB
          objects         3
          median          90 ms to the first byte · 90 ms in total

        LATEST
                    AT  CLIENT              STATUS  OBJECTS   BYTES  TOTAL  END
          12:03:21.000  my-controller/0.34     200        3  7.2 MB  90 ms  complete
        (5 empty lines)
        enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note · i about
    "]].assert_eq(&large(&page));
}

#[test]
fn ongoing_storms_are_listed() {
    let mut page = page(&storm());
    press(&mut page, "3");
    expect![[r"
        watchtap  kind-dev …                ▲ relist storm: 12 reflectors within 1.1 s …
        from etcd: 0 of 24 lists · 12 relists · 1 storm · 12 open watches · req 1.5/s …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 0 of 12 watching reflectors would relist, perhaps 12 …
        1. request bookmarks: 12 relists by fleet-a, fleet-b and fleet-c at the same
           time
         1 Reflectors(12)  2 Requests(12) [3 Storms(1)] 4 Clients(3)  5 Findings(1)
          STORM  STATE           BEGAN  TRIGGER      REFLECTORS  RELISTS  BYTES
        ▸     1  ongoing  12:01:40.000  mass-expiry          12       12  60 kB
        (10 empty lines)
          why       12 × 410 Gone: no bookmarks sent
          cost      12 reflectors of 3 clients · 24 objects, 12 of them unchanged ·
                    60 kB
          layers    cache: 12
        enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note …
    "]]
    .assert_eq(&small(&page));
    expect![[r"
        watchtap  kind-dev · API server v1.34.4 (/version) · feature gates: defaults assumed                                                        ▲ relist storm: 12 reflectors within 1.1 s · 1 finding · UTC
        from etcd: 0 of 24 lists · 12 relists · 1 storm · 12 open watches · req 1.5/s · events 0/s · 48 requests · 60 kB
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 0 of 12 watching reflectors would relist, perhaps 12 more
        1. request bookmarks: 12 relists by fleet-a, fleet-b and fleet-c at the same time
         1 Reflectors(12)  2 Requests(12) [3 Storms(1)] 4 Clients(3)  5 Findings(1)
          STORM  STATE           BEGAN  JOINED WITHIN  TRIGGER      REFLECTORS  CLIENTS  RELISTS  PEAK  OBJECTS  UNCHANGED  BYTES  SERVED FROM
        ▸     1  ongoing  12:01:40.000          1.1 s  mass-expiry          12        3       12   7/s       24         12  60 kB  cache: 12
        (20 empty lines)
        ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
        storm 1 · mass-expiry
          state           ongoing; its members joined within 1.1 s
          times           began 12:01:40.000 · reported at 12:01:40.900 · last reflector joined 12:01:41.100
          size            12 reflectors of 3 clients · 12 relists · peak 7 a second
          cost            24 objects (12 unchanged) · 60 kB
          served from     cache: 12
          cause           12 × 410 Gone: no bookmarks sent (expired/no-bookmarks)

        MEMBERS   most bytes first; columns after RELISTS count complete relists only
          CLIENT      RESOURCE            SCOPE           RELISTS  REQUESTS  OBJECTS  UNCHANGED   BYTES
          fleet-c/v1  kind3s.example.com  all namespaces        1         1        2          1   12 kB
          fleet-c/v1  kind2s.example.com  all namespaces        1         1        2          1  9.0 kB
          fleet-b/v1  kind3s.example.com  all namespaces        1         1        2          1  8.0 kB
          fleet-b/v1  kind2s.example.com  all namespaces        1         1        2          1  6.0 kB
          fleet-c/v1  kind1s.example.com  all namespaces        1         1        2          1  6.0 kB
          fleet-a/v1  kind3s.example.com  all namespaces        1         1        2          1  4.0 kB
          fleet-b/v1  kind1s.example.com  all namespaces        1         1        2          1  4.0 kB
          fleet-a/v1  kind2s.example.com  all namespaces        1         1        2          1  3.0 kB
          fleet-c/v1  kind0s.example.com  all namespaces        1         1        2          1  3.0 kB
          fleet-a/v1  kind1s.example.com  all namespaces        1         1        2          1  2.0 kB
        enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note · i about
    "]].assert_eq(&large(&page));
}

#[test]
fn newest_storm_is_first() {
    let mut snapshot = Snapshot::clone(&play(&storm()));
    let ongoing = snapshot.storms[0].clone();
    let later = |seconds: u64| ongoing.began.plus(Duration::from_secs(seconds));
    let over =
        |number: u64, began: Timestamp| StormRecord { storm: StormId(number), began, ended: Some(later(90)), ..ongoing.clone() };
    snapshot.storms = vec![ongoing.clone(), over(3, later(60)), over(2, later(30))];
    let mut page = Page::new(Arc::new(snapshot), "kind-dev", Vec::new(), Colour::Off);
    press(&mut page, "3");
    let screen = small(&page);
    let storms = screen.lines().filter(|line| line.contains("mass-expiry  "));
    let numbers: Vec<&str> = storms.filter_map(|line| line.trim_start_matches('▸').split_whitespace().next()).collect();
    assert_eq!(numbers, ["3", "2", "1"], "{screen}");
}

#[test]
fn clients_show_the_totals_of_their_reflectors() {
    let mut page = page(&trouble());
    press(&mut page, "4");
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) …  1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 mo…
        1. restart elastic-operator, and update client-go there to 1.18.6 or later:
           stuck for 3 m 17 s at a revision that the API server has not reached
           (secrets)
        2. restrict the informers of my-controller to the namespaces or labels that it
           needs, or to metadata: 3 objects of pods kept in full
        3. in my-controller, set allowWatchBookmarks=true: 1 needless relist of pods
         1 Reflectors(5)  2 Requests(11)  3 Storms(0) [4 Clients(4)] 5 Findings(3)
          CLIENT                   REQUESTS  FAILED  REFLECTORS  STUCK  RELISTS   BYTES
        ▸ elastic-operator/1.18.2        18      17           1      1        1   90 kB
          my-controller/0.34              4       1           1      0        1   14 MB
          inventory/v2                    3       1           2      0        0  2.1 MB
          kube-rs/2.0                     2       0           1      0        0   14 kB
        (3 empty lines)
          evidence  requests revision 1100 repeatedly; the server has not reached it
          advice    Restart the client, which helps at once. Then update client-go to
                    1.18.6 or later, which lists without a resource version after this
                    error.
        enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note …
    "]]
    .assert_eq(&small(&page));
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) · feature gates: defaults assumed                                                                                          1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms · 2 open watches · req 0.2/s · events 0/s · 27 requests · 17 MB
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 more · 1 object · 14 kB
        1. restart elastic-operator, and update client-go there to 1.18.6 or later: stuck for 3 m 17 s at a revision that the API server has not reached (secrets)
        2. restrict the informers of my-controller to the namespaces or labels that it needs, or to metadata: 3 objects of pods kept in full
        3. in my-controller, set allowWatchBookmarks=true: 1 needless relist of pods
         1 Reflectors(5)  2 Requests(11)  3 Storms(0) [4 Clients(4)] 5 Findings(3)
          CLIENT                   IDENTITY      PLACE         REQUESTS  FAILED  REFLECTORS  STUCK  WATCHING  LISTS  WATCHES  RESUMES  RELISTS  EVENTS  UNCHANGED   BYTES
        ▸ elastic-operator/1.18.2  apps/manager  -                   18      17           1      1         0     17        1        0        1       0          0   90 kB
          my-controller/0.34       apps/manager  manager 4711         4       1           1      0         1      2        2        0        1       3          2   14 MB
          inventory/v2             apps/manager  -                    3       1           2      0         0      2        0        0        0       0          0  2.1 MB
          kube-rs/2.0              apps/manager  -                    2       0           1      0         1      1        1        0        0       0          0   14 kB
        (16 empty lines)
        ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
        client 3 · elastic-operator/1.18.2
          identity        apps/manager
          process         unknown: it runs on another machine or in another PID namespace, belongs to another user, is watchtap itself, or exited before the lookup
          requests        18 (c shows them in tab 2): 17 lists (0 from etcd), 1 watch, 17 failed; 48 s in total without watches, logs and sessions

        REFLECTORS   worst first; to open one, select it in tab 1
          CLIENT                   RESOURCE  SCOPE         STATE  IN STATE  EVENTS/S  BEHIND  EVENTS  RESUMES  RELISTS  LAST CAUSE                  UNCHANGED  BYTES
          elastic-operator/1.18.2  secrets   kube-system/  stuck  3 m 17 s         0       ?       0        0        1  relisting: ERROR event 500          0  90 kB

        KEEPS   objects of its informers, and the bytes of their last lists
          RESOURCE  SCOPE         FORM          OBJECTS  GROWTH  LIST BYTES
          secrets   kube-system/  full objects        2       -       90 kB

        FINDINGS
          stuck-reflector · secrets · kube-system/: requests revision 1100 repeatedly; the server has not reached it
            Restart the client, which helps at once. Then update client-go to 1.18.6 or later, which lists without a resource version after this error.
        (3 empty lines)
        enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note · i about
    "]].assert_eq(&large(&page));
}

#[test]
fn findings_show_their_evidence() {
    let mut page = page(&trouble());
    press(&mut page, "5");
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) …  1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 mo…
        1. restart elastic-operator, and update client-go there to 1.18.6 or later:
           stuck for 3 m 17 s at a revision that the API server has not reached
           (secrets)
        2. restrict the informers of my-controller to the namespaces or labels that it
           needs, or to metadata: 3 objects of pods kept in full
        3. in my-controller, set allowWatchBookmarks=true: 1 needless relist of pods
         1 Reflectors(5)  2 Requests(11)  3 Storms(0)  4 Clients(4) [5 Findings(3)]
          FINDING          CLIENT                RESOURCE  EVIDENCE
        ▸ stuck-reflector  elastic-operator/1.…  secrets   requests revision 1100 repea…
          no-bookmarks     my-controller/0.34    pods      1 relist after its resource …
          wide-informer    my-controller/0.34    pods      keeps 3 full objects of all …
        (4 empty lines)
          evidence  requests revision 1100 repeatedly; the server has not reached it
          advice    Restart the client, which helps at once. Then update client-go to
                    1.18.6 or later, which lists without a resource version after this
                    error.
        enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note …
    "]]
    .assert_eq(&small(&page));
    expect![[r"
        watchtap  kind-dev · API server v1.30.4 (/version) · feature gates: defaults assumed                                                                                          1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms · 2 open watches · req 0.2/s · events 0/s · 27 requests · 17 MB
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 more · 1 object · 14 kB
        1. restart elastic-operator, and update client-go there to 1.18.6 or later: stuck for 3 m 17 s at a revision that the API server has not reached (secrets)
        2. restrict the informers of my-controller to the namespaces or labels that it needs, or to metadata: 3 objects of pods kept in full
        3. in my-controller, set allowWatchBookmarks=true: 1 needless relist of pods
         1 Reflectors(5)  2 Requests(11)  3 Storms(0)  4 Clients(4) [5 Findings(3)]
          FINDING          CLIENT                   RESOURCE  SCOPE           EVIDENCE
        ▸ stuck-reflector  elastic-operator/1.18.2  secrets   kube-system/    requests revision 1100 repeatedly; the server has not reached it
          no-bookmarks     my-controller/0.34       pods      all namespaces  1 relist after its resource version expired: it had not requested bookmarks
          wide-informer    my-controller/0.34       pods      all namespaces  keeps 3 full objects of all namespaces; its last list had 7.2 MB
        (17 empty lines)
        ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
        finding stuck-reflector
          client          elastic-operator/1.18.2
          requests        secrets · kube-system/
          reflectors      #3

        EVIDENCE
          requests revision 1100 repeatedly; the server has not reached it

        ADVICE
          Restart the client, which helps at once. Then update client-go to 1.18.6 or later, which lists without a resource version after this error.

        ID
          stuck-reflector:elastic-operator/1.18.2:secrets/kube-system/
          the same in every run; --mute accepts it
        (5 empty lines)
        enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note · i about
    "]].assert_eq(&large(&page));
}
