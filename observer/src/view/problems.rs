//! The problems, before anything else: API servers that refuse connections, then each cause with its clients, a number, and the
//! change to make.

use std::time::Duration;

use observer_core::observer::{Finding, Outage, Problem, Snapshot};
use observer_core::reflector::Spell;
use observer_core::time::Timestamp;

use super::colour::Tone;
use super::following;
use super::quantity::{count, counted, length, time_of_day};

/// Problems named at the head of a report. Together with the lines above, these are ten lines.
const MAX_PROBLEMS: usize = 7;
/// Outages listed with their times.
const MAX_OUTAGES: usize = 3;

/// Findings shown per problem.
const MAX_FINDINGS: usize = 5;
/// Longest line of a finding, in characters.
const MAX_LINE: usize = 200;

/// The problems, below the main results of a report.
pub(super) fn lines(snapshot: &Snapshot) -> Vec<(Tone, String)> {
    let mut lines: Vec<(Tone, String)> = outages_over(snapshot).map(|line| (Tone::Bad, line)).into_iter().collect();
    let named = snapshot.problems.iter().take(MAX_PROBLEMS).enumerate();
    lines.extend(named.map(|(index, problem)| (tone(problem), format!("{}. {}", index + 1, problem_line(problem)))));
    let more = snapshot.problems.len().saturating_sub(MAX_PROBLEMS);
    if more > 0 {
        lines.push((Tone::Notable, format!("… and {} (see FINDINGS)", counted(more as u64, "more problem"))));
    }
    lines
}

/// `API server refuses connections for 8.0 s; watchtap refuses its clients, too`, one per such server.
pub(super) fn lasting_outages(snapshot: &Snapshot) -> Vec<String> {
    snapshot.outages.lasting().map(|outage| refuses(outage, snapshot, "")).collect()
}

/// The same, with the time at which each outage began, for a reader at a later time.
pub(super) fn lasting_outages_with_times(snapshot: &Snapshot) -> Vec<String> {
    let line = |outage: &Outage| refuses(outage, snapshot, &format!(", since {}", time_of_day(outage.since)));
    snapshot.outages.lasting().map(line).collect()
}

fn refuses(outage: &Outage, snapshot: &Snapshot, since: &str) -> String {
    let at = if outage.upstream.is_empty() { String::new() } else { format!(" {}", outage.upstream.0) };
    let lasted = length(seconds(snapshot.at.since(outage.since)));
    format!("API server{at} refuses connections for {lasted}{since}; watchtap refuses its clients, too")
}

/// `API server refused connections 2 times: 12:00:01.204 for 3.0 s, 12:01:02.000 for 3.1 s; watchtap refused its clients, too`. If
/// not all outages are listed, it also has their total length.
pub(super) fn outages_over(snapshot: &Snapshot) -> Option<String> {
    let outages = &snapshot.outages;
    let over = outages.times.saturating_sub(outages.lasting().count() as u64);
    // The outages in a log have no length: the head of its report has the restarts.
    if over == 0 || outages.lasted_us == 0 {
        return None;
    }
    let ended = outages.latest.iter().rev().filter_map(|outage| Some((outage, outage.until?)));
    let mut named: Vec<String> = ended
        .take(MAX_OUTAGES)
        .map(|(outage, until)| format!("{} for {}", time_of_day(outage.since), length(until.since(outage.since))))
        .collect();
    named.reverse();
    let times = if over == 1 { "once".to_owned() } else { format!("{} times", count(over)) };
    let earlier = if over > MAX_OUTAGES as u64 {
        format!(", {} in all: …, ", length(Duration::from_micros(outages.lasted_us)))
    } else {
        ": ".to_owned()
    };
    Some(format!("API server refused connections {times}{earlier}{}; watchtap refused its clients, too", named.join(", ")))
}

/// The findings of each problem, under the change to make; JSON has all of them.
pub(super) fn details(snapshot: &Snapshot) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    for (index, problem) in snapshot.problems.iter().enumerate() {
        let of_this = |finding: &&Finding| finding.kind == problem.kind && problem.findings.contains(&finding.id);
        let findings: Vec<&Finding> = snapshot.findings.iter().filter(of_this).collect();
        lines.push((Tone::Plain, cut(&format!("{}. {}: {}", index + 1, problem.kind, problem_line(problem)))));
        let shown = findings.get(..MAX_FINDINGS).unwrap_or(&findings);
        for alike in shown.chunk_by(|one, other| one.advice == other.advice) {
            // The times and the identifier, which is for --mute, are never cut.
            let line = |finding: &&Finding| {
                let id = format!(" [{}]", finding.id);
                let rest = times(finding) + &id;
                let seen = format!("   · {}", following::seen(finding));
                cut_to(MAX_LINE.saturating_sub(rest.chars().count()), &seen) + &rest
            };
            lines.extend(alike.iter().map(|finding| (Tone::Plain, line(finding))));
            lines.extend(alike.first().map(|finding| (Tone::Plain, format!("     advice: {}", finding.advice))));
        }
        if findings.len() > MAX_FINDINGS {
            let more = (findings.len() - MAX_FINDINGS) as u64;
            lines.push((Tone::Quiet, format!("   … and {} (all in --format json)", counted(more, "more finding"))));
        }
    }
    lines
}

