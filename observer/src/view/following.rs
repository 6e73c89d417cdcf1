//! Reflectors, storms and findings in words, for lines and reports.

use std::time::Duration;

use observer_core::exchange::{Client, Shape};
use observer_core::observer::{Exposure, Finding};
use observer_core::reflector::{
    ListEvent, Polling, PollingKind, ReflectorRow, ReflectorState, Repeats, ResumeEvent, StallEvent, StuckEvent, TroubleEvent,
    cause_label,
};
use observer_core::storm::{StormKind, StormRecord};
use observer_core::time::Timestamp;

use super::quantity::{bytes, count, counted, length, microseconds};
use super::verdict::marked;

/// Members of a storm named in a line.
const MEMBERS_NAMED: usize = 3;

/// `my-controller/0.3 pods all namespaces: first list → 1,704 objects 7.1 MB 90 ms  ~ cache  list-rv0`.
pub(super) fn initial_list(list: &ListEvent) -> String {
    format!(
        "{}: first list → {} {} {}{}",
        subject(&list.client, &list.shape),
        counted(list.items, "object"),
        bytes(list.bytes),
        microseconds(list.took_us),
        served(list),
    )
}

/// `cause=expired/no-bookmarks → 1,704 objects (1,586 unchanged) 7.1 MB 90 ms  ~ cache  list-rv0`.
pub(super) fn relist(list: &ListEvent) -> String {
    let cause = list.cause.map_or_else(String::new, |cause| format!(" cause={cause}"));
    let at_least = if list.repeats.at_least { "≥ " } else { "" };
    format!(
        "{}{cause} → {at_least}{} ({} unchanged) {} {}{}",
        subject(&list.client, &list.shape),
        counted(list.items, "object"),
        unchanged(list.repeats),
        bytes(list.bytes),
        microseconds(list.took_us),
        served(list),
    )
}

/// The layer that answered a list, and the rule.
fn served(list: &ListEvent) -> String {
    let layer = list.served_from.as_ref().map_or_else(String::new, |layer| format!("  {}", marked(list.certainty, layer)));
    let rule = list.rule.map_or_else(String::new, |rule| format!("  {rule}"));
    layer + &rule
}

pub(super) fn resume(resume: &ResumeEvent) -> String {
    let from = resume.resource_version.map_or_else(String::new, |revision| format!(" from RV={revision}"));
    let (paused, before) = (microseconds(resume.paused_us), resume.after.in_words());
    let tried = if resume.attempts > 0 { format!(" and {}", counted(resume.attempts, "attempt")) } else { String::new() };
    format!("{}{from} after {paused}{tried}, without a list; the previous watch {before}", subject(&resume.client, &resume.shape))
}

pub(super) fn stuck(stuck: &StuckEvent) -> String {
    let reached = stuck.current.map_or_else(String::new, |current| format!(" (it is at RV={current})"));
    format!(
        "{} requests RV={} and was refused {} times in {}: the API server has not reached it{reached}",
        subject(&stuck.client, &stuck.shape),
        stuck.resource_version,
        count(stuck.refusals),
        length(stuck.at.since(stuck.since)),
    )
}

/// `slow/1.0 pods all namespaces has not read for 1.0 s: the API server waits for the flow-control window of the stream`.
pub(super) fn stalled(stall: &StallEvent) -> String {
    let lasted = microseconds(stall.lasted_us);
    format!("{} has not read for {lasted}: the API server waits for the {}", subject(&stall.client, &stall.shape), stall.by)
}

pub(super) fn stall_ended(stall: &StallEvent) -> String {
    format!("{}: stall ended after {}", subject(&stall.client, &stall.shape), microseconds(stall.lasted_us))
}

/// `deaf-watch: log-shipper/1.0 pods all namespaces: nothing came for 3 m 10 s; …`.
pub(super) fn trouble(trouble: &TroubleEvent) -> String {
    format!("{}: {}: {}", trouble.trouble, subject(&trouble.client, &trouble.shape), trouble.seen)
}

