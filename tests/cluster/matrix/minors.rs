//! One test per minor, so that a run can select minors.

use std::sync::Mutex;
use std::thread::{self, ScopedJoinHandle};

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

/// Runs all configurations of a minor.
#[track_caller]
fn check(minor: Minor) {
    let mut results = results_of_all(minor);
    aggregated::check(minor, &mut results);
    compaction::check(minor, &mut results);
    not_ready::check(minor, &mut results);
    late::check(minor, &mut results);
    results.finish();
}

/// Number of configurations that run at the same time. Each has its own servers, and most of its requests wait.
const AT_ONCE: usize = 2;

/// The results of all configurations, in their order.
fn results_of_all(minor: Minor) -> Results {
    let configurations = Configuration::all_of(minor);
    let waiting = Mutex::new(configurations.iter().enumerate());
    let next = || waiting.lock().unwrap().next();
    let work = || std::iter::from_fn(next).map(|(place, configuration)| (place, results_of(minor, configuration))).collect();
    let mut finished: Vec<(usize, Results)> = thread::scope(|scope| {
        let workers: Vec<ScopedJoinHandle<'_, Vec<_>>> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    finished.sort_by_key(|(place, _)| *place);
    let mut all = Results::of(minor);
    for (_, results) in finished {
        all.append(results);
    }
    all
}

fn results_of(minor: Minor, configuration: &Configuration) -> Results {
    let tap_flags: Vec<&str> = configuration.tap_flags.iter().map(String::as_str).collect();
    let mut session = Session::start(&configuration.options(minor), &tap_flags);
    ask_all(&mut session, configuration);
    let mut results = Results::of(minor);
    results.add(session);
    results
}

/// Sends all rows. Rows that wait are sent only for each resource of the default configuration, and for the usual resource of the
/// others: elsewhere, the answer would be the same.
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
