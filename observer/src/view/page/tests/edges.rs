//! Small terminals, empty tables, hostile names, losses, and colours.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use observer_core::observation::UpstreamName;
use observer_core::observer::{Snapshot, UpstreamRecord};
use observer_core::time::PerSecond;
use proptest::collection::vec;
use proptest::prelude::*;
use ratatui::buffer::CellWidth as _;
use ratatui::style::{Color, Modifier};

use super::screen::{drawn, large, lines_of, page, press, small, text};
use super::script::play;
use super::stories::{SILENCE, storm, trouble};
use crate::view::colour::Colour;
use crate::view::page::{Key, Page};

/// All keys with a meaning, including those that type a filter.
const KEYS: &[Key] = &[
    Key::Char('1'),
    Key::Char('2'),
    Key::Char('3'),
    Key::Char('4'),
    Key::Char('5'),
    Key::Char('/'),
    Key::Char('a'),
    Key::Char(':'),
    Key::Char('f'),
    Key::Char('s'),
    Key::Char('S'),
    Key::Char('r'),
    Key::Char('p'),
    Key::Char('y'),
    Key::Char('i'),
    Key::Char('?'),
    Key::Char('j'),
    Key::Char('k'),
    Key::Char('G'),
    Key::Enter,
    Key::Enter,
    Key::Escape,
    Key::Backspace,
    Key::Tab,
    Key::BackTab,
    Key::PageUp,
    Key::PageDown,
    Key::End,
];