pub(super) fn trouble_ended(trouble: &TroubleEvent) -> String {
    let lasted = length(trouble.at.since(trouble.since));
    format!("{}: {}: over after {lasted}", trouble.trouble, subject(&trouble.client, &trouble.shape))
}

/// `begins: 31 reflectors of 12 clients relist within 0.8 s, trigger=api-server-restart`.
pub(super) fn storm_began(storm: &StormRecord) -> String {
    format!(
        "begins: {} of {} relist within {}, trigger={}",
        counted(storm.reflectors, "reflector"),
        clients(storm),
        length(storm.named.since(storm.began)),
        storm.trigger,
    )
}

pub(super) fn storm_ended(storm: &StormRecord) -> String {
    format!("ended; its members joined within {}: {}", length(lasted(storm)), storm_account(storm))
}

/// `31 reflectors of 12 clients, 40 relists (cache: 40), peak 12 a second, 52,000 objects (48,100 unchanged), 210 MB, trigger=…`.
fn storm_account(storm: &StormRecord) -> String {
    format!(
        "{} of {}, {} ({}), peak {} a second, {} ({} unchanged), {}, trigger={}{}",
        counted(storm.reflectors, "reflector"),
        clients(storm),
        counted(storm.relists, "relist"),
        layers(storm),
        count(storm.peak_per_second),
        counted(storm.items, "object"),
        count(storm.repeated),
        bytes(storm.bytes),
        storm.trigger,
        without_list(storm).map_or_else(String::new, |members| format!("; still without a list: {members}")),
    )
}

/// `cache: 40 · etcd: 2 · not complete when the storm ended: 1`: all lists of a storm.
pub(super) fn layers(storm: &StormRecord) -> String {
    let known: u64 = storm.served_from.values().sum();
    let unknown = storm.complete.saturating_sub(known);
    let unknown = (unknown > 0).then(|| format!("unknown: {}", count(unknown)));
    let incomplete = storm.relists.saturating_sub(storm.complete);
    let then = if storm.ended.is_some() { " when the storm ended" } else { "" };
    let incomplete = (incomplete > 0).then(|| format!("not complete{then}: {}", count(incomplete)));
    let layers = storm.served_from.iter().map(|(layer, lists)| format!("{layer}: {}", count(*lists)));
    let words: Vec<String> = layers.chain(unknown).chain(incomplete).collect();
    if words.is_empty() { "-".to_owned() } else { words.join(" · ") }
}

/// The members of an ended storm that still have no complete list: some names, and the number of the others.
pub(super) fn without_list(storm: &StormRecord) -> Option<String> {
    if storm.ended.is_none() || storm.without_list == 0 {
        return None;
    }
    let named: Vec<String> =
        storm.unlisted.iter().take(MEMBERS_NAMED).map(|member| subject(&member.client, &member.shape)).collect();
    let others = storm.without_list.saturating_sub(named.len() as u64);
    let others = (others > 0).then(|| format!("{} more", count(others)));
    Some(named.into_iter().chain(others).collect::<Vec<_>>().join(", "))
}

/// How long a storm has lasted: until the last of its members joined.
pub(super) fn lasted(storm: &StormRecord) -> Duration {
    storm.last.since(storm.began)
}

/// The line for a storm in a report.
pub(super) fn storm(storm: &StormRecord) -> String {
    let state = if storm.ended.is_some() { "" } else { " (ongoing)" };
    format!("storm {}{state}: members joined within {}: {}", storm.storm, length(lasted(storm)), storm_account(storm))
}

fn clients(storm: &StormRecord) -> String {
    match storm.kind {
        StormKind::Client => "one client".to_owned(),
        StormKind::Clients => counted(storm.clients, "client"),
    }
}

/// `my-controller/0.3 pods all namespaces`.
pub(super) fn subject(client: &Client, shape: &Shape) -> String {
    subject_of(&super::client::program(client), shape)
}

