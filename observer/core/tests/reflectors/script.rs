//! Plays a script of wire traffic, written as text, and prints events and rows as text.
//!
//! A line is `TIME WORDS`; times count from `START`. A connection is a letter, and a request is that letter with a number:
//!
//! - `0s server v1.34.4` states the server's version; at `5s refusing` it starts to refuse connections, and stops at `7s listening`
//! - `0s a connects`, with `client=NAME/VERSION`, `pid=7` and `pod=UID` where they matter; `5s a closed by server` and
//!   `5s a closed by client` cut everything that is open on it; `5s a goaway` comes from the server
//! - `1s a1 GET /api/v1/pods?limit=500&resourceVersion=0` makes a request
//! - `2s a1 whole rv=10 x@5 y@6` answers a list completely: its revision, and its items with their versions; `continue` after them
//!   means that pages follow. In a URL, `continue=@10` is a token of revision 10
//! - `2s a1 refused 504 Timeout` refuses the request; `too-large`, `retry-after=1` and `current=9` (the server's revision) may
//!   follow
//! - `2s a2 opens` accepts a watch; `3s a2 ADDED x@11`, `MODIFIED`, `DELETED`, `UNKNOWN`, `3s a2 BOOKMARK @12`,
//!   `3s a2 END-BOOKMARK @12` (of the initial events), `3s a2 ERROR 410 Expired` are events
//! - `4s a2 ends` ends a response normally; `4s a2 reset by server` and `4s a2 reset by client` reset its stream;
//!   `4s a2 missed 100` is bytes that were not observed
//! - `3s a5 PATCH /api/v1/namespaces/default/pods/x` writes (`POST` and `PUT` too), and `4s a5 written x@12` answers with the
//!   object
//! - `5s a2 blocked` uses up the window of a stream and `6s a2 unblocked` reopens it; `5s a blocked` and `6s a unblocked` do this
//!   to the client's socket
//! - `9s shutdown` requests the end of the run; at `9s tick` only time passes
//! - `9s unrecorded` is a span that a capture lacks
//!
//! The run ends two seconds after the script's last line.

use expect_test::Expect;
use observer_core::http::{Direction, Protocol, StreamId};
use observer_core::k8s::{Container, ListOptions, RequestInfo, Status, StatusCause};
use observer_core::observation::{
    Blockage, Body, CaptureObservation, ConnectionEnd, ConnectionId, ConnectionObservation, EndManner, ExchangeEnd, ExchangeId,
    ExchangeObservation, ListenerState, Observation, Plaintext, Process, RequestLine, ResponseLine, RunObservation, Subject,
    UpstreamName, UpstreamObservation,
};
use observer_core::observer::{Event, Limits, Observer, Snapshot};
use observer_core::reflector::{ListEvent, ReflectorRow, Repeats};
use observer_core::routing::{Basis, ServerProfile};
use observer_core::time::Timestamp;
use observer_core::wire::{EventType, ListMeta, ObjectRef, WatchFrame};
use std::collections::{BTreeMap, BTreeSet};
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
    let mut wire = Wire::default();
    let mut last = Timestamp::from_nanos(START);
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (time, words) = line.split_once(' ').unwrap();
        let at = Timestamp::from_nanos(START).plus(humantime::parse_duration(time).unwrap());
        last = at;
        for mut subject in wire.parse(words) {
            if let Subject::Connection(_, ConnectionObservation::Blocked { since, .. }) = &mut subject {
                *since = at;
            }
            observer.observe(Observation { at, subject }, &mut |event| events.push(event));
        }
    }
    let last = last.plus(Duration::from_secs(2));
    observer.observe(Observation { at: last, subject: Subject::Run(RunObservation::Tick) }, &mut |event| events.push(event));
    (observer.snapshot(), events)
}

/// 2026-01-31T12:00:00Z.
const START: u64 = 1_769_860_800_000_000_000;

/// The open exchanges, and the user agent of each connection.
#[derive(Default)]
struct Wire {
    user_agents: BTreeMap<char, Option<String>>,
    open: BTreeSet<ExchangeId>,
}

