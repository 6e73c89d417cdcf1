//! The widths of columns: they follow the content, and do not jump.

use expect_test::expect;

use super::screen::{drawn, lines_of, page, press};
use super::script::play;
use super::stories::trouble;
use crate::view::page::Page;

#[test]
fn least_valuable_columns_vanish_first_in_a_narrow_terminal() {
    let headings = |width: u16| headings(&page(&trouble()), width);
    expect!["  CLIENT                   RESOURCE        STATE     RELISTS  LAST CAUSE"].assert_eq(&headings(80));
    expect!["  CLIENT                   RESOURCE          STATE     IN STATE  RELISTS  LAST CAUSE"].assert_eq(&headings(100));
    expect!["  CLIENT                   RESOURCE          STATE     IN STATE  EVENTS/S  BEHIND  RELISTS  LAST CAUSE"]
        .assert_eq(&headings(140));
    expect!["  CLIENT                   RESOURCE          SCOPE                        STATE     IN STATE  EVENTS/S  BEHIND  EVENTS  RESUMES  RELISTS  LAST CAUSE                  UNCHANGED   BYTES"].assert_eq(&headings(200));
}

#[test]
fn client_is_complete_while_the_line_has_empty_cells() {
    let lines = lines_of(&drawn(&page(&trouble()), 80, 24));
    assert!(lines.iter().any(|line| line.contains("elastic-operator/1.18.2  ")), "{lines:#?}");
}

#[test]
fn columns_only_grow_until_the_reader_looks_at_something_else() {
    let mut page = page(&lists("a-controller-with-a-long-name"));
    let before = headings(&page, 100);
    page.show(play(&lists("a")));
    assert_eq!(headings(&page, 100), before);
    press(&mut page, "2");
    let _requests = headings(&page, 100);
    press(&mut page, "1");
    let after = headings(&page, 100);
    assert!(after.find("RESOURCE") < before.find("RESOURCE"), "{before}\n{after}");
    page.show(play(&lists("a-controller-with-a-longer-name")));
    let longer = headings(&page, 100);
    assert!(longer.find("RESOURCE") > before.find("RESOURCE"), "{before}\n{longer}");
}

#[test]
fn resized_terminal_computes_the_widths_again() {
    let mut page = page(&lists("a-controller-with-a-long-name"));
    let before = headings(&page, 100);
    page.show(play(&lists("a")));
    let resized = headings(&page, 101);
    assert!(resized.find("RESOURCE") < before.find("RESOURCE"), "{before}\n{resized}");
}

/// One client that lists pods.
fn lists(client: &str) -> String {
    format!(
        "0s server v1.34.4\n0s a connects as=apps/manager client={client}/v1\n0s a1 GET /api/v1/pods?limit=500&resourceVersion=0\n\
         0s a1 bytes 100\n0s a1 whole rv=10 x@5\n"
    )
}

fn headings(page: &Page, width: u16) -> String {
    let lines = lines_of(&drawn(page, width, 24));
    lines.into_iter().find(|line| line.contains("CLIENT  ")).unwrap_or_default()
}
