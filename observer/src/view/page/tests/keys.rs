//! The effects of keys.

use std::io;
use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use jiff::tz::TimeZone;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::screen::{drawn, large, page, press, small, text};
use super::script::play;
use super::stories::{SILENCE, storm, trouble};
use crate::view::page::{Key, Outcome, Page};

#[test]
fn terminal_key_events_map_to_page_keys() {
    let key = |code, modifiers| Key::of(&KeyEvent::new(code, modifiers));
    assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Interrupt));
    assert_eq!(key(KeyCode::Char('c'), KeyModifiers::NONE), Some(Key::Char('c')));
    assert_eq!(key(KeyCode::Char('G'), KeyModifiers::SHIFT), Some(Key::Char('G')));
    assert_eq!(key(KeyCode::BackTab, KeyModifiers::SHIFT), Some(Key::BackTab));
    assert_eq!(key(KeyCode::Char('q'), KeyModifiers::ALT), None);
    assert_eq!(key(KeyCode::F(1), KeyModifiers::NONE), None);
    let released = KeyEvent::new_with_kind(KeyCode::Char('q'), KeyModifiers::NONE, KeyEventKind::Release);
    assert_eq!(Key::of(&released), None);
}

#[test]
fn q_quits_the_page_and_ctrl_c_always_does() {
    for (keys, expected) in [
        ("q", Outcome::Quit),
        ("?q", Outcome::Quit),
        ("<enter>q", Outcome::Quit),
        ("/q", Outcome::Stay),
        ("/q<ctrl-c>", Outcome::Quit),
        ("<esc>", Outcome::Stay),
        ("<backspace>", Outcome::Stay),
    ] {
        assert_eq!(press(&mut page(&trouble()), keys), expected, "{keys}");
    }
}

#[test]
fn selection_moves_and_stays_within_the_rows() {
    let mut page = page(&trouble());
    for (keys, selected) in [
        ("", "elastic-operator"),
        ("k", "elastic-operator"),
        ("j", "my-controller"),
        ("<down><down>", "deployments"),
        ("<up>", "pods"),
        ("G", "kube-rs"),
        ("g", "elastic-operator"),
        ("<end>", "kube-rs"),
        ("<home><pgdn>", "kube-rs"),
        ("<pgup>", "elastic-operator"),
    ] {
        press(&mut page, keys);
        assert!(selected_line(&page).contains(selected), "{keys}: {}", selected_line(&page));
    }
}

#[test]
fn tabs_are_reached_by_number_and_in_turn() {
    let mut page = page(&trouble());
    for (keys, tab) in [
        ("", "[1 Reflectors"),
        ("3", "[3 Storms"),
        ("<tab>", "[4 Clients"),
        ("<tab><tab>", "[1 Reflectors"),
        ("<backtab>", "[5 Findings"),
        ("<enter>2", "[2 Requests"),
    ] {
        press(&mut page, keys);
        assert!(small(&page).contains(tab), "{keys}");
    }
}

