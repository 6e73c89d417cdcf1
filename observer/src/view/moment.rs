//! A moment in the life of a reflector, in words.

use observer_core::k8s::ResourceVersion;
use observer_core::reflector::{Happened, Moment};

use super::quantity::{counted, length, microseconds};

/// `requests a list, RV=0, limit=500`, `the watch was cancelled by the client`.
pub(super) fn words(moment: &Moment) -> String {
    match &moment.what {
        Happened::ListAsked { resource_version, limit, is_page, .. } => {
            let what = if *is_page { "requests the next page" } else { "requests a list" };
            let limit = if *limit > 0 { format!(", limit={limit}") } else { String::new() };
            format!("{what}, {}{limit}", asked_at(*resource_version))
        }
        Happened::ListCame { items, resource_version } => {
            format!("received {}{}", counted(*items, "object"), at_revision(resource_version))
        }
        Happened::WatchAsked { resource_version, initial_events, .. } => {
            let initial = if *initial_events { ", with initial events" } else { "" };
            format!("requests a watch, {}{initial}", asked_at(*resource_version))
        }
        Happened::WatchOpened => "the watch is open".to_owned(),
        Happened::InitialEventsEnded { items } => format!("the initial events are complete: {}", counted(*items, "event")),
        Happened::Delivered { events, bookmarks, resource_version, until } => {
            let what = delivered(*events, *bookmarks);
            let revision = resource_version.map_or_else(String::new, |revision| format!(", the newest at RV={revision}"));
            let lasted = until.since(moment.at);
            let lasted = if lasted.is_zero() { String::new() } else { format!(" within {}", length(lasted)) };
            format!("{what}{lasted}{revision}")
        }
        Happened::Failed { code, reason, message } => {
            // The API server repeats some reasons in the message: `Timeout: Too large resource version`.
            let repeated = message.strip_prefix(reason.as_str()).and_then(|rest| rest.strip_prefix(": "));
            let message = repeated.unwrap_or(message);
            let message = if message.is_empty() { String::new() } else { format!(": {message}") };
            format!("{code} {reason}{message}")
        }
        Happened::Stalled { by, .. } => format!("the client does not read: the API server waits for the {by}"),
        Happened::ClosedByForce { waiting } => {
            let waiting = waiting.map_or_else(String::new, |events| format!("; {} waited", counted(events, "event")));
            format!("the API server closes the watch by force, because the client reads too slowly{waiting}")
        }
        Happened::CacheReset => "the API server resets the watch cache, which ends the watch".to_owned(),
        Happened::ReadAgain { after_us } => format!("the client reads again, after {}", microseconds(*after_us)),
        Happened::ListBroke => "the list was cut off".to_owned(),
        Happened::WatchEnded { end } => format!("the watch {}", end.in_words()),
        Happened::ServerRefused { until: None } => "the API server refuses connections".to_owned(),
        Happened::ServerRefused { until: Some(until) } => {
            format!("the API server refused connections for {}", length(until.since(moment.at)))
        }
        Happened::NotObserved => "not observed until the next entry".to_owned(),
    }
}

fn asked_at(version: ResourceVersion) -> String {
    match version {
        ResourceVersion::Unset => "no RV".to_owned(),
        ResourceVersion::Any => "RV=0".to_owned(),
        ResourceVersion::At(revision) => format!("RV={revision}"),
        ResourceVersion::Invalid => "RV invalid".to_owned(),
    }
}

fn at_revision(version: &str) -> String {
    if version.is_empty() { String::new() } else { format!(", RV={version}") }
}

fn delivered(events: u64, bookmarks: u64) -> String {
    match (events, bookmarks) {
        (0, _) => counted(bookmarks, "bookmark"),
        (_, 0) => counted(events, "event"),
        _ => format!("{} and {}", counted(events, "event"), counted(bookmarks, "bookmark")),
    }
}

#[cfg(test)]
mod tests {
    use observer_core::time::Timestamp;

    use super::*;

    #[test]
    fn reason_is_not_repeated_before_a_message_that_begins_with_it() {
        for (reason, message, expected) in [
            ("Timeout", "Timeout: Too large resource version", "504 Timeout: Too large resource version"),
            ("Timeout", "Timeouts happen", "504 Timeout: Timeouts happen"),
            ("Timeout", "", "504 Timeout"),
        ] {
            let what = Happened::Failed { code: 504, reason: reason.to_owned(), message: message.to_owned() };
            assert_eq!(words(&Moment { at: Timestamp::default(), what }), expected);
        }
    }
}