impl Wire {
    fn parse(&mut self, words: &str) -> Vec<Subject> {
        let parts: Vec<&str> = words.split(' ').collect();
        let upstream = UpstreamName::default();
        match *parts.as_slice() {
            ["server", version] => {
                let profile = Box::new(ServerProfile::of_version(version.parse().unwrap(), Basis::VersionEndpoint));
                vec![Subject::Upstream(upstream, UpstreamObservation::Profile { profile })]
            }
            ["tick"] => vec![Subject::Run(RunObservation::Tick)],
            ["shutdown"] => vec![Subject::Run(RunObservation::ShutdownRequested)],
            ["refusing"] => vec![Subject::Upstream(upstream, UpstreamObservation::Listener { state: ListenerState::Refusing })],
            ["listening"] => vec![Subject::Upstream(upstream, UpstreamObservation::Listener { state: ListenerState::Listening })],
            ["unrecorded"] => {
                vec![Subject::Capture(CaptureObservation::Unrecorded { observations: None, from: None, until: None })]
            }
            [letter, "connects", ref rest @ ..] => self.connects(letter, rest),
            [letter, "closed", "by", side] => self.closed(letter, side),
            [letter, "blocked"] if letter.len() == 1 => vec![blocked(connection(letter), None)],
            [letter, "unblocked"] if letter.len() == 1 => vec![unblocked(connection(letter), None)],
            [letter, "goaway"] => {
                vec![Subject::Connection(connection(letter), ConnectionObservation::GoAway { by: Direction::Response, code: 0 })]
            }
            [name, ref rest @ ..] => self.exchange(name, rest),
            [] => panic!("an empty line"),
        }
    }

    fn connects(&mut self, letter: &str, rest: &[&str]) -> Vec<Subject> {
        let value = |name| rest.iter().find_map(|word| word.strip_prefix(name)).map(str::to_owned);
        self.user_agents.insert(letter.chars().next().unwrap(), value("client="));
        let container = value("pod=").map(|pod_uid| Container { id: "c".to_owned(), pod_uid });
        let process =
            value("pid=").map(|pid| Process { pid: pid.parse().unwrap(), started: 1, name: "controller".to_owned(), container });
        let (connection, upstream) = (connection(letter), UpstreamName::default());
        vec![Subject::Connection(
            connection,
            ConnectionObservation::Opened { upstream, protocol: Some(Protocol::Http2), process, attached_late: false },
        )]
    }

    fn closed(&mut self, letter: &str, side: &str) -> Vec<Subject> {
        let connection = connection(letter);
        let direction = if side == "client" { Direction::Request } else { Direction::Response };
        let end = ConnectionEnd { direction, manner: EndManner::Fin };
        let cut: Vec<ExchangeId> = self.open.iter().copied().filter(|id| id.connection == connection).collect();
        let mut subjects = vec![Subject::Connection(connection, ConnectionObservation::HalfEnded { end })];
        for exchange in cut {
            self.open.remove(&exchange);
            subjects.push(Subject::Exchange(exchange, ExchangeObservation::Ended { end: ExchangeEnd::Cut(Some(end)) }));
        }
        subjects.push(Subject::Connection(
            connection,
            ConnectionObservation::Closed { forwarded: Plaintext::default(), observed: Plaintext::default() },
        ));
        subjects
    }

    fn exchange(&mut self, name: &str, words: &[&str]) -> Vec<Subject> {
        let (letter, number) = name.split_at(name.chars().next().unwrap().len_utf8());
        let exchange = ExchangeId { connection: connection(letter), stream: StreamId(number.parse().unwrap()) };
        let respond = |status| {
            Subject::Exchange(
                exchange,
                ExchangeObservation::Responded {
                    response: Box::new(ResponseLine { status: Some(status), ..ResponseLine::default() }),
                },
            )
        };
        let events = |frame| vec![Subject::Exchange(exchange, ExchangeObservation::BodyRead { body: Body::Events(vec![frame]) })];
        match *words {
            [method @ ("GET" | "POST" | "PUT" | "PATCH"), url] => {
                self.open.insert(exchange);
                let user_agent = self.user_agents.get(&letter.chars().next().unwrap()).cloned().flatten();
                vec![Subject::Exchange(
                    exchange,
                    ExchangeObservation::Requested { request: Box::new(RequestLine { user_agent, ..request(method, url) }) },
                )]
            }
            ["opens"] => vec![respond(200)],
            ["whole", revision, ref items @ ..] => {
                let (continue_token, items) = match items {
                    [items @ .., "continue"] => ("more".to_owned(), items),
                    items => (String::new(), items),
                };
                let meta = ListMeta { resource_version: revision[3..].to_owned(), continue_token, remaining_item_count: None };
                let items = items.iter().map(|item| object(item)).collect();
                let said = [Body::List(meta), Body::Items(items)]
                    .map(|body| Subject::Exchange(exchange, ExchangeObservation::BodyRead { body }));
                [vec![respond(200)], said.to_vec(), self.ends(exchange, ExchangeEnd::Complete)].concat()
            }
            ["refused", code, reason, ref rest @ ..] => {
                let code = code.parse().unwrap();
                let retry_after_seconds =
                    rest.iter().find_map(|word| word.strip_prefix("retry-after=")).map(|text| text.parse().unwrap());
                let response = Box::new(ResponseLine { status: Some(code), retry_after_seconds, ..ResponseLine::default() });
                let status = Subject::Exchange(
                    exchange,
                    ExchangeObservation::BodyRead { body: Body::Status(Box::new(status(code, reason, rest))) },
                );
                [
                    vec![Subject::Exchange(exchange, ExchangeObservation::Responded { response }), status],
                    self.ends(exchange, ExchangeEnd::Complete),
                ]
                .concat()
            }
            ["written", what] => {
                let body = Subject::Exchange(exchange, ExchangeObservation::BodyRead { body: Body::Object(object(what)) });
                [vec![respond(200), body], self.ends(exchange, ExchangeEnd::Complete)].concat()
            }
            ["ends"] => self.ends(exchange, ExchangeEnd::Complete),
            ["reset", "by", side] => {
                let by = if side == "client" { Direction::Request } else { Direction::Response };
                self.ends(exchange, ExchangeEnd::Reset { by, code: if side == "client" { 8 } else { 2 } })
            }
            ["blocked"] => vec![blocked(exchange.connection, Some(exchange.stream))],
            ["unblocked"] => vec![unblocked(exchange.connection, Some(exchange.stream))],
            ["missed", bytes] => {
                let (bytes, direction) = (bytes.parse().unwrap(), Direction::Response);
                vec![Subject::Exchange(exchange, ExchangeObservation::BodyGap { direction, bytes })]
            }
            ["ERROR", code, reason, ref rest @ ..] => {
                let status = Some(Box::new(status(code.parse().unwrap(), reason, rest)));
                events(WatchFrame { status, ..frame(EventType::Error, ObjectRef::default()) })
            }
            ["END-BOOKMARK", revision] => {
                events(WatchFrame { initial_events_end: true, ..frame(EventType::Bookmark, object(revision)) })
            }
            [kind, what] => events(frame(event_type(kind), object(what))),
            _ => panic!("no such words: {words:?}"),
        }
    }

