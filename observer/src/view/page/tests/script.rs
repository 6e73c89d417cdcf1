//! Snapshots after scripts of traffic, in the language of the scripts for reflectors (`observer/core/tests/reflectors/script.rs`):
//!
//! - `0s server v1.34.4`, `5s refusing`, `7s listening`, `9s unrecorded`
//! - `0s a connects client=NAME/VERSION pid=7 pod=UID`; `5s a closed`
//! - `1s a1 GET /api/v1/pods?limit=500`; `2s a1 whole rv=10 x@5 y@6`, followed by `continue` if pages follow; `2s a1 refused 504
//!   Timeout too-large`
//! - `2s a3 opens`; `3s a3 ADDED x@11`, `3s a3 BOOKMARK @12`, `3s a3 ERROR 410 Expired`; `4s a3 ends`
//! - `3s a5 PATCH /api/v1/namespaces/default/pods/x`, `4s a5 written x@12`; `5s a3 blocked`: the window of the stream is used up
//! - `2s a1 bytes 7100000`, `2s a1 missed 100`
//!
//! Lines need not be in the order of their times.

use std::sync::Arc;
use std::time::Duration;

use observer_core::http::{Direction, Identity, Protocol, StreamId};
use observer_core::k8s::{Container, ListOptions, RequestInfo, Status, StatusCause};
use observer_core::observation::{
    Blockage, Body, CaptureObservation, ConnectionEnd, ConnectionId, ConnectionObservation, EndManner, ExchangeEnd, ExchangeId,
    ExchangeObservation, ListenerState, Observation, Plaintext, Process, RequestLine, ResponseLine, Subject, UpstreamName,
    UpstreamObservation,
};
use observer_core::observer::{Limits, Observer, Snapshot};
use observer_core::routing::{Basis, ServerProfile};
use observer_core::time::Timestamp;
use observer_core::wire::{EventType, ListMeta, ObjectRef, WatchFrame};

/// Noon of a day in January 2026.
const START: u64 = 1_769_860_800_000_000_000;

/// The snapshot after all of `script`.
pub(super) fn play(script: &str) -> Arc<Snapshot> {
    let mut observer = Observer::new(Limits::default());
    for observation in observations(script) {
        observer.observe(observation, &mut |_| {});
    }
    Arc::new(observer.snapshot())
}

/// The observations of `script`.
pub(in crate::view) fn observations(script: &str) -> Vec<Observation> {
    let mut lines: Vec<(Duration, &str)> = script.lines().map(str::trim).filter(|line| !line.is_empty()).map(timed).collect();
    lines.sort_by_key(|(time, _)| *time);
    let mut observations = Vec::new();
    let mut agents = std::collections::BTreeMap::new();
    for (time, words) in lines {
        let at = Timestamp::from_nanos(START).plus(time);
        let words: Vec<&str> = words.split(' ').collect();
        if let [letter, "connects", client, ..] = *words {
            agents.insert(letter.to_owned(), client.trim_start_matches("client=").replace('+', " "));
        }
        let agent = agents.get(&words[0][..1]).cloned();
        observations.extend(parse(at, &words, agent).into_iter().map(|subject| Observation { at, subject }));
    }
    observations
}

fn timed(line: &str) -> (Duration, &str) {
    let (time, words) = line.split_once(' ').unwrap();
    (humantime::parse_duration(time).unwrap(), words)
}

fn parse(at: Timestamp, words: &[&str], agent: Option<String>) -> Vec<Subject> {
    let upstream = UpstreamName::default();
    match *words {
        ["server", version] => {
            let profile = Box::new(ServerProfile::of_version(version.parse().unwrap(), Basis::VersionEndpoint));
            vec![Subject::Upstream(upstream, UpstreamObservation::Profile { profile })]
        }
        ["refusing"] => vec![Subject::Upstream(upstream, UpstreamObservation::Listener { state: ListenerState::Refusing })],
        ["listening"] => vec![Subject::Upstream(upstream, UpstreamObservation::Listener { state: ListenerState::Listening })],
        ["unrecorded"] => vec![Subject::Capture(CaptureObservation::Unrecorded { observations: None, from: None, until: None })],
        [letter, "connects", ref rest @ ..] => {
            let pid = rest.iter().find_map(|word| word.strip_prefix("pid="));
            let pod = rest.iter().find_map(|word| word.strip_prefix("pod="));
            let container = pod.map(|pod| Container { id: "0123456789abcdef".repeat(4), pod_uid: pod.to_owned() });
            let process = pid.map(|pid| Process { pid: pid.parse().unwrap(), started: 1, name: "manager".to_owned(), container });
            vec![Subject::Connection(
                connection(letter),
                ConnectionObservation::Opened { upstream, protocol: Some(Protocol::Http2), process, attached_late: false },
            )]
        }
        [letter, "closed"] => {
            let (connection, end) = (connection(letter), ConnectionEnd { direction: Direction::Response, manner: EndManner::Fin });
            let (forwarded, observed) = (Plaintext::default(), Plaintext::default());
            vec![
                Subject::Connection(connection, ConnectionObservation::HalfEnded { end }),
                Subject::Connection(connection, ConnectionObservation::Closed { forwarded, observed }),
            ]
        }
        [name, ref rest @ ..] => exchange(at, name, rest, agent),
        [] => panic!("an empty line"),
    }
}