#[test]
fn sort_key_cycles_columns_and_returns_to_worst_first() {
    let mut page = page(&trouble());
    press(&mut page, "s");
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
         ▾CLIENT                   RESOURCE        STATE     RELISTS  LAST CAUSE
        ▸ elastic-operator/1.18.2  secrets         stuck           1  relisting: ERROR …
          inventory/v2             pods            listed          0  -
          inventory/v2             deployments.a…  listed          0  -
          kube-rs/2.0              configmaps      watching        0  -
          my-controller/0.34       pods            watching        1  410 Gone: bookmar…


          evidence  requests revision 1100 repeatedly; the server has not reached it
          advice    Restart the client, which helps at once. Then update client-go to
                    1.18.6 or later, which lists without a resource version after this
                    error.
        sorted by CLIENT
    "]]
    .assert_eq(&small(&page));
    press(&mut page, "S");
    expect![[r"
        my-controller/0.34
        kube-rs/2.0
        inventory/v2
        inventory/v2
        elastic-operator/1.18.2"]]
    .assert_eq(&clients(&page).join("\n"));
    press(&mut page, &"s".repeat(12));
    expect![[r"
        my-controller/0.34
        inventory/v2
        elastic-operator/1.18.2
        inventory/v2
        kube-rs/2.0"]]
    .assert_eq(&clients(&page).join("\n"));
}

#[test]
fn new_rows_are_counted_until_they_are_asked_for() {
    let before = "0s server v1.34.4\n0s a connects as=apps/manager client=a/v1\n0s a1 GET /api/v1/pods?limit=500&resourceVersion=0\n\
                  0s a1 bytes 100\n0s a1 whole rv=10 x@5\n";
    let after = "1s b connects as=apps/manager client=b/v1\n1s b1 GET /api/v1/pods?limit=500&resourceVersion=0\n\
                 1s b1 bytes 900\n1s b1 whole rv=10 x@5";
    let mut page = page(before);
    press(&mut page, "j");
    page.show(play(&(before.to_owned() + after)));
    assert_eq!(clients(&page), ["a/v1"]);
    expect!["▲ 1 new row (r) · enter open · ? help · q quit · / filter · s sort · p pause …"].assert_eq(last_line(&small(&page)));
    press(&mut page, "r");
    assert_eq!(clients(&page), ["b/v1", "a/v1"]);
    assert!(selected_line(&page).contains("a/v1"), "{}", selected_line(&page));
    assert!(!small(&page).contains("new row"));
    page.show(play(before));
    assert_eq!(clients(&page), ["a/v1"]);
}

#[test]
fn new_rows_are_counted_as_the_filter_selects_them() {
    let mut page = page(SILENCE);
    press(&mut page, "j");
    page.show(play(&trouble()));
    assert_eq!(clients(&page).len(), 5, "an empty table takes its first rows");
    press(&mut page, "/client:my-controller<enter>");
    page.show(play(&(trouble() + &storm())));
    assert!(!small(&page).contains("new row"), "{}", small(&page));
    press(&mut page, "<esc>");
    expect!["▲ 15 new rows (r) · enter open · ? help · q quit · / filter · s sort · p pause …"].assert_eq(last_line(&small(&page)));
}

#[test]
fn untouched_page_reorders_worst_first_by_itself() {
    let before = "0s server v1.34.4\n0s a connects as=apps/manager client=a/v1\n0s a1 GET /api/v1/pods?limit=500&resourceVersion=0\n\
                  0s a1 bytes 100\n0s a1 whole rv=10 x@5\n";
    let after = "11s b connects as=apps/manager client=b/v1\n11s b1 GET /api/v1/pods?limit=500&resourceVersion=0\n\
                 11s b1 bytes 900\n11s b1 whole rv=10 x@5";
    let later = play(&(before.to_owned() + after));
    let [mut watched, mut used] = [page(before), page(before)];
    press(&mut used, "j");
    for page in [&mut watched, &mut used] {
        page.show(Arc::clone(&later));
    }
    assert_eq!(clients(&watched), ["b/v1", "a/v1"]);
    assert_eq!(clients(&used), ["a/v1"]);
}

#[test]
fn filter_counts_its_rows_and_esc_clears_it() {
    let mut page = page(&trouble());
    press(&mut page, "/state:stuck client:ELASTIC");
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
          CLIENT                   RESOURCE  STATE  RELISTS  LAST CAUSE
        ▸ elastic-operator/1.18.2  secrets   stuck        1  relisting: ERROR event 500
        (6 empty lines)
          evidence  requests revision 1100 repeatedly; the server has not reached it
          advice    Restart the client, which helps at once. Then update client-go to
                    1.18.6 or later, which lists without a resource version after this
                    error.
        /state:stuck client:ELASTIC_  enter keeps it, esc does not
    "]]
    .assert_eq(&small(&page));
    press(&mut page, "<enter>");
    expect!["filter state:stuck client:ELASTIC: 1 of 5 · enter open · ? help · q quit …"].assert_eq(last_line(&small(&page)));
    press(&mut page, "2");
    expect!["filter state:stuck client:ELASTIC: 3 of 11 (ignored: state) · enter open …"].assert_eq(last_line(&small(&page)));
    press(&mut page, "1<esc>");
    assert_eq!(clients(&page).len(), 5);
}

#[test]
fn cancelled_filter_restores_the_previous_one() {
    let mut page = page(&trouble());
    press(&mut page, "/my-controller<enter>/x<esc>");
    assert_eq!(clients(&page), ["my-controller/0.34"]);
    press(&mut page, "/zzz");
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

          No row fits the filter my-controller zzz. esc clears it, / changes it.
        (10 empty lines)
        /my-controller zzz_  enter keeps it, esc does not
    "]]
    .assert_eq(&small(&page));
}

#[test]
fn unknown_filter_name_is_refused_with_the_known_ones() {
    let mut page = page(&trouble());
    press(&mut page, "/pod:x<enter>");
    expect![[r#"/pod:x_  character 1: no filter is named pod; use one of client, resource, scope, state, cause, verb, served, rule, kind (or write "pod:x")"#]].assert_eq(last_line(&large(&page)));
    press(&mut page, "<backspace><backspace><backspace><backspace><backspace><enter>");
    assert_eq!(clients(&page).len(), 5);
}

#[test]
fn f_key_filters_by_the_selected_row() {
    let mut page = page(&trouble());
    press(&mut page, "jf");
    assert_eq!(clients(&page), ["my-controller/0.34"]);
    expect!["filter client:my-controller/0.34 resource:pods: 1 of 5 · enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note · i about"].assert_eq(last_line(&large(&page)));
}

#[test]
fn c_key_shows_the_requests_of_a_client_and_esc_returns() {
    for (opened, title) in [("", "REFLECTORS  STUCK"), ("<enter>", "client 1 · my-controller/0.34")] {
        let mut page = page(&trouble());
        press(&mut page, &format!("4/controller OR inventory<enter>{opened}"));
        let before = small(&page);
        assert!(before.contains(title), "{before}");
        press(&mut page, "c");
        let screen = small(&page);
        assert!(
            screen.contains("[2 Requests") && !screen.contains("deployments.apps") && !screen.contains("configmaps"),
            "{screen}"
        );
        expect!["requests of my-controller/0.34; the numbers count all clients"].assert_eq(last_line(&screen));
        press(&mut page, "j");
        expect!["filter client:my-controller/0.34: 3 of 11 · esc returns to 4 Clients · enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note · i about"].assert_eq(last_line(&large(&page)));
        press(&mut page, "<enter><esc><esc>");
        assert_eq!(small(&page), before);
    }
}

#[test]
fn c_key_needs_a_client() {
    let mut page = page(&trouble());
    press(&mut page, "5c");
    assert_eq!(last_line(&small(&page)), "no client is selected: see tabs 1 and 4");
    press(&mut page, "1c1<esc>");
    expect!["enter open · ? help · q quit · / filter · s sort · p pause · y copy · w note …"].assert_eq(last_line(&small(&page)));
}

#[test]
fn pause_freezes_the_page_and_shows_its_age() {
    let mut page = page(&(trouble() + "\n352s listening"));
    press(&mut page, "p");
    page.show(play(
        &(trouble() + "\n412s e connects as=apps/manager client=late/v1\n412s e1 GET /api/v1/pods\n412s e1 whole rv=61200 x@1010"),
    ));
    expect![[r"
        watchtap  kind-dev …            PAUSED, 1 m 0 s old · 1 stuck · 3 findings · UTC
        from etcd: 1 of 22 lists (2.1 MB returned), 1 get · 2 relists · 0 storms …
        observed 100 % · unparsed 0 · rows dropped 0
        on an API server restart: 1 of 2 watching reflectors would relist, perhaps 1 mo…
        1. restart elastic-operator, and update client-go there to 1.18.6 or later:
           stuck for 3 m 18 s at a revision that the API server has not reached
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
    assert_eq!(clients(&page).len(), 5);
    press(&mut page, "pr");
    assert_eq!(clients(&page).len(), 6);
    assert!(!small(&page).contains("PAUSED"));
}

#[test]
fn t_key_shows_local_times_and_their_zone() {
    let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let mut page = page(&storm()).with_local_zone(zone);
    press(&mut page, "3<enter>");
    let times = |page: &Page| {
        let screen = large(page);
        let line = screen.lines().find(|line| line.contains("began ")).unwrap_or_default();
        (screen.lines().next().unwrap_or_default().rsplit(" · ").next().unwrap_or_default().to_owned(), line.trim().to_owned())
    };
    expect![[r#"
        (
            "UTC",
            "times           began 12:01:40.000 · reported at 12:01:40.900 · last reflector joined 12:01:41.100",
        )"#]]
    .assert_eq(&format!("{:#?}", times(&page)));
    press(&mut page, "t");
    expect![[r#"
        (
            "CET +01:00",
            "times           began 13:01:40.000 · reported at 13:01:40.900 · last reflector joined 13:01:41.100",
        )"#]]
    .assert_eq(&format!("{:#?}", times(&page)));
    press(&mut page, "<esc>");
    assert!(large(&page).contains("13:01:40.000"), "{}", large(&page));
    press(&mut page, "t");
    assert!(large(&page).contains("12:01:40.000"), "{}", large(&page));
}

#[test]
fn t_key_reports_an_unknown_zone() {
    let mut page = page(&trouble());
    press(&mut page, "t");
    assert_eq!(last_line(&small(&page)), "the zone of this machine is unknown, so times are in UTC");
}

#[test]
fn findings_storms_and_relists_are_copied_as_notes() {
    let copied = |script: &str, keys: &str| {
        let mut page = page(script);
        let outcome = press(&mut page, keys);
        (outcome, last_line(&large(&page)).to_owned())
    };
    for (script, keys, title) in [
        (trouble(), "5w", "### Finding `stuck-reflector:"),
        (trouble(), "w", "### Finding `stuck-reflector:"),
        (storm(), "3w", "### Storm 1"),
    ] {
        let (Outcome::Copy(note), message) = copied(&script, keys) else { panic!("{keys}") };
        assert!(note.starts_with(title) && note.contains("**Change:**"), "{note}");
        assert_eq!(message, format!("copied: a note of {} lines in Markdown", note.lines().count()));
    }
    let refused = (Outcome::Stay, "not copied: a note is on a finding, a storm or a relist".to_owned());
    assert_eq!(copied(&trouble(), "2w"), refused);
    assert_eq!(copied(&trouble(), "4w"), refused);
}

#[test]
fn notes_are_written_to_files_and_the_result_is_shown() {
    let mut page = page(&trouble());
    let Outcome::Copy(copied) = press(&mut page, "5w") else { panic!("not copied") };
    let Outcome::Write(file) = press(&mut page, "W") else { panic!("not written") };
    assert_eq!((file.stem.as_str(), file.text.into_string()), ("watchtap-note-20260131T120551Z", copied));
    page.note_written(Ok(Path::new("watchtap-note-20260131T120551Z.md")));
    assert_eq!(last_line(&text(&drawn(&page, 60, 12))), "written to watchtap-note-20260131T120551Z.md");
    page.note_written(Err(&io::ErrorKind::PermissionDenied.into()));
    assert_eq!(last_line(&small(&page)), "not written to the current folder: permission denied");
    assert_eq!(press(&mut page, "2W"), Outcome::Stay);
    assert_eq!(last_line(&small(&page)), "not written: a note is on a finding, a storm or a relist");
}

#[test]
fn lists_and_watches_are_copied_as_commands() {
    let copied = |keys: &str| {
        let mut page = page(&trouble());
        let outcome = press(&mut page, keys);
        (outcome, last_line(&large(&page)).to_owned())
    };
    for (keys, command) in [
        ("jy", "/api/v1/pods?resourceVersion=1011"),
        ("/kube-rs<enter><enter>y", "/api/v1/namespaces/default/configmaps?resourceVersion=0&limit=500&labelSelector=app%3Dnginx"),
        ("2/deployments<enter>y", "/apis/apps/v1/deployments?resourceVersion=0"),
        (
            "2/verb:watch secrets<enter>y",
            "/api/v1/namespaces/kube-system/secrets?watch=true&resourceVersion=1000&allowWatchBookmarks=true&timeoutSeconds=500",
        ),
    ] {
        let command = format!("kubectl get --raw '{command}'");
        assert_eq!(copied(keys), (Outcome::Copy(command.clone()), format!("copied: {command}")), "{keys}");
    }
    for (keys, because) in [
        ("2/verb:get<enter>y", "only lists and watches can be repeated"),
        ("3y", "nothing is selected"),
        ("4y", "only lists and watches can be repeated: see tabs 1 and 2"),
        ("?y", "nothing is selected"),
    ] {
        assert_eq!(copied(keys), (Outcome::Stay, format!("not copied: {because}")), "{keys}");
    }
}

#[test]
fn removed_row_leaves_its_position_selected() {
    let mut page = page(&trouble());
    press(&mut page, "G");
    page.show(play(SILENCE));
    assert_eq!(press(&mut page, "kj<enter>"), Outcome::Stay);
    page.show(play(&trouble()));
    assert!(selected_line(&page).contains("elastic-operator"), "{}", selected_line(&page));
}

/// The first column.
fn clients(page: &Page) -> Vec<String> {
    let screen = small(page);
    let rows = screen.lines().skip_while(|line| !line.contains("CLIENT")).skip(1).take_while(|line| line.contains('/'));
    rows.map(|line| line.trim_start_matches('▸').split_whitespace().next().unwrap_or_default().to_owned()).collect()
}

fn selected_line(page: &Page) -> String {
    small(page).lines().find(|line| line.starts_with('▸')).unwrap_or_default().to_owned()
}

fn last_line(screen: &str) -> &str {
    screen.lines().last().unwrap_or_default()
}
