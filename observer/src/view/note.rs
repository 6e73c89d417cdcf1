//! A short note, in Markdown, on one finding, storm or relist: for an issue or a pull request.
//!
//! A note has at most 30 lines, in this order: the evidence with the latest timeline entries, the cost, and the reason in this
//! version of the API server; then the change to make, and a command that repeats the request.

use observer_core::exchange::Shape;
use observer_core::k8s::Verb;
use observer_core::observer::{AmountUnit, Finding, ListRow, RequestRecord, Snapshot, VerdictRecord, advice_on_relists};
use observer_core::reflector::{ListEvent, Moment, ReflectorId, ReflectorRow, cause_label};
use observer_core::routing::{Rule, rule};
use observer_core::storm::{StormMember, StormRecord};
use observer_core::time::Timestamp;

use super::changes::amount;
use super::following::{lasted, layers, seen, subject, unchanged};
use super::markdown::{Inline, Markdown};
use super::moment;
use super::page::raw;
use super::problems::when;
use super::quantity::{bytes, count, counted, length, microseconds, time_of_day};
use crate::printable::Printable;

/// Maximum number of timeline entries; the latest are shown.
const MAX_MOMENTS: usize = 6;
/// A note names at most this many members of a storm, and at most this many causes of its relists.
const MAX_NAMED: usize = 2;

/// The parts of a note, in their order.
struct Note {
    title: Inline,
    happened: Inline,
    /// Moments with their times, the earliest first.
    moments: Vec<Inline>,
    /// `None` if nothing was counted.
    cost: Option<String>,
    reason: Inline,
    change: &'static str,
    /// A command for a shell, or why there is none.
    command: Result<String, String>,
}

/// The note on the worst problem of a run; without one, on its latest storm or on a relist. `None` without any of these.
pub(super) fn worst_note(snapshot: &Snapshot) -> Option<Printable> {
    let problem = snapshot.problems.first();
    let finding = problem.and_then(|problem| snapshot.findings.iter().find(|finding| problem.findings.contains(&finding.id)));
    let relist = || snapshot.reflectors.iter().find_map(|row| row.last_relist.as_deref());
    finding
        .map(|finding| finding_note(finding, snapshot))
        .or_else(|| snapshot.storms.first().map(|storm| storm_note(storm, snapshot)))
        .or_else(|| relist().map(|list| relist_note(list, snapshot)))
}

/// The note on a finding of `snapshot`.
pub(super) fn finding_note(finding: &Finding, snapshot: &Snapshot) -> Printable {
    let row = finding.reflectors.first().and_then(|id| reflector(*id, snapshot));
    let requests = requests(finding, snapshot);
    let until = finding.spell.and_then(|spell| spell.until).or(snapshot.shutdown_requested);
    let moments = match row {
        Some(row) => kept_until(until, &row.timeline).iter().map(of_moment).collect(),
        None => requests.iter().map(|record| of_request(record)).collect(),
    };
    let period = finding.spell.map_or_else(String::new, |spell| format!(" ({})", when(spell)));
    let unit = finding.kind.unit();
    let amount =
        unit.map(|unit| (if unit == AmountUnit::Microseconds { "lasted " } else { "" }).to_owned() + &amount(unit, finding.amount));
    let lists = row.is_none().then(|| lists(&finding.shape, snapshot)).flatten();
    let cost: Vec<String> = amount.into_iter().chain(row.map(of_row)).chain(lists.map(of_lists)).collect();
    let relist = row.and_then(|row| row.last_relist.as_deref()).filter(|_| unit == Some(AmountUnit::Relists));
    let latest = row.and_then(|row| raw::latest(row, snapshot)).and_then(|record| record.verdict.as_ref());
    let verdict = latest.or_else(|| answered(&finding.shape, snapshot));
    let reason = relist.and_then(cause).into_iter().chain(verdict.map(of_verdict));
    let docs = Inline::words("see ").and(Inline::code(format_args!("docs/findings.md#{}", finding.kind)));
    Note {
        title: Inline::words("Finding ").and(Inline::code(&finding.id)),
        happened: Inline::text(format_args!("{}{period}", seen(finding))),
        moments,
        cost: (!cost.is_empty()).then(|| cost.join("; ")),
        reason: reason_in(snapshot, &finding.shape, reason.chain([docs])),
        change: finding.advice,
        command: match row {
            Some(row) => raw::of_reflector(row, snapshot),
            None => raw::of_shape(Some(Verb::List), &finding.shape, snapshot),
        },
    }
    .written()
}

