//! The logs of which a report is made: what they show, and what is left out.

use observer_core::logs::{AuditLevel, AuditStage, LogExtent};
use observer_core::observation::JoinedRequests;
use observer_core::observer::Snapshot;
use observer_core::time::Timestamp;
use serde::Serialize;

use super::colour::Tone;
use super::quantity::{count, counted, counted_as};
use crate::log_files::LogZone;

/// The facts that no log has.
const NO_BODIES: &str = "logs have no bytes and no connections, and their bodies are not read: numbers of objects, events, bookmarks and bytes \
                         are unknown (? or left out), and a connection stands for a client";

/// The logs of which a report is made.
#[derive(Clone, Debug, Default)]
pub struct RunLog {
    /// Their extent.
    pub extent: LogExtent,
    /// The year and the zone of lines that state neither.
    pub zone: LogZone,
}

/// The logs of a report as JSON.
#[derive(Serialize)]
pub(super) struct LogJson<'l> {
    kind: &'static str,
    #[serde(flatten)]
    extent: &'l LogExtent,
    /// The year of lines without one; `None` for that in which the file was changed last.
    year: Option<u16>,
    /// The zone of lines without one, as in `+02:00`.
    utc_offset: String,
    /// The version with which verdicts are made; `None` if none is known, and there are no verdicts.
    version: Option<String>,
    /// Where the version comes from.
    version_from: Option<String>,
}

impl<'l> LogJson<'l> {
    pub(super) fn of(log: &'l RunLog, snapshot: &Snapshot) -> Self {
        let RunLog { extent, zone } = log;
        let profile = &snapshot.profile;
        let version = profile.version.as_ref().map(ToString::to_string);
        let version_from = version.is_some().then(|| profile.provenance.version.to_string());
        let utc_offset = offset(zone.utc_offset_seconds.unwrap_or(0));
        Self { kind: kind(extent), extent, year: zone.year, utc_offset, version, version_from }
    }
}

/// The lines about logs as text.
pub(crate) fn log_lines(log: &RunLog, snapshot: &Snapshot) -> Vec<String> {
    head(log, snapshot).into_iter().map(|(_, line)| line).collect()
}

/// `watch started (1 line), reflector line (3 lines)`: the lines that are no audit events. `None` if there are none.
pub(crate) fn recognised_lines(extent: &LogExtent) -> Option<String> {
    let forms: Vec<String> = extent.forms.iter().map(|(form, lines)| format!("{form} ({})", counted(*lines, "line"))).collect();
    (!forms.is_empty()).then(|| forms.join(", "))
}

/// The lines about logs that were read beside a capture.
pub(crate) fn log_notes(log: &RunLog) -> Vec<String> {
    let RunLog { extent, zone } = log;
    let times = extent.has_incomplete_times.then(|| incomplete_times(*zone));
    [shown(extent)]
        .into_iter()
        .chain(times)
        .chain(cache_resets(extent))
        .chain(closed_by_force(extent))
        .chain(without_end(extent))
        .chain(left_out(extent))
        .collect()
}

/// The lines about requests that were joined with those in the logs of the API server; none without such logs.
pub(super) fn joined(snapshot: &Snapshot) -> Vec<(Tone, String)> {
    let Some(requests) = snapshot.totals.joined else { return Vec::new() };
    let JoinedRequests { joined, without_event, without_id, ambiguous, only_logged, given_up } = requests;
    let all = [joined, without_event, without_id, ambiguous].into_iter().fold(0, u64::saturating_add);
    let parts = [
        (without_event, "no event in it", "no event in it"),
        (without_id, "no audit ID", "no audit ID"),
        (ambiguous, "the audit ID of another request", "the audit IDs of other requests"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, several)| format!("{} {}", counted_as(number, "has", "have"), if number == 1 { one } else { several }))
        .collect();
    let rest = if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) };
    let tone = if joined == 0 && all > 0 { Tone::Bad } else { Tone::Plain };
    let mut lines = vec![(tone, format!("audit log: it has {} of {}{rest}", count(joined), counted(all, "request")))];
    if only_logged > 0 {
        let others = counted(only_logged, "other request");
        lines
            .push((Tone::Notable, format!("audit log: {others} of this time did not pass watchtap: not among the requests below")));
    }
    if given_up > 0 {
        lines.push((
            Tone::Bad,
            format!("audit log: {} not compared, for lack of room", counted_as(given_up, "request was", "requests were")),
        ));
    }
    lines
}