/// The same for a client that has a name.
pub(super) fn subject_of(client: &str, shape: &Shape) -> String {
    let scope = shape.scope.as_ref().map_or_else(String::new, |scope| format!(" {scope}"));
    let options = if shape.options.is_empty() { String::new() } else { format!(" {}", shape.options) };
    format!("{client} {}{scope}{options}", shape.resource)
}

/// `1,586`, `~ 1,586 ± 40`, with `≥` if some of the traffic was not seen.
pub(super) fn unchanged(repeats: Repeats) -> String {
    let least = if repeats.at_least { "≥ " } else { "" };
    match repeats.error {
        0 => format!("{least}{}", count(repeats.repeated)),
        error => format!("{least}~ {} ± {}", count(repeats.repeated), count(error)),
    }
}

/// The reflector's state. A poller between two lists has a word of its own, since no watch will follow.
pub(super) const fn state(row: &ReflectorRow) -> &'static str {
    match row.state {
        ReflectorState::Stuck => "stuck",
        ReflectorState::Listing => "listing",
        ReflectorState::Listed => match row.polling {
            Some(Polling { kind: PollingKind::Wait, .. }) => "waited",
            Some(Polling { kind: PollingKind::Polls | PollingKind::Poller | PollingKind::HotLoop, .. }) => "polling",
            None => "listed",
        },
        ReflectorState::Waiting if row.client_left => "gone",
        ReflectorState::Waiting => "watch ended",
        ReflectorState::Stalled => "stalled",
        ReflectorState::Watching => "watching",
    }
}

/// `polls every 2.0 s for 40 s`, `waited 5 m 0 s, one list every 2.0 s`.
pub(super) fn polling(polling: &Polling) -> String {
    let (every, lasted) = (microseconds(polling.every_us), length(polling.lasted()));
    let how = match polling.kind {
        PollingKind::Wait => format!("waited {lasted}, one list every {every}"),
        PollingKind::Polls | PollingKind::Poller => format!("polls every {every} for {lasted}"),
        PollingKind::HotLoop => format!("lists in a loop, every {every} for {lasted}"),
    };
    format!("{how} ({}, ± {}, no watch)", counted(polling.lists, "list"), microseconds(polling.jitter_us))
}

/// The cause of the relist under way, otherwise of the last complete relist. If there is neither, the most frequent cause of
/// attempts; `-` if there is none.
pub(super) fn last_cause(row: &ReflectorRow) -> String {
    if let Some(cause) = &row.relisting {
        return format!("relisting: {}", cause_label(cause));
    }
    if let Some(relist) = &row.last_relist {
        return relist.cause.map_or_else(|| "-".to_owned(), |cause| cause_label(&cause.id()));
    }
    let attempted = row.causes.iter().max_by_key(|(_, number)| **number);
    attempted.map_or_else(|| "-".to_owned(), |(cause, _)| cause_label(cause))
}

/// The client and the shape of a finding, and its evidence.
pub(super) fn seen(finding: &Finding) -> String {
    let whose = finding.client.as_ref().map(|client| subject(client, &finding.shape));
    let whose = whose.unwrap_or_else(|| finding.shape.to_string());
    format!("{whose}: {}", finding.seen)
}

/// The cost of a restart of the API server; `None` if no reflector watches.
pub(super) fn exposure(exposure: &Exposure) -> Option<String> {
    (exposure.watching > 0).then(|| {
        format!(
            "on an API server restart: {} of {} watching reflectors would relist ({}, {}), and perhaps {} more, if there were writes that watchtap did not see",
            count(exposure.reflectors),
            count(exposure.watching),
            counted(exposure.items, "object"),
            bytes(exposure.bytes),
            count(exposure.perhaps),
        )
    })
}

/// How long a state has lasted, to the second; `<1 s` below one second.
pub(super) fn age(since: Timestamp, now: Timestamp) -> String {
    let age = now.since(since);
    if age < Duration::from_secs(1) { "<1 s".to_owned() } else { length(Duration::from_secs(age.as_secs())) }
}