/// The note on a storm of `snapshot`.
pub(super) fn storm_note(storm: &StormRecord, snapshot: &Snapshot) -> Printable {
    let state = if storm.ended.is_some() { "" } else { ", and it is ongoing" };
    let happened = format!(
        "{} of {} relisted within {}, peak {} a second{state}",
        counted(storm.reflectors, "reflector"),
        counted(storm.clients, "client"),
        length(lasted(storm)),
        count(storm.peak_per_second)
    );
    let times = [(storm.began, "the first relist began"), (storm.named, "it was a storm"), (storm.last, "the last member joined")];
    let times = times.into_iter().chain(storm.ended.map(|ended| (ended, "the storm was over")));
    let members = storm.members.iter().take(MAX_NAMED).map(of_member);
    let first = storm.members.first();
    let mut causes: Vec<(&String, &u64)> = storm.causes.iter().collect();
    causes.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
    let causes = causes.into_iter().take(MAX_NAMED);
    let causes = causes.map(|(cause, number)| Inline::text(format_args!("{} × {}", count(*number), cause_label(cause))));
    let trigger = Inline::words("trigger ").and(Inline::code(storm.trigger));
    let shape = first.map_or_else(nowhere, |member| member.shape.clone());
    let concerns_member = |finding: &&Finding| storm.members.iter().any(|member| finding.reflectors.contains(&member.reflector));
    Note {
        title: Inline::words("Storm ").and(Inline::text(storm.storm)),
        happened: Inline::text(happened),
        moments: times.map(|(at, words)| at_time(at, words)).chain(members).collect(),
        cost: Some(format!(
            "{} ({}), {} ({} unchanged), {}",
            counted(storm.relists, "relist"),
            layers(storm),
            counted(storm.items, "object"),
            count(storm.repeated),
            bytes(storm.bytes)
        )),
        reason: reason_in(snapshot, &shape, [trigger].into_iter().chain(causes)),
        change: snapshot.findings.iter().find(concerns_member).map_or_else(|| storm.trigger.advice(), |finding| finding.advice),
        command: match first.and_then(|member| reflector(member.reflector, snapshot)) {
            Some(row) => raw::of_reflector(row, snapshot),
            None => Err("none of its members is kept".to_owned()),
        },
    }
    .written()
}

/// The note on a relist of a reflector of `snapshot`.
pub(super) fn relist_note(list: &ListEvent, snapshot: &Snapshot) -> Printable {
    let received = at_time(list.ended_at, &format!("received {}", counted(list.items, "object")));
    let verdict = list.served_from.as_ref().map(|layer| served_from(&layer.to_string(), list.rule));
    Note {
        title: Inline::words("Relist of ").and(Inline::code(subject(&list.client, &list.shape))),
        happened: Inline::text(format_args!("it relisted at {}, which took {}", time_of_day(list.at), microseconds(list.took_us))),
        moments: list.evidence.iter().map(of_moment).chain([received]).collect(),
        cost: Some(format!(
            "{}, {} ({} of {} unchanged), {}",
            counted(list.requests, "request"),
            counted(list.items, "object"),
            unchanged(list.repeats),
            count(list.repeats.objects),
            bytes(list.bytes)
        )),
        reason: reason_in(snapshot, &list.shape, cause(list).into_iter().chain(verdict)),
        change: advice_on_relists(list.cause),
        command: match reflector(list.reflector, snapshot) {
            Some(row) => raw::of_reflector(row, snapshot),
            None => Err("its reflector is not kept".to_owned()),
        },
    }
    .written()
}

impl Note {
    fn written(self) -> Printable {
        let mut document = Markdown::default();
        document.paragraph(&Inline::words("### ").and(self.title));
        let latest = self.moments.get(self.moments.len().saturating_sub(MAX_MOMENTS)..).unwrap_or_default();
        let timeline = if latest.is_empty() { "." } else { ". Timeline, in UTC:" };
        document.paragraph(&labelled("Observed:", self.happened).and(Inline::words(timeline)));
        document.list(latest, MAX_MOMENTS);
        if let Some(cost) = self.cost {
            document.paragraph(&labelled("Cost:", Inline::text(cost)).and(Inline::words(".")));
        }
        document.paragraph(&self.reason);
        document.paragraph(&labelled("Change:", Inline::text(self.change)));
        match self.command {
            Ok(command) => {
                document.paragraph(&Inline::words("**Repeat the request:**"));
                document.command(&command);
            }
            Err(because) => {
                document.paragraph(&labelled("Repeat the request:", Inline::words("no command: ").and(Inline::text(because))));
            }
        }
        document.into_printable()
    }
}

fn labelled(label: &'static str, words: Inline) -> Inline {
    Inline::bold(label).and(Inline::words(" ")).and(words)
}

/// `**API server version v1.30.4:** …; ….`
fn reason_in(snapshot: &Snapshot, shape: &Shape, phrases: impl Iterator<Item = Inline>) -> Inline {
    let of_shape = snapshot.upstreams.iter().find(|one| Some(&one.upstream) == shape.upstream.as_ref());
    let profile = of_shape.map_or(&snapshot.profile, |one| &one.profile);
    let version = profile.version.as_ref().map_or_else(|| "of unknown version".to_owned(), |version| format!("version {version}"));
    let mut reason = Inline::words("**API server ").and(Inline::text(version)).and(Inline::words(":** "));
    for (index, phrase) in phrases.enumerate() {
        let between = if index == 0 { "" } else { "; " };
        reason = reason.and(Inline::words(between)).and(phrase);
    }
    reason.and(Inline::words("."))
}