/// The lines about logs at the head of a report.
pub(super) fn head(log: &RunLog, snapshot: &Snapshot) -> Vec<(Tone, String)> {
    let RunLog { extent, zone } = log;
    let mut lines = vec![(Tone::Plain, shown(extent))];
    let envelopes: Vec<String> =
        extent.envelopes.iter().map(|(envelope, lines)| format!("{} ({})", envelope.name(), counted(*lines, "line"))).collect();
    if !envelopes.is_empty() {
        lines.push((Tone::Plain, format!("envelopes: {}", envelopes.join(", "))));
    }
    if let Some(forms) = recognised_lines(extent) {
        lines.push((Tone::Plain, format!("other lines: {forms}")));
    }
    if extent.has_incomplete_times {
        lines.push((Tone::Plain, incomplete_times(*zone)));
    }
    if extent.own > 0 {
        let own = counted(extent.own, "request");
        lines.push((
            Tone::Plain,
            format!(
                "{own} of API servers themselves (system:apiserver, or kube-apiserver without a user): not among the requests below"
            ),
        ));
    }
    if extent.restarts > 0 {
        let restarts = counted_as(extent.restarts, "restart", "restarts");
        lines.push((Tone::Notable, format!("{restarts} of an API server, whose log lacks the ends of its requests")));
    }
    lines.extend(cache_resets(extent).map(|line| (Tone::Notable, line)));
    lines.extend(closed_by_force(extent).map(|line| (Tone::Notable, line)));
    if snapshot.profile.version.is_none() {
        lines.push((Tone::Notable, no_version(extent)));
    }
    lines.extend(without_end(extent).map(|line| (Tone::Notable, line)));
    lines.push((Tone::Notable, NO_BODIES.to_owned()));
    if !extent.stages.is_empty() && !extent.stages.contains(&AuditStage::ResponseStarted) {
        lines.push((Tone::Notable, "the log has no stage ResponseStarted: a watch is known only after its end".to_owned()));
    }
    lines.extend(left_out(extent).map(|line| (Tone::Bad, line)));
    lines
}

/// The consequence of a missing version, and the versions that the API servers state.
fn no_version(extent: &LogExtent) -> String {
    let stated: Vec<&str> = extent.server_versions.iter().map(String::as_str).collect();
    let stated = if stated.is_empty() {
        String::new()
    } else {
        format!("; requests of API servers to themselves state {}", stated.join(", "))
    };
    format!("no version given (--server-version): the layer is predicted only where all versions agree{stated}")
}

/// The watches of versions that log them as they open.
fn without_end(extent: &LogExtent) -> Option<String> {
    let watches = counted_as(extent.without_end, "watch was logged as it opened", "watches were logged as they opened");
    (extent.without_end > 0)
        .then(|| format!("{watches} (kube-apiserver 1.30.0 to 1.30.3, issue 125614): such a log has no ends of watches"))
}

/// The year and the zone of lines that state neither, and the flags that set what is assumed.
fn incomplete_times(zone: LogZone) -> String {
    let offset = match zone.utc_offset_seconds {
        Some(0) | None => "UTC".to_owned(),
        Some(seconds) => format!("UTC{}", offset(seconds)),
    };
    let year = zone.year.map_or_else(|| "the year of the file's last change".to_owned(), |year| year.to_string());
    let assumed = match (zone.utc_offset_seconds, zone.year) {
        (None, None) => " (assumed: --utc-offset, --year)",
        (None, Some(_)) => " (UTC is assumed: --utc-offset)",
        (Some(_), None) => " (the year is assumed: --year)",
        (Some(_), Some(_)) => "",
    };
    format!("times without year and zone: those of {offset}, in {year}{assumed}")
}

/// `+02:00`.
fn offset(seconds: i32) -> String {
    let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs() / 60);
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// `1 reset of a watch cache, which ended its watches`.
fn cache_resets(extent: &LogExtent) -> Option<String> {
    let resets = counted_as(extent.cache_resets, "reset of a watch cache", "resets of watch caches");
    (extent.cache_resets > 0)
        .then(|| format!("{resets}: the watches of its resource that ended within a second count as ended by it"))
}

