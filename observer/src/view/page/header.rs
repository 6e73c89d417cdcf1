//! The lines above the tables: current problems, the API server, the losses, and the cost of a restart.

use std::time::Duration;

use observer_core::observer::{Exposure, Missed, Snapshot};
use observer_core::reflector::ReflectorState;
use observer_core::storm::StormRecord;
use observer_core::time::PerSecond;

use super::about::dropped;
use super::history::{MOST_SPANS, Span};
use super::line::Line;
use super::state::Page;
use crate::view::colour::Tone;
use crate::view::etcd;
use crate::view::following;
use crate::view::missed::{connections, not_exported, not_seen, not_understood};
use crate::view::problems::lasting_outages;
use crate::view::quantity::{bytes, count, counted, counted_as, length};

/// Maximum number of refusing API servers that are named above everything else.
const MAX_OUTAGES: usize = 2;

/// The smallest height in which a line states that nothing was missed. Losses are shown in any height.
const OBSERVED_FROM: u16 = 16;

/// The smallest height with room for the cost of a restart.
const RESTART_FROM: u16 = 18;

/// The smallest width with room for sparklines, and their length in it. In a wider terminal, each sparkline gets a third of the
/// additional cells.
const SPARKLINES_FROM: usize = 100;
const SHORTEST_SPARKLINE: usize = 8;
const SPARKLINE_SHARE: usize = 3;

/// Cells between the left and the right part of a line.
const APART: usize = 2;

/// The lines above the problems.
#[derive(Debug)]
pub(super) struct Header {
    pub lines: Vec<Line>,
    /// The names of the lines that have no room.
    pub hidden: Vec<&'static str>,
}

/// The header of `page` in a terminal of `size`.
pub(super) fn header(page: &Page, size: (u16, u16)) -> Header {
    let (cells, height) = (usize::from(size.0), size.1);
    let shown: &Snapshot = &page.shown;
    let most = if height < OBSERVED_FROM { 1 } else { MAX_OUTAGES };
    let outages = lasting_outages(shown).into_iter().map(|line| Line::of(Tone::Bad, &line)).take(most);
    let missed = missed(&shown.missed);
    let is_complete = missed.iter().all(|(tone, _)| *tone == Tone::Plain);
    let optional = [
        ("observed", height >= OBSERVED_FROM || !is_complete, missed),
        ("restart", height >= RESTART_FROM, exposure(&shown.exposure)),
    ];
    let title = Line::left_and_right(&server(shown, &page.name), &state(page), cells);
    let command = page.command.as_ref().map(|command| command.line(cells));
    let first = [title].into_iter().chain(command).chain([Line::of_phrases(&answer(shown), cells)]);
    let hidden = optional.iter().filter(|(_, has_room, _)| !has_room).map(|(name, _, _)| *name).rev().collect();
    let rates = if is_complete { sparklines(page, cells) } else { Vec::new() };
    let rest = optional.iter().filter(|(_, has_room, _)| *has_room).enumerate().map(|(index, (_, _, phrases))| {
        let right = if index == 0 { &rates[..] } else { &[] };
        beside(phrases, right, cells)
    });
    Header { lines: outages.chain(first).chain(rest).collect(), hidden }
}

