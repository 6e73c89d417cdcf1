//! One test per minor, so that a run can select minors.

use observer_tests::Minor;

use super::configuration::Configuration;
use super::results::Results;
use super::row::Takes;
use super::session::{About, Session};
use super::{aggregated, compaction, late, not_ready, rows};

#[test]
fn matrix_of_1_29() {
    check(Minor(29));
}

#[test]
fn matrix_of_1_31() {
    check(Minor(31));
}

#[test]
fn matrix_of_1_33() {
    check(Minor(33));
}

#[test]
fn matrix_of_1_34() {
    check(Minor(34));
}

#[test]
fn matrix_of_1_36() {
    check(Minor(36));
}

#[test]
fn matrix_of_1_37() {
    check(Minor(37));
}

/// Runs all configurations of a minor in sequence.
#[track_caller]
fn check(minor: Minor) {
    let mut results = Results::of(minor);
    for configuration in Configuration::all_of(minor) {
        let tap_flags: Vec<&str> = configuration.tap_flags.iter().map(String::as_str).collect();
        let mut session = Session::start(&configuration.options(minor), &tap_flags);
        ask_all(&mut session, &configuration);
        results.add(session);
    }
    aggregated::check(minor, &mut results);
    compaction::check(minor, &mut results);
    not_ready::check(minor, &mut results);
    late::check(minor, &mut results);
    results.finish();
}

/// Rows that wait are asked only where the answer differs: for each resource of the default configuration, and for the usual
/// resource elsewhere.
fn ask_all(session: &mut Session, configuration: &Configuration) {
    for resource in &configuration.resources {
        session.fill(resource);
        let about = About::new(resource, &configuration.name);
        let mut ground = session.prepare(resource);
        for row in rows::all().filter(|row| row.takes == Takes::Moments) {
            session.ask(row, &about, &ground);
        }
        // A revision is certain to be kept for 75 s after it was current.
        ground = session.prepare(resource);
        for row in rows::all().filter(|row| row.takes == Takes::TheWait) {
            session.ask(row, &about, &ground);
        }
    }
}