fn cause(list: &ListEvent) -> Option<Inline> {
    list.cause.map(|cause| Inline::text(cause.sentence()))
}

fn of_verdict(verdict: &VerdictRecord) -> Inline {
    served_from(&verdict.served_from.to_string(), Some(verdict.rule))
}

/// ``verdict: etcd, rule `list-unset-etcd` (…)``.
fn served_from(layer: &str, id: Option<&str>) -> Inline {
    let answered = Inline::words("verdict: ").and(Inline::text(layer));
    let Some(id) = id else { return answered };
    let sentence = |rule: &Rule| Inline::words(" (").and(Inline::text(rule.sentence)).and(Inline::words(")"));
    answered.and(Inline::words(", rule ")).and(Inline::code(id)).and(rule(id).map_or_else(Inline::default, sentence))
}

fn reflector(id: ReflectorId, snapshot: &Snapshot) -> Option<&ReflectorRow> {
    snapshot.reflectors.iter().find(|row| row.reflector == id)
}

fn same_objects(one: &Shape, other: &Shape) -> bool {
    (&one.resource, &one.scope, &one.upstream) == (&other.resource, &other.scope, &other.upstream)
}

/// The lists of this shape, otherwise lists of the same objects.
fn lists<'s>(shape: &Shape, snapshot: &'s Snapshot) -> Option<&'s ListRow> {
    let exact = snapshot.lists.iter().find(|row| row.shape == *shape);
    exact.or_else(|| snapshot.lists.iter().find(|row| same_objects(&row.shape, shape)))
}

fn answered<'s>(shape: &Shape, snapshot: &'s Snapshot) -> Option<&'s VerdictRecord> {
    let watches = || snapshot.watches.iter().find(|row| same_objects(&row.shape, shape)).and_then(|row| row.verdict.as_ref());
    lists(shape, snapshot).and_then(|row| row.verdict.as_ref()).or_else(watches)
}

/// The requests of the finding's shape. If there are none, all requests of its client. The earliest come first.
fn requests<'s>(finding: &Finding, snapshot: &'s Snapshot) -> Vec<&'s RequestRecord> {
    let of_shape: Vec<&RequestRecord> = snapshot.requests.iter().filter(|record| record.shape == finding.shape).collect();
    if !of_shape.is_empty() {
        return of_shape;
    }
    snapshot.requests.iter().filter(|record| Some(&record.client) == finding.client.as_ref()).collect()
}

/// The moments until `until`, the end of a finding or of the run. If none of them is kept, or there is no end, all moments.
fn kept_until(until: Option<Timestamp>, moments: &[Moment]) -> &[Moment] {
    let Some(until) = until else { return moments };
    let kept = moments.partition_point(|moment| moment.at <= until);
    if kept == 0 { moments } else { moments.get(..kept).unwrap_or(moments) }
}

fn at_time(at: Timestamp, words: &str) -> Inline {
    Inline::text(time_of_day(at)).and(Inline::words(" ")).and(Inline::text(words))
}

fn of_moment(one: &Moment) -> Inline {
    at_time(one.at, &moment::words(one))
}

fn of_request(record: &RequestRecord) -> Inline {
    let verb = record.verb.map_or("unknown", Verb::as_str);
    let status = record.status.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
    let took = record.total_us.map_or_else(|| "open".to_owned(), microseconds);
    let words = format!("{verb} {}: {status}, {}, {}, {took}", record.shape, counted(record.items, "object"), bytes(record.bytes));
    at_time(record.at, &words)
}

fn of_member(member: &StormMember) -> Inline {
    let words = format!(": {}, {}, {}", counted(member.relists, "relist"), counted(member.items, "object"), bytes(member.bytes));
    Inline::words("member ").and(Inline::code(subject(&member.client, &member.shape))).and(Inline::text(words))
}

fn of_row(row: &ReflectorRow) -> String {
    format!(
        "in the entire run, its reflector sent {}, which returned {}; its lists and watches delivered {} ({} unchanged) in {}",
        counted(row.list_requests, "list request"),
        counted(row.items, "object"),
        counted(row.repeats.objects, "object"),
        unchanged(row.repeats),
        bytes(row.bytes)
    )
}

fn of_lists(row: &ListRow) -> String {
    format!("{}, {}, {}", counted(row.count, "list"), counted(row.items, "object"), bytes(row.bytes))
}

fn nowhere() -> Shape {
    Shape { resource: String::new(), scope: None, options: String::new(), upstream: None }
}