/// `4 watches were closed by force …: 1 fits several watches of the log, and 1 fits none`.
fn closed_by_force(extent: &LogExtent) -> Option<String> {
    let LogExtent { closed_by_force: joined, ambiguous_closes: ambiguous, unmatched_closes: unmatched, .. } = *extent;
    let all = joined.saturating_add(ambiguous).saturating_add(unmatched);
    let fits = |number: u64, what: &str| (number > 0).then(|| format!("{} {what}", counted_as(number, "fits", "fit")));
    let unclear = [fits(ambiguous, "several watches of the log"), fits(unmatched, "no open watch of the log")];
    let unclear = unclear.into_iter().flatten().collect::<Vec<_>>().join(", and ");
    let unclear = if unclear.is_empty() { unclear } else { format!(": {unclear}") };
    let closed = counted_as(all, "watch was closed by force", "watches were closed by force");
    (all > 0).then(|| format!("{closed}, because clients read too slowly{unclear}"))
}

/// The parts of logs that are left out, and their numbers.
fn left_out(extent: &LogExtent) -> impl Iterator<Item = String> {
    [
        (extent.not_understood, "line is not understood", "lines are not understood"),
        (extent.too_long, "line is longer than 16 MiB", "lines are longer than 16 MiB"),
        (extent.cut, "event was cut by EKS", "events were cut by EKS"),
        (extent.torn_traces, "part of a trace lacks the rest of it", "parts of traces lack the rest of them"),
        (extent.without_time, "event has no time", "events have no time"),
        (
            extent.repeated,
            "event repeats another, or came after the end of its request",
            "events repeat others, or came after the end of their request",
        ),
        (
            extent.same_ids,
            "request has the audit ID of another one, and is distinguished by its URI",
            "requests have the audit IDs of others, and are distinguished by their URIs",
        ),
        (extent.late, "event came too late to be put in order", "events came too late to be put in order"),
        (extent.given_up, "open request was given up, as too many were open", "open requests were given up, as too many were open"),
        (
            extent.unpaired,
            "answer in the log of a client is left out, as it fits several requests or none",
            "answers in the log of a client are left out, as they fit several requests or none",
        ),
    ]
    .into_iter()
    .filter(|(number, ..)| *number > 0)
    .map(|(number, one, several)| counted_as(number, one, several))
}

/// `audit log, level Metadata, stages ResponseStarted, ResponseComplete, from … until …: 7 requests`.
fn shown(extent: &LogExtent) -> String {
    let levels: Vec<&str> = extent.levels.iter().map(|level| level_name(*level)).collect();
    let stages: Vec<&str> = extent.stages.iter().map(|stage| stage_name(*stage)).collect();
    let span = match (extent.from, extent.until) {
        (Some(from), Some(until)) => format!(", from {} until {}", to_the_millisecond(from), to_the_millisecond(until)),
        (_, _) => String::new(),
    };
    let requests = counted(extent.requests, "request");
    if extent.events == 0 {
        return format!("{}{span}: {requests}", kind(extent));
    }
    format!("audit log, level {}, stages {}{span}: {requests}", levels.join(", "), stages.join(", "))
}

/// `2026-11-22T02:00:00.123Z`.
fn to_the_millisecond(at: Timestamp) -> String {
    let text = at.to_string();
    text.get(..23).map_or_else(|| text.clone(), |start| format!("{start}Z"))
}

/// The kind of the logs.
const fn kind(extent: &LogExtent) -> &'static str {
    if extent.events > 0 { "audit" } else { "log without audit events" }
}

const fn level_name(level: AuditLevel) -> &'static str {
    match level {
        AuditLevel::Metadata => "Metadata",
        AuditLevel::Request => "Request",
        AuditLevel::RequestResponse => "RequestResponse",
        AuditLevel::Unknown => "unknown",
    }
}

const fn stage_name(stage: AuditStage) -> &'static str {
    match stage {
        AuditStage::RequestReceived => "RequestReceived",
        AuditStage::ResponseStarted => "ResponseStarted",
        AuditStage::ResponseComplete => "ResponseComplete",
        AuditStage::Panic => "Panic",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn year_and_zone_are_stated_as_given_or_as_assumed() {
        let shown = |year, utc_offset_seconds| incomplete_times(LogZone { year, utc_offset_seconds });
        let times = "times without year and zone: those of";
        assert_eq!(
            shown(None, None),
            format!("{times} UTC, in the year of the file's last change (assumed: --utc-offset, --year)")
        );
        assert_eq!(shown(Some(2024), Some(-12_600)), format!("{times} UTC-03:30, in 2024"));
        assert_eq!(shown(Some(2024), None), format!("{times} UTC, in 2024 (UTC is assumed: --utc-offset)"));
        assert_eq!(
            shown(None, Some(0)),
            format!("{times} UTC, in the year of the file's last change (the year is assumed: --year)")
        );
    }
}
