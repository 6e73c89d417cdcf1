//! Connections and exchanges of a script.

use std::collections::{BTreeMap, BTreeSet};

use observer_core::http::{Direction, Protocol, StreamId};
use observer_core::k8s::{Container, Pod, Workload};
use observer_core::observation::{
    Blockage, Body, CaptureObservation, CgroupOwner, ConnectionEnd, ConnectionId, ConnectionObservation, EndManner, ExchangeEnd,
    ExchangeId, ExchangeObservation, ListenerState, Plaintext, Process, RequestLine, ResponseLine, RunObservation, Subject,
    UpstreamName, UpstreamObservation,
};
use observer_core::routing::{Basis, ServerProfile};
use observer_core::time::Timestamp;
use observer_core::wire::{EventType, ListMeta, ObjectRef, WatchFrame};

use crate::objects::{event_type, frame, number, object, objects, request, status, traceparent};

/// The container that `pod=UID` or `pod=UID,NAMESPACE/NAME,CONTAINER` names.
fn container(words: &str) -> Container {
    let mut words = words.split(',');
    let container = Container::nameless("0123456789abcdef".repeat(4), words.next().unwrap_or_default().to_owned());
    let pod = words.next().and_then(|pod| pod.split_once('/')).map(|(namespace, name)| Pod {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        workload: Workload::of_pod(name),
    });
    Container { pod, name: words.next().map(str::to_owned), ..container }
}

/// The open exchanges, and who is on each connection.
#[derive(Default)]
pub(crate) struct Wire {
    clients: BTreeMap<ConnectionId, Client>,
    open: BTreeSet<ExchangeId>,
}

/// The client of a connection, as its requests name it.
#[derive(Clone, Default)]
pub(crate) struct Client {
    pub(crate) user_agent: Option<String>,
    /// Its namespace, and its name.
    pub(crate) service_account: Option<(String, String)>,
}

impl Wire {
    pub(crate) fn parse(&mut self, at: Timestamp, words: &str) -> Vec<Subject> {
        let parts: Vec<&str> = words.split(' ').collect();
        match *parts.as_slice() {
            ["server", version] => {
                let version = version.parse().unwrap_or_else(|_error| panic!("not a version: {version:?}"));
                let profile = Box::new(ServerProfile::of_version(version, Basis::VersionEndpoint));
                vec![upstream(UpstreamObservation::Profile { profile })]
            }
            ["refusing"] => vec![upstream(UpstreamObservation::Listener { state: ListenerState::Refusing })],
            ["listening"] => vec![upstream(UpstreamObservation::Listener { state: ListenerState::Listening })],
            ["tick"] => vec![Subject::Run(RunObservation::Tick)],
            ["shutdown"] => vec![Subject::Run(RunObservation::ShutdownRequested)],
            ["fault", ref rest @ ..] => {
                let words = rest.join(" ");
                let (act, note) = words.split_once(": ").unwrap_or((&words, ""));
                vec![Subject::Run(RunObservation::Fault { act: act.to_owned(), note: note.to_owned() })]
            }
            ["unrecorded"] => {
                vec![Subject::Capture(CaptureObservation::Unrecorded { observations: None, from: None, until: None })]
            }
            [letter, "connects", ref rest @ ..] => self.connects(connection(letter), rest),
            [letter, "closed", "by", side] => self.closed(connection(letter), side),
            [letter, "leaves"] => {
                let end = ConnectionEnd { direction: Direction::Request, manner: EndManner::Fin };
                vec![Subject::Connection(connection(letter), ConnectionObservation::HalfEnded { end })]
            }
            [letter, "goaway"] => {
                vec![Subject::Connection(connection(letter), ConnectionObservation::GoAway { by: Direction::Response, code: 0 })]
            }
            [name, "blocked"] => vec![blocked(name, at)],
            [name, "unblocked"] => vec![unblocked(name)],
            [name, ref rest @ ..] => self.exchange(exchange(name), rest),
            [] => Vec::new(),
        }
    }

    fn connects(&mut self, connection: ConnectionId, rest: &[&str]) -> Vec<Subject> {
        let value = |name| rest.iter().find_map(|word| word.strip_prefix(name));
        let service_account = value("as=").and_then(|name| name.split_once('/'));
        let client = Client {
            user_agent: value("client=").map(|name| name.replace('+', " ")),
            service_account: service_account.map(|(namespace, name)| (namespace.to_owned(), name.to_owned())),
        };
        self.clients.insert(connection, client);
        let owner = value("pod=").map(container).map(CgroupOwner::Container);
        let owner = owner.or_else(|| value("unit=").map(|unit| CgroupOwner::Unit(unit.to_owned())));
        let process = value("pid=").map(|pid| Process::new(number(pid), 1, "manager".to_owned()).owned_by(owner));
        let (upstream, protocol) = (UpstreamName::default(), Some(Protocol::Http2));
        vec![Subject::Connection(
            connection,
            ConnectionObservation::Opened { upstream, protocol, process, container_name: None, attached_late: false, logged: None },
        )]
    }

    fn closed(&mut self, connection: ConnectionId, side: &str) -> Vec<Subject> {
        let end = ConnectionEnd { direction: side_of(side), manner: EndManner::Fin };
        let cut: Vec<ExchangeId> = self.open.iter().copied().filter(|id| id.connection == connection).collect();
        let cut = cut.into_iter().flat_map(|exchange| self.ends(exchange, ExchangeEnd::Cut(Some(end))));
        let mut subjects = vec![Subject::Connection(connection, ConnectionObservation::HalfEnded { end })];
        subjects.extend(cut);
        let (forwarded, observed) = (Plaintext::default(), Plaintext::default());
        subjects.push(Subject::Connection(connection, ConnectionObservation::Closed { forwarded, observed }));
        subjects
    }

