//! Observations of traffic, written as text.
//!
//! A line is `TIME WORDS`; times count from [`START`]. Lines are played in the order of their times. Empty lines, and those that begin
//! with `#`, are ignored. A connection is a letter, and a request is that letter with a number:
//!
//! - `0s server v1.34.4` states the server's version; at `5s refusing` it starts to refuse connections, and stops at `7s listening`
//! - `0s a connects`, with `client=NAME/VERSION`, `as=NAMESPACE/SERVICEACCOUNT`, `pid=7`, `unit=UNIT`, and `pod=UID` or
//!   `pod=UID,NAMESPACE/NAME,CONTAINER` where they matter; a `+` in the client's name is a space. `5s a closed by server` and `5s a closed by client` cut everything that is open on it; after
//!   `5s a leaves` only the client's half is closed; `5s a goaway` comes from the server
//! - `1s a1 GET /api/v1/pods?limit=500&resourceVersion=0` makes a request; `in=TRACEPARENT` may follow
//! - `2s a1 whole rv=10 x@5 y@6` answers a list completely: its revision, and its items with their versions; `continue` after them
//!   means that pages follow. In a URL, `continue=@10` is a token of revision 10. `pod-*700@5` is 700 items with numbered names
//! - `2s a1 refused 504 Timeout` refuses the request; `too-large`, `retry-after=1` and `current=9` (the server's revision) may
//!   follow
//! - `2s a2 opens` accepts a watch; `3s a2 ADDED x@11`, `MODIFIED`, `DELETED`, `UNKNOWN`, `3s a2 BOOKMARK @12`,
//!   `3s a2 END-BOOKMARK @12` (of the initial events), `3s a2 ERROR 410 Expired` are events
//! - `4s a2 ends` ends a response normally; `4s a2 reset by server` and `4s a2 reset by client` reset its stream;
//!   `4s a2 bytes 7100` is bytes of the response, and `4s a2 missed 100` is bytes that were not observed
//! - `3s a5 PATCH /api/v1/namespaces/default/pods/x` writes (`POST` and `PUT` too), and `4s a5 written x@12` answers with the
//!   object, as to a `GET` of it
//! - `5s a2 blocked` uses up the window of a stream and `6s a2 unblocked` reopens it; `5s a blocked` and `6s a unblocked` do this
//!   to the client's socket
//! - `9s shutdown` requests the end of the run; at `9s tick` only time passes, and `1s ticks until=9s` is such a line for each second
//! - `9s unrecorded` is a span that a capture lacks
//! - `9s fault restart for=3s: it restarts` is a fault of a demo cluster, with the message before it

mod objects;
mod wire;

use observer_core::observation::{Observation, RunObservation, Subject};
use observer_core::time::Timestamp;
use std::time::Duration;

use crate::wire::Wire;

/// The start of each script, in nanoseconds since 1970: noon of a day in January 2026, UTC.
pub const START: u64 = 1_769_860_800_000_000_000;

/// The observations of `script`, in the order of their times.
///
/// # Panics
///
/// If a line is not of the language.
#[must_use]
pub fn observations(script: &str) -> Vec<Observation> {
    let written = script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut lines: Vec<(Duration, &str)> = written.flat_map(timed).collect();
    lines.sort_by_key(|(time, _)| *time);
    let mut wire = Wire::default();
    let mut observations = Vec::new();
    for (time, words) in lines {
        let at = at(time);
        observations.extend(wire.parse(at, words).into_iter().map(|subject| Observation { at, subject }));
    }
    observations
}

/// Only time passes, until `at`.
#[must_use]
pub const fn tick(at: Timestamp) -> Observation {
    Observation { at, subject: Subject::Run(RunObservation::Tick) }
}

/// The timestamp at `time` of a script.
#[must_use]
pub fn at(time: Duration) -> Timestamp {
    Timestamp::from_nanos(START).plus(time)
}

/// `TIME WORDS`, or a line per second.
fn timed(line: &str) -> Vec<(Duration, &str)> {
    let (time, words) = line.split_once(' ').unwrap_or_else(|| panic!("no words: {line:?}"));
    let time = duration(time);
    match words.strip_prefix("ticks until=") {
        Some(until) => (time.as_secs()..=duration(until).as_secs()).map(|second| (Duration::from_secs(second), "tick")).collect(),
        None => vec![(time, words)],
    }
}

fn duration(text: &str) -> Duration {
    humantime::parse_duration(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}