#[test]
fn too_small_terminal_shows_the_required_size() {
    let page = page(&trouble());
    expect![[r"
        watchtap: 59×24 is too small, it needs 60×12 (q quits)
        (23 empty lines)
    "]]
    .assert_eq(&text(&drawn(&page, 59, 24)));
    expect![[r"
        watchtap: 30×3 is too small, …


    "]]
    .assert_eq(&text(&drawn(&page, 30, 3)));
}

#[test]
fn page_is_drawn_at_every_size() {
    for keys in ["", "2", "3", "4", "5", "?", "i", "<enter>", "2<enter>", "4<enter>", "/x"] {
        let mut page = page(&(trouble() + &storm()));
        press(&mut page, keys);
        for (width, height) in [(1, 1), (2, 24), (80, 1), (60, 12), (61, 13), (80, 24), (81, 25), (119, 30), (300, 24), (80, 200)] {
            assert_eq!(drawn(&page, width, height).area.width, width, "{keys}");
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_keys_and_snapshots_select_at_most_one_row(steps in vec((any::<u8>(), 0..3_usize), 0..40)) {
        let snapshots = [play(SILENCE), play(&trouble()), play(&storm())];
        let mut page = page(SILENCE);
        for (key, snapshot) in steps {
            page.key(KEYS[usize::from(key) % KEYS.len()]);
            if key >= 200 {
                page.show(Arc::clone(&snapshots[snapshot]));
            }
            let (width, height) = [(30, 5), (60, 12), (80, 24)][usize::from(key) % 3];
            let selected = drawn(&page, width, height).content.iter().filter(|cell| cell.symbol() == "▸").count();
            prop_assert!(selected <= 1);
        }
    }
}

#[test]
fn page_without_clients_shows_how_to_connect() {
    expect![[r"
        watchtap  kind-dev · API server v1.34.4 (/version) …                         UTC
        from etcd: 0 of 0 lists · 0 relists · 0 storms · 0 open watches · req 0/s …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: no relist, as no reflector is synced and watching
        [1 Reflectors(0)] 2 Requests(0)  3 Storms(0)  4 Clients(0)  5 Findings(0)

          No client has connected yet:

          in another terminal:
          export KUBECONFIG=watchtap.kubeconfig
        (13 empty lines)
        enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note …
    "]]
    .assert_eq(&small(&page(SILENCE)));
}

#[test]
fn empty_tables_explain_why_and_where_to_look() {
    let script = "0s server v1.34.4\n0s a connects as=apps/manager client=curl/8\n0s a1 GET /version\n1s a1 bytes 300\n1s a1 ends";
    let mut page = page(script);
    for (key, expected) in [
        ("1", expect!["No lists or watches yet. Tab 2 shows all 1 request."]),
        ("3", expect!["No storm so far, with 0 relists. A storm is many reflectors that relist within seconds."]),
        ("4", expect!["CLIENT  REQUESTS  FAILED  REFLECTORS  STUCK  WATCHING  RELISTS  EVENTS  BYTES"]),
        ("5", expect!["No findings so far, among 1 request. Tab 1 shows the clients that list and watch."]),
    ] {
        press(&mut page, key);
        let screen = small(&page);
        let sentences: Vec<&str> = screen.lines().skip(5).filter(|line| line.starts_with("  ")).map(str::trim).collect();
        expected.assert_eq(&sentences.join(" "));
    }
}

#[test]
fn hostile_names_are_drawn_without_terminal_controls() {
    let hostile = "\u{1b}]0;owned\u{7}\u{202E}evil\u{200B}\u{1b}[2J";
    let wide = "控制器".repeat(30);
    let heaped = format!("z{}", "\u{301}".repeat(60));
    let script = format!(
        "0s server v1.34.4
         0s a connects as=apps/manager client={hostile}/1
         0s a1 GET /api/v1/namespaces/{hostile}/pods?limit=500&resourceVersion=0&labelSelector={hostile}
         0s a1 whole rv=10 x@5
         0s b connects as=apps/manager client={wide}/1
         0s b1 GET /api/v1/namespaces/{wide}/secrets?resourceVersion=0
         0s b1 whole rv=10 x@5
         0s c connects as=apps/manager client={heaped}/1
         0s c1 GET /api/v1/nodes?resourceVersion=0
         0s c1 whole rv=10 x@5"
    );
    let mut page = page(&script);
    expect![[r"
        watchtap  kind-dev · API server v1.34.4 (/version) …                         UTC
        from etcd: 0 of 3 lists · 0 relists · 0 storms · 0 open watches · req 0.3/s …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: no relist, as no reflector is synced and watching
        [1 Reflectors(3)] 2 Requests(3)  3 Storms(0)  4 Clients(3)  5 Findings(0)
          CLIENT                                   RESOURCE  STATE   RELISTS  LAST CAUSE
        ▸ �]0;owned��evil��[2J/1                   pods      listed        0  -
          控制器控制器控制器控制器控制器控制器控…  secrets   listed        0  -
          �/1                                      nodes     listed        0  -
        (14 empty lines)
        enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note …
    "]]
    .assert_eq(&small(&page));
    for keys in ["", "<enter>", "2", "j<enter>", "4", "5", "1f"] {
        press(&mut page, keys);
        for cell in &drawn(&page, 200, 50).content {
            assert!(cell.symbol().chars().all(crate::printable::is_shown), "{keys}: {:?}", cell.symbol());
            assert!(cell.symbol().chars().count() <= 8 && cell.cell_width() <= 2, "{keys}: {:?}", cell.symbol());
        }
    }
}

#[test]
fn losses_are_shown_above_the_tables() {
    let mut snapshot = Snapshot::clone(&play(&trouble()));
    snapshot.missed.bytes = 4_096;
    snapshot.missed.gaps = 2;
    snapshot.missed.malformed = 1;
    snapshot.missed.connect_failures = 3;
    snapshot.missed.last_connect_failure = "timed out".to_owned();
    let page = Page::new(Arc::new(snapshot), "kind-dev", Vec::new(), Colour::On);
    let buffer = drawn(&page, 140, 24);
    expect![
        "not observed: 4.1 kB in 2 gaps · unparsed: malformed HTTP in 1 place · rows dropped 0 · 3 connections failed: timed out"
    ]
    .assert_eq(text(&buffer).lines().nth(2).unwrap_or_default());
    assert_eq!(buffer.cell((0, 2)).map(|cell| cell.fg), Some(Color::Red));
}

#[test]
fn wide_terminal_shows_the_rates_of_the_last_minutes() {
    let mut page = page("0s server v1.34.4");
    let mut snapshot = Snapshot::clone(&play("0s server v1.34.4"));
    for (seconds, requests) in [(0, 2.0), (5, 8.0), (10, 0.0), (15, 4.0)] {
        snapshot.at = snapshot.started.unwrap_or_default().plus(Duration::from_secs(seconds));
        snapshot.rates.requests_per_second = PerSecond::rounded(requests);
        page.show(Arc::new(snapshot.clone()));
    }
    let third = |page: &Page, width: u16| text(&drawn(page, width, 24)).lines().nth(2).unwrap_or_default().to_owned();
    expect!["observed 100 % · unparsed 0 · rows dropped 0                      req/s                  ▃█▁▅ max 8.0 · events/s                  ▁▁▁▁ max 0"].assert_eq(&third(&page, 140));
    expect!["observed 100 % · unparsed 0 · rows dropped 0        req/s     ▃█▁▅ max 8.0 · events/s     ▁▁▁▁ max 0"]
        .assert_eq(&third(&page, 100));
    expect!["observed 100 % · unparsed 0 · rows dropped 0"].assert_eq(&third(&page, 99));
    snapshot.missed.malformed = 1;
    page.show(Arc::new(snapshot));
    expect!["observed 100 % · unparsed: malformed HTTP in 1 place · rows dropped 0"].assert_eq(&third(&page, 140));
}

#[test]
fn several_api_servers_are_named() {
    let mut snapshot = Snapshot::clone(&play(&trouble()));
    snapshot.upstreams = ["10.0.0.1:6443", "10.0.0.2:6443"]
        .map(|name| UpstreamRecord { upstream: UpstreamName(name.into()), profile: snapshot.profile.clone(), connections: 2 })
        .to_vec();
    let page = Page::new(Arc::new(snapshot), "kind-dev", Vec::new(), Colour::Off);
    expect!["watchtap  kind-dev · 2 API servers · 10.0.0.1:6443: version v1.30.4 (/version) …                                  1 stuck · 3 findings · UTC"]
        .assert_eq(text(&drawn(&page, 140, 24)).lines().next().unwrap_or_default());
}

#[test]
fn messages_are_shown_while_recent_and_kept_for_later() {
    let mut page = page("0s server v1.34.4\n40s listening");
    page.hear("watchtap: the API server restarts\u{1b}[2J: for a while it refuses connections, and our port with it; watchers resume, or list again");
    expect![[r"
        » the API server restarts�[2J: for a while it refuses connections, and our port
          with it; watchers resume, or list again
        enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note …"]]
    .assert_eq(&end_of(&small(&page), 3));
    page.show(play("0s server v1.34.4\n61s listening"));
    assert!(!small(&page).contains("restarts"), "{}", small(&page));
    press(&mut page, "i");
    assert!(large(&page).contains("12:00:40.000  the API server restarts"), "{}", large(&page));
}

#[test]
fn text_without_room_for_its_last_lines_is_marked() {
    let lines =
        |page: &Page, number: usize| text(&drawn(page, 60, 12)).lines().skip(number).take(2).map(str::to_owned).collect::<Vec<_>>();
    let mut page = page(&trouble());
    expect![[r#"
        [
            "1. restart elastic-operator, and update client-go there to",
            "   1.18.6 or later: stuck for 3 m 17 s at a revision that …",
        ]
    "#]]
    .assert_debug_eq(&lines(&page, 2));
    page.hear("the watch caches are reset: watches get 410, and a client should list once");
    expect![[r#"
        [
            "» the watch caches are reset: watches get 410, and a client…",
            "hidden: 9 columns, advice, restart, observed · enter open …",
        ]
    "#]]
    .assert_debug_eq(&lines(&page, 10));
    press(&mut page, "/client:elastic-operator state:stuck kind:x");
    expect![[r#"
        [
            "…-operator state:stuck kind:x_  ignored here: kind; enter k…",
        ]
    "#]]
    .assert_debug_eq(&lines(&page, 11));
}

#[test]
fn alarms_are_at_the_end_of_the_first_line() {
    let first = |script: &str| small(&page(script)).lines().next().unwrap_or_default().to_owned();
    expect!["watchtap  kind-dev …                ▲ relist storm: 12 reflectors within 1.1 s …"].assert_eq(&first(&storm()));
    expect!["watchtap  kind-dev · API server v1.30.4 (/version) …  1 stuck · 3 findings · UTC"].assert_eq(&first(&trouble()));
}

#[test]
fn disabled_colours_remove_every_style() {
    for keys in ["", "2", "?", "<enter>"] {
        let mut page = page(&trouble());
        press(&mut page, keys);
        let plain = drawn(&page, 120, 30)
            .content
            .iter()
            .all(|cell| (cell.fg, cell.bg, cell.modifier) == (Color::Reset, Color::Reset, Modifier::empty()));
        assert!(plain, "{keys}");
    }
}

#[test]
fn colours_add_no_information_to_the_text() {
    let page = Page::new(play(&trouble()), "kind-dev", Vec::new(), Colour::On);
    let (coloured, plain) = (drawn(&page, 120, 30), drawn(&super::screen::page(&trouble()), 120, 30));
    assert_eq!(text(&coloured), text(&plain));
    let y = lines_of(&plain).iter().position(|line| line.starts_with('▸')).and_then(|y| u16::try_from(y).ok()).unwrap();
    let selected = coloured.cell((2, y)).map(|cell| cell.modifier.contains(Modifier::REVERSED));
    assert_eq!(selected, Some(true));
}

#[test]
fn control_characters_are_not_entered_in_the_filter() {
    let mut page = page(&trouble());
    press(&mut page, "/a\u{1b}\u{202E}b");
    let screen = small(&page);
    assert!(screen.lines().last().is_some_and(|line| line.starts_with("/ab_")), "{screen}");
}

/// The last lines of a screen.
fn end_of(screen: &str, lines: usize) -> String {
    let all: Vec<&str> = screen.lines().collect();
    all[all.len() - lines..].join("\n")
}