    fn exchange(&mut self, exchange: ExchangeId, words: &[&str]) -> Vec<Subject> {
        let direction = Direction::Response;
        let of_it = |observation| Subject::Exchange(exchange, observation);
        let read = |body| of_it(ExchangeObservation::BodyRead { body });
        let responded = |response| of_it(ExchangeObservation::Responded { response: Box::new(response) });
        let ok = || responded(ResponseLine { status: Some(200), ..ResponseLine::default() });
        match *words {
            [method @ ("GET" | "HEAD" | "POST" | "PUT" | "PATCH"), url, ref trace @ ..] => {
                self.open.insert(exchange);
                let client = self.clients.get(&exchange.connection).cloned().unwrap_or_default();
                let request = RequestLine { traceparent: traceparent(trace), ..request(method, url, client) };
                vec![of_it(ExchangeObservation::Requested { request: Box::new(request) })]
            }
            ["opens"] => vec![ok()],
            ["bytes", bytes] => vec![of_it(ExchangeObservation::BodyBytes { direction, bytes: number(bytes) })],
            ["missed", bytes] => vec![of_it(ExchangeObservation::BodyGap { direction, bytes: number(bytes) })],
            ["whole", revision, ref items @ ..] => {
                let [list, items] = list(revision, items);
                [vec![ok(), read(list), read(items)], self.ends(exchange, ExchangeEnd::Complete)].concat()
            }
            ["refused", code, reason, ref rest @ ..] => {
                let retry_after_seconds = rest.iter().find_map(|word| word.strip_prefix("retry-after=")).map(number);
                let response =
                    responded(ResponseLine { status: Some(number(code)), retry_after_seconds, ..ResponseLine::default() });
                let status = read(Body::Status(Box::new(status(code, reason, rest))));
                [vec![response, status], self.ends(exchange, ExchangeEnd::Complete)].concat()
            }
            ["written", what] => {
                [vec![ok(), read(Body::Object(object(what)))], self.ends(exchange, ExchangeEnd::Complete)].concat()
            }
            ["ends"] => self.ends(exchange, ExchangeEnd::Complete),
            ["reset", "by", side] => {
                let code = if side == "client" { 8 } else { 2 };
                self.ends(exchange, ExchangeEnd::Reset { by: side_of(side), code })
            }
            [kind, what, ref rest @ ..] => {
                events(kind, what, rest).into_iter().map(|frame| read(Body::Events(vec![frame]))).collect()
            }
            _ => panic!("no such words: {words:?}"),
        }
    }

    fn ends(&mut self, exchange: ExchangeId, end: ExchangeEnd) -> Vec<Subject> {
        self.open.remove(&exchange);
        vec![Subject::Exchange(exchange, ExchangeObservation::Ended { end })]
    }
}

fn list(revision: &str, items: &[&str]) -> [Body; 2] {
    let (continue_token, items) = match items {
        [items @ .., "continue"] => ("more".to_owned(), items),
        items => (String::new(), items),
    };
    let revision = revision.strip_prefix("rv=").unwrap_or_else(|| panic!("not rv=N: {revision:?}"));
    let meta = ListMeta { resource_version: revision.to_owned(), continue_token, remaining_item_count: None };
    [Body::List(meta), Body::Items(items.iter().flat_map(|item| objects(item)).collect())]
}

fn events(kind: &str, what: &str, rest: &[&str]) -> Vec<WatchFrame> {
    match (kind, rest) {
        ("ERROR", [reason, rest @ ..]) => {
            let status = Some(Box::new(status(what, reason, rest)));
            vec![WatchFrame { status, ..frame(EventType::Error, ObjectRef::default()) }]
        }
        ("END-BOOKMARK", []) => vec![WatchFrame { initial_events_end: true, ..frame(EventType::Bookmark, object(what)) }],
        (kind, []) => objects(what).into_iter().map(|object| frame(event_type(kind), object)).collect(),
        _ => panic!("no such event: {kind} {what} {rest:?}"),
    }
}

fn blocked(name: &str, since: Timestamp) -> Subject {
    let (connection, stream) = blockable(name);
    Subject::Connection(connection, ConnectionObservation::Blocked { stream, by: blockage(stream), since })
}

fn unblocked(name: &str) -> Subject {
    let (connection, stream) = blockable(name);
    Subject::Connection(connection, ConnectionObservation::Unblocked { stream, by: blockage(stream) })
}

/// The connection of a letter, or of a letter with a number, which is a stream.
fn blockable(name: &str) -> (ConnectionId, Option<StreamId>) {
    if name.chars().count() == 1 { (connection(name), None) } else { (connection(name), Some(exchange(name).stream)) }
}

const fn blockage(stream: Option<StreamId>) -> Blockage {
    if stream.is_some() { Blockage::StreamWindow } else { Blockage::Socket }
}

fn side_of(word: &str) -> Direction {
    match word {
        "client" => Direction::Request,
        "server" => Direction::Response,
        other => panic!("neither client nor server: {other:?}"),
    }
}

fn upstream(observation: UpstreamObservation) -> Subject {
    Subject::Upstream(UpstreamName::default(), observation)
}

fn exchange(name: &str) -> ExchangeId {
    let number_at = name.chars().next().map_or(0, char::len_utf8);
    ExchangeId { connection: connection(name), stream: StreamId(number(&name[number_at..])) }
}

/// The connection of the first letter of `name`.
fn connection(name: &str) -> ConnectionId {
    let letter = name.chars().next().unwrap_or_else(|| panic!("no letter"));
    ConnectionId(u32::from(letter).into())
}
