//! Snapshots of the screens.

use expect_test::expect;
use observer_core::observer::{Limits, Observer};

use super::*;

#[test]
fn silent_run_says_what_that_usually_means() {
    let run = Run {
        subcommand: "exec",
        command: vec!["kubectl".to_owned(), "version".to_owned()],
        exit_code: Some(0),
        silence: vec!["Nothing came through.".to_owned()],
        notes: vec!["a note".to_owned()],
    };
    let text = report_text(&run, &Observer::new(Limits::default()).snapshot(), Colour::Off);
    expect![[r"
        watchtap exec: kubectl version   API server: version not known; gates assumed default; etcd answers progress requests (assumed)   0 µs

        0 of 0 lists read etcd in bulk · 0 watches · 0 requests · 0 B
        not seen: nothing · not understood: nothing
        note: a note

        Nothing came through.
    "]]
    .assert_eq(&text);
}
