//! Plays a script of traffic in the language of `observer_script`, and prints events and rows as text.
//!
//! The run ends two seconds after the script's last line.

use expect_test::Expect;
use observer_core::observer::{Event, Limits, Observer, Snapshot};
use observer_core::reflector::{ListEvent, ReflectorRow, Repeats};
use observer_core::time::Timestamp;
use observer_script::{START, observations, tick};
use std::time::Duration;

/// Plays `script`, and compares the events about reflectors and their final rows with `expected`.
#[track_caller]
pub(crate) fn check(script: &str, expected: &Expect) {
    let (snapshot, events) = play(script, Limits::default());
    let emitted = events.iter().filter_map(describe);
    let mut rows: Vec<&ReflectorRow> = snapshot.reflectors.iter().collect();
    rows.sort_by_key(|row| row.reflector);
    let rows = rows.into_iter().map(row);
    let text: String = emitted.chain(rows).map(|line| line + "\n").collect();
    expected.assert_eq(&text);
}

/// Plays `script`. Returns the final snapshot and all events.
pub(crate) fn play(script: &str, limits: Limits) -> (Snapshot, Vec<Event>) {
    let mut observer = Observer::new(limits);
    let mut events = Vec::new();
    let mut last = Timestamp::from_nanos(START);
    for observation in observations(script) {
        last = observation.at;
        observer.observe(observation, &mut |event| events.push(event));
    }
    observer.observe(tick(last.plus(Duration::from_secs(2))), &mut |event| events.push(event));
    (observer.snapshot(), events)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "events that are not about reflectors are not shown")]
fn describe(event: &Event) -> Option<String> {
    Some(match event {
        Event::InitialList { list } => listed("initial-list", list),
        Event::Relist { list } => listed("relist", list),
        Event::RelistBegan { began } => format!("{} relist-began {} cause={}", seconds(began.at), began.reflector, began.cause),
        Event::Resume { resume } => {
            let from = resume.resource_version.map_or_else(|| "?".to_owned(), |revision| revision.to_string());
            format!("{} resume {} rv={from}: the watch before {}", seconds(resume.at), resume.reflector, resume.after.in_words())
        }
        Event::Stuck { stuck } => {
            let current = stuck.current.map_or_else(String::new, |current| format!(" current={current}"));
            let (at, rv) = (seconds(stuck.at), stuck.resource_version);
            format!("{at} stuck {} rv={rv}{current} refusals={}", stuck.reflector, stuck.refusals)
        }
        Event::TroubleBegan { trouble } => {
            format!("{} {} {}: {}", seconds(trouble.at), trouble.trouble, trouble.reflector, trouble.seen)
        }
        Event::TroubleEnded { trouble } => format!("{} {} {} is over", seconds(trouble.at), trouble.trouble, trouble.reflector),
        Event::Stalled { stall } => format!("{} stalled {} by {}", seconds(stall.at), stall.reflector, stall.by),
        Event::StallEnded { stall } => {
            format!("{} reads again {} after {}s", seconds(stall.at), stall.reflector, stall.lasted_us / 1_000_000)
        }
        _ => return None,
    })
}

fn listed(what: &str, list: &ListEvent) -> String {
    let cause = list.cause.map_or_else(String::new, |cause| format!(" cause={cause}"));
    let served = list.served_from.as_ref().map_or_else(|| "?".to_owned(), ToString::to_string);
    let fallback = list
        .fallback_after
        .map_or_else(String::new, |status| format!(" in place of a streaming list refused with {status}, from {served}"));
    format!(
        "{} {what} {}{cause} requests={} items={} known={}{fallback}",
        seconds(list.ended_at),
        list.reflector,
        list.requests,
        list.items,
        known(list.repeats),
    )
}

fn known(repeats: Repeats) -> String {
    let more = if repeats.at_least { "+" } else { "" };
    let error = if repeats.error > 0 { format!("±{}", repeats.error) } else { String::new() };
    format!("{}{error}{more}/{}", repeats.repeated, repeats.objects)
}

fn row(row: &ReflectorRow) -> String {
    let state = format!("{:?}", row.state).to_lowercase();
    let revision = row.resource_version.map_or_else(String::new, |revision| format!(" rv={revision}"));
    let age = row.age.map_or_else(String::new, |age| format!(" age={age:?}"));
    format!(
        "{} client {} {} {state}{revision}{age} lists={} watches={} resumes={} relists={} known={}",
        row.reflector,
        row.client_id,
        row.shape,
        row.list_requests,
        row.watch_requests,
        row.resumes,
        row.relists,
        known(row.repeats),
    )
}

pub(crate) fn seconds(at: Timestamp) -> String {
    let since = at.since(Timestamp::from_nanos(START));
    if since.subsec_millis() == 0 { format!("{}s", since.as_secs()) } else { format!("{}ms", Duration::as_millis(&since)) }
}
