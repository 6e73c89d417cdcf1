//! The attached page of a probe, which has more rows than a screen.

use std::process::Command;

use observer_tests::{Screen, wait_within};

use crate::chart::installed::LIMIT;

/// Opens the page by this command, filters its reflectors, and waits until a row has this client. The order of rows changes while the page
/// is open, so without the filter the row may be beyond the screen.
#[track_caller]
pub(super) fn shows(attach: &Command, filter: &str, client: &str) {
    assert!(!filter.contains(client), "the page shows its filter, too");
    let mut screen = Screen::open(LIMIT).unwrap();
    screen.resize(160, 50).unwrap();
    let mut page = screen.start(attach).unwrap();
    screen.wait_for("[1 Reflectors(").unwrap();
    screen.press(&format!("/{filter}\r")).unwrap();
    // An error has the screen.
    screen.wait_for(&format!("filter {filter}: ")).unwrap();
    screen.wait_for(client).unwrap();
    screen.press("q").unwrap();
    assert_eq!(wait_within(&mut page, LIMIT).unwrap().code(), Some(0));
}