/// The rates of the last minutes; empty without room for them, and before there is a history.
fn sparklines(page: &Page, cells: usize) -> Vec<(Tone, String)> {
    let Some(room) = cells.checked_sub(SPARKLINES_FROM) else { return Vec::new() };
    let length = (SHORTEST_SPARKLINE + room / SPARKLINE_SHARE).min(MOST_SPANS);
    let sparkline = |name: &str, rate: fn(&Span) -> PerSecond| {
        let (line, most) = page.history.sparkline(page.shown.at, length, rate);
        let is_history = line.trim().chars().count() > 1;
        is_history.then(|| (Tone::Plain, format!("{name} {line} max {most}")))
    };
    let both = [sparkline("req/s", |span| span.requests), sparkline("events/s", |span| span.events)];
    both.into_iter().collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Phrases `left` on the left. Phrases `right` are shown on the right only if all of them have room.
fn beside(left: &[(Tone, String)], right: &[(Tone, String)], cells: usize) -> Line {
    let alone = Line::of_phrases(left, cells);
    let needed = alone.width() + Line::of_phrases(right, cells).width() + APART;
    if right.is_empty() || needed > cells { alone } else { Line::left_and_right(left, right, cells) }
}

/// Current problems, and the zone of all times.
fn state(page: &Page) -> Vec<(Tone, String)> {
    let zone = (Tone::Quiet, page.clock.zone(page.shown.at));
    let until = is_of_log(&page.shown).then(|| {
        let at = page.clock.time_of_day(page.shown.at);
        (Tone::Plain, format!("log until {}", at.get(..8).unwrap_or(&at)))
    });
    alarms(&page.shown, page.frozen_for()).into_iter().chain(until).chain([zone]).collect()
}

/// Whether the requests are those of a log, which may be older than they look. Only a log has no bytes.
fn is_of_log(snapshot: &Snapshot) -> bool {
    snapshot.totals.response_bytes.known().is_none()
}

/// Current problems, and whether the picture is frozen. `age` is the time from the frozen picture to the newest snapshot.
fn alarms(snapshot: &Snapshot, age: Option<Duration>) -> Vec<(Tone, String)> {
    let paused = age.map(|age| (Tone::Notable, format!("PAUSED, {} old", length(age))));
    let ongoing = snapshot.storms.iter().filter(|storm| storm.ended.is_none());
    let storms = ongoing.map(|storm| (Tone::Bad, storm_now(storm)));
    let stuck = snapshot.totals.stuck;
    let stuck = (stuck > 0).then(|| (Tone::Bad, format!("{} stuck", count(stuck))));
    let stalled = snapshot.reflectors.iter().filter(|row| row.state == ReflectorState::Stalled).count() as u64;
    let stalled = (stalled > 0).then(|| (Tone::Bad, format!("{} stalled", count(stalled))));
    let findings = snapshot.findings.len() as u64;
    let findings = (findings > 0).then(|| (Tone::Notable, counted(findings, "finding")));
    paused.into_iter().chain(storms).chain(stuck).chain(stalled).chain(findings).collect()
}

/// `▲ relist storm: 13 reflectors within 1.1 s`.
fn storm_now(storm: &StormRecord) -> String {
    format!("▲ relist storm: {} within {}", counted(storm.reflectors, "reflector"), length(following::lasted(storm)))
}

/// The main results, most important first, so that the least important ones are cut.
fn answer(snapshot: &Snapshot) -> Vec<(Tone, String)> {
    let (totals, rates) = (&snapshot.totals, &snapshot.rates);
    let when = |is: bool, tone: Tone| if is { tone } else { Tone::Plain };
    let watches = counted_as(totals.watches_open, "open watch", "open watches");
    let rest = vec![
        (when(totals.relists > 0, Tone::Notable), counted(totals.relists, "relist")),
        (when(totals.storms > 0, Tone::Notable), counted(totals.storms, "storm")),
        (Tone::Plain, watches),
        (Tone::Plain, format!("req {}/s", rates.requests_per_second)),
        (Tone::Plain, format!("events {}/s", rates.watch_events_per_second)),
        (Tone::Plain, counted(totals.requests, "request")),
        (Tone::Plain, bytes(totals.response_bytes)),
    ];
    [(etcd::tone(snapshot.etcd_load()), etcd::short(snapshot))].into_iter().chain(rest).collect()
}

/// The name of the run, and the basis of its verdicts.
fn server(snapshot: &Snapshot, name: &str) -> Vec<(Tone, String)> {
    let plain = |text: String| (Tone::Plain, text);
    let title = vec![(Tone::Heading, format!("watchtap  {name}"))];
    if snapshot.upstreams.is_empty() {
        let mut phrases = snapshot.profile.assumptions();
        if let Some(first) = phrases.first_mut() {
            *first = format!("API server {}", first.trim_start_matches("version "));
        }
        return title.into_iter().chain(phrases.into_iter().map(plain)).collect();
    }
    let number = counted(snapshot.upstreams.len() as u64, "API server");
    let each = snapshot
        .upstreams
        .iter()
        .map(|one| format!("{}: {}", one.upstream.0, one.profile.assumptions().first().map_or("", String::as_str)));
    title.into_iter().chain([number].into_iter().chain(each).map(plain)).collect()
}

/// How complete the numbers are.
fn missed(missed: &Missed) -> Vec<(Tone, String)> {
    let phrase = |all: &str, label: &str, words: &[String]| match words {
        [] => (Tone::Plain, all.to_owned()),
        words => (Tone::Bad, format!("{label}: {}", words.join(", "))),
    };
    let mut phrases = vec![
        phrase("observed 100 %", "not observed", &not_seen(missed)),
        phrase("unparsed 0", "unparsed", &not_understood(missed)),
        phrase("rows dropped 0", "dropped", &dropped(missed)),
    ];
    let failed = connections(missed);
    if !failed.is_empty() {
        phrases.push((Tone::Bad, failed));
    }
    if !missed.capture_ended.is_empty() {
        phrases.push((Tone::Bad, format!("stopped writing the capture: {}", missed.capture_ended)));
    }
    phrases.extend(not_exported(missed).map(|words| (Tone::Bad, words)));
    phrases
}

/// The result of [`following::exposure`], in phrases.
fn exposure(exposure: &Exposure) -> Vec<(Tone, String)> {
    if exposure.watching == 0 {
        return vec![(Tone::Plain, "on an API server restart: no relist, as no reflector is synced and watching".to_owned())];
    }
    let tone = if exposure.reflectors > 0 { Tone::Notable } else { Tone::Plain };
    let (some, all) = (count(exposure.reflectors), format!("{} watching reflectors", count(exposure.watching)));
    let perhaps = if exposure.perhaps > 0 { format!(", perhaps {} more", count(exposure.perhaps)) } else { String::new() };
    let mut phrases = vec![(tone, format!("on an API server restart: {some} of {all} would relist{perhaps}"))];
    if exposure.reflectors > 0 {
        phrases.extend([(tone, counted(exposure.items, "object")), (tone, bytes(exposure.bytes))]);
    }
    phrases
}