/// ` (12:00:01–12:03:09)`: the beginning and the end of a finding; empty if they are unknown.
fn times(finding: &Finding) -> String {
    finding.spell.map_or_else(String::new, |spell| format!(" ({})", when(spell)))
}

/// `since 12:00:01`, `12:00:01`, `12:00:01–12:03:09`.
pub(super) fn when(spell: Spell) -> String {
    let clock = |at: Timestamp| time_of_day(at).get(..8).unwrap_or_default().to_owned();
    match spell.until {
        None => format!("since {}", clock(spell.since)),
        Some(until) if clock(until) == clock(spell.since) => clock(spell.since),
        Some(until) => format!("{}–{}", clock(spell.since), clock(until)),
    }
}

fn cut(line: &str) -> String {
    cut_to(MAX_LINE, line)
}

fn cut_to(characters: usize, line: &str) -> String {
    match line.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// `update client-go in old-ingress and log-shipper to 1.16 or later: 54 needless relists after refused connections`.
pub(super) fn problem_line(problem: &Problem) -> String {
    format!("{}: {}", problem.change, problem.wrong)
}

/// The tone of a problem: an ongoing problem stands out.
pub(super) fn tone(problem: &Problem) -> Tone {
    if problem.lasts() { Tone::Bad } else { Tone::Notable }
}

/// Drops fractions of a second, unless that leaves zero.
const fn seconds(duration: Duration) -> Duration {
    if duration.as_secs() == 0 { duration } else { Duration::from_secs(duration.as_secs()) }
}

#[cfg(test)]
mod tests {
    use observer_core::observation::{ListenerState, Observation, RunObservation, Subject, UpstreamName, UpstreamObservation};
    use observer_core::observer::{Limits, Observer};

    use super::*;
    use crate::view::{Colour, Run, report_text};

    /// Noon of a day in January 2026.
    const NOON: u64 = 1_769_860_800_000_000_000;

    #[test]
    fn refusing_api_server_is_reported_first() {
        let lasts = snapshot(&[(10, true)], 18);
        assert_eq!(lasting_outages(&lasts), ["API server refuses connections for 8.0 s; watchtap refuses its clients, too"]);
        let text = report(&lasts);
        let first = text.lines().skip(1).find(|line| !line.is_empty()).unwrap();
        assert_eq!(
            first, "API server refuses connections for 8.0 s, since 12:00:10.000; watchtap refuses its clients, too",
            "{text}"
        );
    }

    #[test]
    fn ended_outages_are_reported_with_their_times() {
        let twice = snapshot(&[(10, true), (13, false), (60, true), (64, false)], 70);
        let line = "API server refused connections 2 times: 12:00:10.000 for 3.0 s, 12:01:00.000 for 4.0 s; watchtap refused its clients, too";
        assert_eq!(lines(&twice), [(Tone::Bad, line.to_owned())]);
        let rounds: Vec<(u64, bool)> = (0..40).map(|half| (10 * half, half % 2 == 0)).collect();
        let [(_, line)] = &lines(&snapshot(&rounds, 500))[..] else { panic!() };
        assert!(line.starts_with("API server refused connections 20 times, 3 m 20 s in all: …, 12:05:40"), "{line}");
    }

    fn snapshot(listener: &[(u64, bool)], until: u64) -> Snapshot {
        let mut observer = Observer::new(Limits::default());
        let mut observe = |second: u64, subject| {
            let at = Timestamp::from_nanos(NOON + second * 1_000_000_000);
            observer.observe(Observation { at, subject }, &mut |_| {});
        };
        for (second, refuses) in listener {
            let state = if *refuses { ListenerState::Refusing } else { ListenerState::Listening };
            observe(*second, Subject::Upstream(UpstreamName::default(), UpstreamObservation::Listener { state }));
        }
        observe(until, Subject::Run(RunObservation::Tick));
        observer.snapshot()
    }

    fn report(snapshot: &Snapshot) -> String {
        let run = Run {
            subcommand: "run",
            command: Vec::new(),
            exit_code: None,
            silence: Vec::new(),
            budget: None,
            log: None,
            notes: Vec::new(),
        };
        report_text(&run, snapshot, Colour::Off).into_string()
    }
}