    fn ends(&mut self, exchange: ExchangeId, end: ExchangeEnd) -> Vec<Subject> {
        self.open.remove(&exchange);
        vec![Subject::Exchange(exchange, ExchangeObservation::Ended { end })]
    }
}

/// `play` fills in `since`, because it knows the time.
fn blocked(connection: ConnectionId, stream: Option<StreamId>) -> Subject {
    Subject::Connection(connection, ConnectionObservation::Blocked { stream, by: blockage(stream), since: Timestamp::default() })
}

fn unblocked(connection: ConnectionId, stream: Option<StreamId>) -> Subject {
    Subject::Connection(connection, ConnectionObservation::Unblocked { stream, by: blockage(stream) })
}

const fn blockage(stream: Option<StreamId>) -> Blockage {
    if stream.is_some() { Blockage::StreamWindow } else { Blockage::Socket }
}

fn connection(letter: &str) -> ConnectionId {
    ConnectionId(u32::from(letter.chars().next().unwrap()).into())
}

fn request(method: &str, url: &str) -> RequestLine {
    const TOKEN_OF_10: &str = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTAsInN0YXJ0IjoiZGVmYXVsdC94XHUwMDAwIn0";
    let url = url.replace("continue=@10", &format!("continue={TOKEN_OF_10}"));
    let (path, query) = url.split_once('?').unwrap_or((&url, ""));
    let options = ListOptions::parse(query);
    let info = RequestInfo::parse(method, path, &options, "");
    RequestLine { method: Some(method.to_owned()), info: Some(info), options, ..RequestLine::default() }
}

fn status(code: u16, reason: &str, rest: &[&str]) -> Status {
    let causes = if rest.contains(&"too-large") {
        vec![StatusCause { reason: "ResourceVersionTooLarge".to_owned(), ..StatusCause::default() }]
    } else {
        Vec::new()
    };
    let current = rest.iter().find_map(|word| word.strip_prefix("current="));
    let message = current.map_or_else(String::new, |current| format!("Timeout: Too large resource version: 1, current: {current}"));
    Status { code, reason: reason.to_owned(), message, causes, ..Status::default() }
}

fn event_type(word: &str) -> EventType {
    match word {
        "ADDED" => EventType::Added,
        "MODIFIED" => EventType::Modified,
        "DELETED" => EventType::Deleted,
        "BOOKMARK" => EventType::Bookmark,
        "UNKNOWN" => EventType::Unknown,
        other => panic!("no such event: {other}"),
    }
}

fn frame(event_type: EventType, object: ObjectRef) -> WatchFrame {
    WatchFrame { event_type, object, initial_events_end: false, status: None, bytes: 100 }
}

/// Parses `NAME@VERSION`.
fn object(words: &str) -> ObjectRef {
    let (name, version) = words.split_once('@').unwrap();
    let namespace = if name.is_empty() { String::new() } else { "default".to_owned() };
    ObjectRef { namespace, name: name.to_owned(), uid: String::new(), resource_version: version.to_owned() }
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
