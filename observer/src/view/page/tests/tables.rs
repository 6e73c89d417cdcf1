//! The five tables.

use expect_test::expect;

use super::screen::{large, page, press, small};
use super::stories::{storm, trouble};

#[test]
fn reflectors_the_worst_first() {
    let page = page(&trouble());
    expect![[r"
        1 stuck · etcd 4.5 % of 22 lists · 2 relists · 2 watches open · 27 requests …
        watchtap · API server version v1.30.4 (/version) · gates assumed default …
        not seen: nothing · not understood: nothing
        on a restart now: 1 of 2 reflectors would list again · 1 item · 14 kB
        [1 Reflectors 5] 2 Requests 11  3 Storms 0  4 Clients 4  5 Findings 2
          CLIENT                RESOURCE       STATE     RELISTS  LAST CAUSE
        ▸ elastic-operator/1.…  secrets        stuck           1  1 × watch-error/500
          my-controller/0.34    pods           watching        1  expired/bookmarks-n…
          inventory/v2          pods           listed          0  -
          inventory/v2          deployments.…  listed          0  -
          kube-rs/2.0           configmaps     watching        0  -
        (12 empty lines)
        enter open · / filter · s sort · p pause · y copy · i about · ? help · q quit
    "]]
    .assert_eq(&small(&page));
    expect![[r"
        1 stuck · etcd 4.5 % of 22 lists · 2 relists · 2 watches open · 27 requests · 0 storms
        watchtap · API server version v1.30.4 (/version) · gates assumed default · etcd answers progress requests (assumed)
        not seen: nothing · not understood: nothing
        on a restart now: 1 of 2 reflectors would list again · 1 item · 14 kB
        [1 Reflectors 5] 2 Requests 11  3 Storms 0  4 Clients 4  5 Findings 2
          CLIENT                          RESOURCE              SCOPE                 STATE           FOR       BEHIND       EVENTS  RESUMES  RELISTS  LAST CAUSE                              SPURIOUS    BYTES
        ▸ elastic-operator/1.18.2         secrets               kube-system/          stuck      3 m 17 s            0            0        0        1  1 × watch-error/500                            0    90 kB
          my-controller/0.34              pods                  all namespaces        watching   2 m 29 s            0            3        0        1  expired/bookmarks-not-asked                    2    14 MB
          inventory/v2                    pods                  all namespaces        listed     5 m 40 s       60,190            0        0        0  -                                              0   2.1 MB
          inventory/v2                    deployments.apps      all namespaces        listed          now            0            0        0        0  -                                              0    31 kB
          kube-rs/2.0                     configmaps            default/ · labels a…  watching   5 m 50 s            0            0        0        0  -                                              0    14 kB
        (38 empty lines)
        enter open · / filter · s sort · p pause · y copy · i about · ? help · q quit
    "]].assert_eq(&large(&page));
}

#[test]
fn requests_by_shape() {
    let mut page = page(&trouble());
    press(&mut page, "2");
    expect![[r"
        1 stuck · etcd 4.5 % of 22 lists · 2 relists · 2 watches open · 27 requests …
        watchtap · API server version v1.30.4 (/version) · gates assumed default …
        not seen: nothing · not understood: nothing
        on a restart now: 1 of 2 reflectors would list again · 1 item · 14 kB
         1 Reflectors 5 [2 Requests 11] 3 Storms 0  4 Clients 4  5 Findings 2
          VERB    REQUEST                                N  SERVED FROM            BYTES
        ▸ list    pods · all namespaces · RV=N           1  ~ cache               7.2 MB
          list    pods · all namespaces · RV=0 ·…        1  ~ cache               7.1 MB
          list    pods · all namespaces · limit=…        1  ~ etcd                2.1 MB
          list    secrets · kube-system/ · RV=0 …        1  ~ cache                90 kB
          list    deployments.apps · all namespa…        1  ~ cache                31 kB
          list    configmaps · default/ · RV=0 ·…        1  ~ cache                14 kB
          list    secrets · kube-system/ · RV=N         16  ! refused                0 B
          watch   pods · all namespaces · RV=N           2  ~ cache               4.0 kB
          watch   configmaps · default/ · RV=N ·…        1  ~ cache                  0 B
          watch   secrets · kube-system/ · RV=N          1  ~ cache                  0 B
          get     nodes · all                            1  ~ etcd                9.0 kB
        (6 empty lines)
        enter open · / filter · s sort · p pause · y copy · i about · ? help · q quit
    "]]
    .assert_eq(&small(&page));
    expect![[r"
        1 stuck · etcd 4.5 % of 22 lists · 2 relists · 2 watches open · 27 requests · 0 storms
        watchtap · API server version v1.30.4 (/version) · gates assumed default · etcd answers progress requests (assumed)
        not seen: nothing · not understood: nothing
        on a restart now: 1 of 2 reflectors would list again · 1 item · 14 kB
         1 Reflectors 5 [2 Requests 11] 3 Storms 0  4 Clients 4  5 Findings 2
          VERB    REQUEST                                                   N  SERVED FROM          RULE                             OBJECTS    BYTES  FIRST BYTE      TOTAL   FAILED  LAST END
        ▸ list    pods · all namespaces · RV=N                              1  ~ cache              list-rv                                3   7.2 MB       90 ms      90 ms        0  -
          list    pods · all namespaces · RV=0 · limit=500                  1  ~ cache              list-rv0                               3   7.1 MB       90 ms      90 ms        0  -
          list    pods · all namespaces · limit=500                         1  ~ etcd               list-unset-etcd                        2   2.1 MB      211 ms     211 ms        0  -
          list    secrets · kube-system/ · RV=0 · limit=500                 1  ~ cache              list-rv0                               2    90 kB       20 ms      20 ms        0  -
          list    deployments.apps · all namespaces · RV=0                  1  ~ cache              list-rv0                               1    31 kB       10 ms      10 ms        0  -
          list    configmaps · default/ · RV=0 · limit=500 · labels…        1  ~ cache              list-rv0                               1    14 kB      3.0 ms     3.0 ms        0  -
          list    secrets · kube-system/ · RV=N                            16  ! refused            list-rv                                0      0 B       3.0 s      3.0 s       16  -
          watch   pods · all namespaces · RV=N                              2  ~ cache              watch-rv                               3   4.0 kB           -   5 m 49 s        1  1 open
          watch   configmaps · default/ · RV=N · labels app=nginx           1  ~ cache              watch-rv                               0      0 B           -   5 m 51 s        0  1 open
          watch   secrets · kube-system/ · RV=N                             1  ~ cache              watch-rv                               0      0 B           -   2 m 29 s        1  500 InternalError
          get     nodes · all                                               1  ~ etcd               get-unset-etcd                         -   9.0 kB           -     4.0 ms        1  -
        (32 empty lines)
        enter open · / filter · s sort · p pause · y copy · i about · ? help · q quit
    "]].assert_eq(&large(&page));
}

#[test]
fn storms_that_go_on() {
    let mut page = page(&storm());
    press(&mut page, "3");
    expect![[r"
        ▲ storm 5.0 s · etcd 0 % of 24 lists · 12 relists · 12 watches open …
        watchtap · API server version v1.34.4 (/version) · gates assumed default …
        not seen: nothing · not understood: nothing
        on a restart now: 0 of 12 reflectors would list again · 0 items · 0 B
         1 Reflectors 12  2 Requests 12 [3 Storms 1] 4 Clients 3  5 Findings 0
          STORM  STATE        LENGTH  TRIGGER             REFLECTORS    LISTS    BYTES
        ▸     1  goes on       5.0 s  mass-expiry                 12       12    60 kB
        (16 empty lines)
        enter open · / filter · s sort · p pause · y copy · i about · ? help · q quit
    "]]
    .assert_eq(&small(&page));
    expect![[r"
        ▲ storm 5.0 s · etcd 0 % of 24 lists · 12 relists · 12 watches open · 48 requests · 1 storm
        watchtap · API server version v1.34.4 (/version) · gates assumed default · etcd answers progress requests (assumed)
        not seen: nothing · not understood: nothing
        on a restart now: 0 of 12 reflectors would list again · 0 items · 0 B
         1 Reflectors 12  2 Requests 12 [3 Storms 1] 4 Clients 3  5 Findings 0
          STORM  STATE           BEGAN      LENGTH  TRIGGER             REFLECTORS  CLIENTS    LISTS      PEAK        ITEMS     SPURIOUS    BYTES  SERVED FROM
        ▸     1  goes on  12:01:40.000       5.0 s  mass-expiry                 12        3       12       7/s           24           12    60 kB  cache 12
        (42 empty lines)
        enter open · / filter · s sort · p pause · y copy · i about · ? help · q quit
    "]].assert_eq(&large(&page));
}

#[test]
fn clients_with_what_their_reflectors_come_to() {
    let mut page = page(&trouble());
    press(&mut page, "4");
    expect![[r"
        1 stuck · etcd 4.5 % of 22 lists · 2 relists · 2 watches open · 27 requests …
        watchtap · API server version v1.30.4 (/version) · gates assumed default …
        not seen: nothing · not understood: nothing
        on a restart now: 1 of 2 reflectors would list again · 1 item · 14 kB
         1 Reflectors 5  2 Requests 11  3 Storms 0 [4 Clients 4] 5 Findings 2
          CLIENT                                     REFLECTORS  STUCK  RELISTS    BYTES
        ▸ elastic-operator/1.18.2                             1      1        1    90 kB
          my-controller/0.34                                  1      0        1    14 MB
          inventory/v2                                        2      0        0   2.1 MB
          kube-rs/2.0                                         1      0        0    14 kB
        (13 empty lines)
        enter open · / filter · s sort · p pause · y copy · i about · ? help · q quit
    "]]
    .assert_eq(&small(&page));
    expect![[r"
        1 stuck · etcd 4.5 % of 22 lists · 2 relists · 2 watches open · 27 requests · 0 storms
        watchtap · API server version v1.30.4 (/version) · gates assumed default · etcd answers progress requests (assumed)
        not seen: nothing · not understood: nothing
        on a restart now: 1 of 2 reflectors would list again · 1 item · 14 kB
         1 Reflectors 5  2 Requests 11  3 Storms 0 [4 Clients 4] 5 Findings 2
          CLIENT                                IDENTITY                  PROCESS                   REFLECTORS  STUCK  WATCHING      LISTS    WATCHES  RESUMES  RELISTS       EVENTS          SPURIOUS    BYTES
        ▸ elastic-operator/1.18.2               apps/manager              -                                  1      1         0         17          1        0        1            0                 0    90 kB
          my-controller/0.34                    apps/manager              manager 4711                       1      0         1          2          2        0        1            3                 2    14 MB
          inventory/v2                          apps/manager              -                                  2      0         0          2          0        0        0            0                 0   2.1 MB
          kube-rs/2.0                           apps/manager              -                                  1      0         1          1          1        0        0            0                 0    14 kB
        (39 empty lines)
        enter open · / filter · s sort · p pause · y copy · i about · ? help · q quit
    "]].assert_eq(&large(&page));
}

#[test]
fn findings_with_what_was_seen() {
    let mut page = page(&trouble());
    press(&mut page, "5");
    expect![[r"
        1 stuck · etcd 4.5 % of 22 lists · 2 relists · 2 watches open · 27 requests …
        watchtap · API server version v1.30.4 (/version) · gates assumed default …
        not seen: nothing · not understood: nothing
        on a restart now: 1 of 2 reflectors would list again · 1 item · 14 kB
         1 Reflectors 5  2 Requests 11  3 Storms 0  4 Clients 4 [5 Findings 2]
          FINDING                 CLIENT        RESOURCE      SEEN
        ▸ stuck-reflector         elastic-ope…  secrets       asks for revision 1100 a…
          no-bookmarks            my-controll…  pods          1 relists because the re…
        (15 empty lines)
        enter open · / filter · s sort · p pause · y copy · i about · ? help · q quit
    "]]
    .assert_eq(&small(&page));
    expect![[r"
        1 stuck · etcd 4.5 % of 22 lists · 2 relists · 2 watches open · 27 requests · 0 storms
        watchtap · API server version v1.30.4 (/version) · gates assumed default · etcd answers progress requests (assumed)
        not seen: nothing · not understood: nothing
        on a restart now: 1 of 2 reflectors would list again · 1 item · 14 kB
         1 Reflectors 5  2 Requests 11  3 Storms 0  4 Clients 4 [5 Findings 2]
          FINDING                 CLIENT                             RESOURCE                           SCOPE                              SEEN
        ▸ stuck-reflector         elastic-operator/1.18.2            secrets                            kube-system/                       asks for revision 1100 again and again; the server has not reached…
          no-bookmarks            my-controller/0.34                 pods                               all namespaces                     1 relists because the revision had expired without a bookmark
        (41 empty lines)
        enter open · / filter · s sort · p pause · y copy · i about · ? help · q quit
    "]].assert_eq(&large(&page));
}
