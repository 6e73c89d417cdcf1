//! Low and narrow terminals: what remains, and what the page names as hidden.

use std::sync::Arc;

use expect_test::expect;
use observer_core::observer::Snapshot;

use super::screen::{drawn, lines_of, page, press, text};
use super::script::play;
use super::stories::{storm, trouble};
use crate::view::colour::Colour;
use crate::view::page::Page;

#[test]
fn smallest_terminal_shows_the_table_and_names_the_hidden_parts() {
    let mut page = page(&trouble());
    expect![[r"
        watchtap  kind-dev …              1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get …
        1. restart elastic-operator, and update client-go there to
           1.18.6 or later: stuck for 3 m 17 s at a revision that …
        … and 2 more problems (key 5)
        [1 Refl(5)] 2 Req  3 Storms  4 Clients  5 Find
          CLIENT                   RESOURCE        STATE     RELISTS
        ▸ elastic-operator/1.18.2  secrets         stuck           1
          my-controller/0.34       pods            watching        1
          inventory/v2             pods            listed          0
          inventory/v2             deployments.a…  listed          0
        hidden: 9 columns, advice, restart, observed · enter open …
    "]]
    .assert_eq(&text(&drawn(&page, 60, 12)));
    press(&mut page, "2");
    expect![[r"
        watchtap  kind-dev …              1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get …
        1. restart elastic-operator, and update client-go there to
           1.18.6 or later: stuck for 3 m 17 s at a revision that …
        … and 2 more problems (key 5)
         1 Refl [2 Req(11)] 3 Storms  4 Clients  5 Find
          VERB   REQUEST                            N    SERVED FROM
        ▸ list   pods · all namespaces · RV=N       1  ~ cache
          list   pods · all namespaces · RV=0 · …   1  ~ cache
          list   pods · all namespaces · limit=5…   1  ~ etcd
          list   secrets · kube-system/ · RV=0 ·…   1  ~ cache
        hidden: 7 columns, advice, restart, observed · enter open …
    "]]
    .assert_eq(&text(&drawn(&page, 60, 12)));
    press(&mut page, "<enter>");
    expect![[r"
        watchtap  kind-dev …              1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get …
         1 Refl [2 Req(11)] 3 Storms  4 Clients  5 Find
        list pods · all namespaces · RV=N
          served from     ~ cache   rule list-rv
          why             a resourceVersion without limit: the watch
                          cache answers once it has reached that
                          revision, or 504 after 3 s
          exception       refused with 504, if the watch cache lags
                          more than 3 s
          more            watchtap explain list-rv
        hidden: restart, observed · j k scroll · esc back · ? help …
    "]]
    .assert_eq(&text(&drawn(&page, 60, 12)));
}

#[test]
fn account_vanishes_first_then_the_header_loses_lines() {
    let page = page(&trouble());
    let parts = |height: u16| {
        let lines = lines_of(&drawn(&page, 80, height));
        let has = |text: &str| lines.iter().any(|line| line.contains(text));
        (has("  advice  "), has("on an API server restart"), has("observed 100 %"))
    };
    assert_eq!(parts(22), (true, true, true));
    assert_eq!(parts(21), (false, true, true));
    assert_eq!(parts(18), (false, true, true));
    assert_eq!(parts(17), (false, false, true));
    assert_eq!(parts(16), (false, false, true));
    assert_eq!(parts(15), (false, false, false));
}

#[test]
fn losses_stay_in_the_header_of_a_low_terminal() {
    let mut snapshot = Snapshot::clone(&play(&trouble()));
    (snapshot.missed.bytes, snapshot.missed.gaps) = (4_096, 2);
    let page = Page::new(Arc::new(snapshot), "kind-dev", Vec::new(), Colour::Off);
    let lines = lines_of(&drawn(&page, 80, 12));
    assert!(lines[2].starts_with("not observed: 4.1 kB in 2 gaps"), "{lines:#?}");
}

#[test]
fn low_terminal_keeps_three_rows_below_problems_and_messages() {
    let mut page = page(&(trouble() + &storm()));
    page.hear("the API server restarts: for a while it refuses connections, and our port with it; watchers resume, or relist");
    let lines = lines_of(&drawn(&page, 60, 12));
    let headings = lines.iter().position(|line| line.contains("CLIENT  ")).unwrap();
    let news = lines.iter().position(|line| line.starts_with("» ")).unwrap();
    assert!(news - headings > 3, "{lines:#?}");
    assert!(lines.iter().filter(|line| line.contains("more problem")).count() == 1, "{lines:#?}");
}

#[test]
fn tabs_are_shortened_in_a_narrow_terminal() {
    let mut page = page(&trouble());
    let line = |page: &Page, width: u16| {
        let lines = lines_of(&drawn(page, width, 12));
        lines.into_iter().find(|line| line.contains('[')).unwrap_or_default()
    };
    expect!["[1 Reflectors(5)] 2 Requests(11)  3 Storms(0)  4 Clients(4)  5 Findings(3)"].assert_eq(&line(&page, 80));
    expect!["[1 Refl(5)] 2 Req  3 Storms  4 Clients  5 Find"].assert_eq(&line(&page, 60));
    press(&mut page, "2");
    expect![" 1 Refl [2 Req(11)] 3 Storms  4 Clients  5 Find"].assert_eq(&line(&page, 60));
}