fn exchange(at: Timestamp, name: &str, words: &[&str], user_agent: Option<String>) -> Vec<Subject> {
    let (letter, number) = name.split_at(1);
    let exchange = ExchangeId { connection: connection(letter), stream: StreamId(number.parse().unwrap()) };
    let direction = Direction::Response;
    let understood = |body| Subject::Exchange(exchange, ExchangeObservation::BodyRead { body });
    let responded = |status| {
        let response = Box::new(ResponseLine { status: Some(status), ..ResponseLine::default() });
        Subject::Exchange(exchange, ExchangeObservation::Responded { response })
    };
    let ended = Subject::Exchange(exchange, ExchangeObservation::Ended { end: ExchangeEnd::Complete });
    match *words {
        [method @ ("GET" | "PATCH"), url] => {
            vec![Subject::Exchange(
                exchange,
                ExchangeObservation::Requested { request: Box::new(RequestLine { user_agent, ..request(method, url) }) },
            )]
        }
        ["written", what] => vec![responded(200), understood(Body::Object(object(what))), ended],
        ["blocked"] => {
            let (connection, stream) = (exchange.connection, Some(exchange.stream));
            vec![Subject::Connection(connection, ConnectionObservation::Blocked { stream, by: Blockage::StreamWindow, since: at })]
        }
        ["opens"] => vec![responded(200)],
        ["bytes", bytes] => {
            vec![Subject::Exchange(exchange, ExchangeObservation::BodyBytes { direction, bytes: bytes.parse().unwrap() })]
        }
        ["missed", bytes] => {
            vec![Subject::Exchange(exchange, ExchangeObservation::BodyGap { direction, bytes: bytes.parse().unwrap() })]
        }
        ["whole", revision, ref items @ ..] => {
            let (continue_token, items) = match items {
                [items @ .., "continue"] => ("more".to_owned(), items),
                items => (String::new(), items),
            };
            let meta = ListMeta { resource_version: revision[3..].to_owned(), continue_token, remaining_item_count: None };
            let items = items.iter().map(|item| object(item)).collect();
            vec![responded(200), understood(Body::List(meta)), understood(Body::Items(items)), ended]
        }
        ["refused", code, reason, ref rest @ ..] => {
            let status = understood(Body::Status(Box::new(status(code, reason, rest))));
            vec![responded(code.parse().unwrap()), status, ended]
        }
        ["ends"] => vec![ended],
        ["ERROR", code, reason] => {
            let status = Some(Box::new(status(code, reason, &[])));
            vec![understood(Body::Events(vec![WatchFrame { status, ..frame(EventType::Error, ObjectRef::default()) }]))]
        }
        [kind, what] => vec![understood(Body::Events(vec![frame(event_type(kind), object(what))]))],
        _ => panic!("no such words: {words:?}"),
    }
}

fn connection(letter: &str) -> ConnectionId {
    ConnectionId(u64::from(letter.bytes().next().unwrap()))
}

fn request(method: &str, url: &str) -> RequestLine {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let options = ListOptions::parse(query);
    let info = RequestInfo::parse(method, path, &options, "");
    let identity = Some(Identity::ServiceAccount { namespace: "apps".to_owned(), name: "manager".to_owned() });
    RequestLine { method: Some(method.to_owned()), info: Some(info), options, identity, ..RequestLine::default() }
}

fn status(code: &str, reason: &str, rest: &[&str]) -> Status {
    let too_large = || StatusCause { reason: "ResourceVersionTooLarge".to_owned(), ..StatusCause::default() };
    let causes = if rest.contains(&"too-large") { vec![too_large()] } else { Vec::new() };
    Status { code: code.parse().unwrap(), reason: reason.to_owned(), causes, ..Status::default() }
}

fn event_type(word: &str) -> EventType {
    match word {
        "ADDED" => EventType::Added,
        "MODIFIED" => EventType::Modified,
        "DELETED" => EventType::Deleted,
        "BOOKMARK" => EventType::Bookmark,
        other => panic!("no such event: {other}"),
    }
}

fn frame(event_type: EventType, object: ObjectRef) -> WatchFrame {
    WatchFrame { event_type, object, initial_events_end: false, status: None, bytes: 100 }
}

/// `NAME@VERSION`.
fn object(words: &str) -> ObjectRef {
    let (name, version) = words.split_once('@').unwrap();
    let namespace = if name.is_empty() { String::new() } else { "default".to_owned() };
    ObjectRef { namespace, name: name.to_owned(), uid: String::new(), resource_version: version.to_owned() }
}
