//! `Debug` output of reflectors, storms and findings, for every list in the canary traffic.

use std::time::Duration;

use observer_core::exchange::Exchange;
use observer_core::http::{Direction, StreamId};
use observer_core::k8s::{ResourceVersion, Status, StatusCause, Verb};
use observer_core::observation::{
    Blockage, Body, ConnectionDecoder, ConnectionId, ConnectionObservation, EndManner, ExchangeEnd, ExchangeId,
    ExchangeObservation, Observation, Plaintext, Process, RequestLine, ResponseLine, RunObservation, Subject, UpstreamName,
};
use observer_core::observer::{Budget, Comparison, Event, Limits, Observer, Usage};
use observer_core::reflector::{self, ReflectorLimits, Reflectors};
use observer_core::storm::{StormLimits, Storms};
use observer_core::time::Timestamp;
use observer_core::wire::{EventType, ListMeta, ObjectRef, WatchFrame};

use super::debug_output::Shown;
use super::traffic::Conversation;

const CONNECTION: ConnectionId = ConnectionId(1);
const EXPIRED: u16 = 410;
const TOO_LARGE: u16 = 504;

/// Plays a reflector for each list: it lists, watches, resumes, gets a 410, relists, and is then refused without end.
pub(super) fn followed(conversations: &[Conversation]) -> Shown {
    let mut shown = Shown::new("reflectors and storms");
    for request in conversations.iter().flat_map(lists) {
        let observations = life(&request);
        follow(&observations, &mut shown);
        observe(&observations, &mut shown);
    }
    shown
}

/// The lists that a conversation requests.
fn lists(conversation: &Conversation) -> Vec<RequestLine> {
    let mut decoder = ConnectionDecoder::new(CONNECTION, Some(super::debug_output::protocol(conversation)), "");
    let mut found = Vec::new();
    let mut note = |observation: Observation| {
        if let Subject::Exchange(_, ExchangeObservation::Requested { request, .. }) = observation.subject
            && request.info.as_ref().is_some_and(|info| info.verb == Verb::List)
        {
            found.push(*request);
        }
    };
    for (direction, bytes) in &conversation.said {
        decoder.bytes(Timestamp::default(), *direction, bytes, &mut note);
    }
    decoder.end(Timestamp::default(), Direction::Response, EndManner::CloseNotify, &mut note);
    decoder.close(Timestamp::default(), Plaintext::default(), &mut note);
    found
}

fn life(request: &RequestLine) -> Vec<Observation> {
    let mut life = RequestSequence { at: Timestamp::default(), stream: 0, observations: Vec::new() };
    let watch = of(request, Verb::Watch, 10);
    let process = Some(Process::new(4711, 1, "controller".to_owned()));
    life.record(Subject::Connection(
        CONNECTION,
        ConnectionObservation::Opened {
            upstream: UpstreamName::default(),
            protocol: None,
            process,
            container_name: None,
            attached_late: false,
            logged: None,
        },
    ));
    // The other reflector lags from the end of the first watch, so a restart would make it relist.
    let mut beside = request.clone();
    beside.options.label_selector.push_str("a=b");
    life.list(&beside, "9");
    life.ask(&of(&beside, Verb::Watch, 9), 200);
    life.list(request, "10");
    life.watch(&watch, None);
    life.watch(&watch, Some(EXPIRED));
    life.list(&of(request, Verb::List, 10), "10");
    life.watch(&watch, Some(EXPIRED));
    (0..12).for_each(|_| life.refused(&of(request, Verb::List, 10)));
    life.writes(request);
    (0..3).for_each(|_| life.watch(&watch, Some(EXPIRED)));
    life.gets(request);
    life.hurries(request);
    life.observations
}

/// The same request as a watch or a list, from this revision.
fn of(request: &RequestLine, verb: Verb, revision: u64) -> RequestLine {
    let mut request = request.clone();
    request.options.watch = verb == Verb::Watch;
    request.options.resource_version = ResourceVersion::At(revision);
    request.options.limit = 0;
    if let Some(info) = &mut request.info {
        info.verb = verb;
    }
    request
}

/// A sequence of requests, one per second.
struct RequestSequence {
    at: Timestamp,
    stream: u64,
    observations: Vec<Observation>,
}

impl RequestSequence {
    fn record(&mut self, subject: Subject) {
        self.observations.push(Observation { at: self.at, subject });
    }

    fn ask(&mut self, request: &RequestLine, status: u16) -> ExchangeId {
        self.ask_after(Duration::from_secs(1), request, status)
    }

    fn ask_after(&mut self, pause: Duration, request: &RequestLine, status: u16) -> ExchangeId {
        self.at = self.at.plus(pause);
        self.stream += 2;
        let exchange = ExchangeId { connection: CONNECTION, stream: StreamId(self.stream) };
        self.record(Subject::Exchange(exchange, ExchangeObservation::Requested { request: Box::new(request.clone()) }));
        let response = Box::new(ResponseLine { status: Some(status), retry_after_seconds: Some(1), ..ResponseLine::default() });
        self.record(Subject::Exchange(exchange, ExchangeObservation::Responded { response }));
        exchange
    }

    fn end(&mut self, exchange: ExchangeId) {
        self.record(Subject::Exchange(exchange, ExchangeObservation::Ended { end: ExchangeEnd::Complete }));
    }

    fn list(&mut self, request: &RequestLine, revision: &str) {
        let exchange = self.ask(request, 200);
        let meta = ListMeta { resource_version: revision.to_owned(), ..ListMeta::default() };
        let item = ObjectRef { name: "a".to_owned(), resource_version: "5".to_owned(), ..ObjectRef::default() };
        self.record(Subject::Exchange(exchange, ExchangeObservation::BodyRead { body: Body::List(meta) }));
        self.record(Subject::Exchange(exchange, ExchangeObservation::BodyRead { body: Body::Items(vec![item]) }));
        self.end(exchange);
    }

    fn watch(&mut self, request: &RequestLine, error: Option<u16>) {
        let exchange = self.ask(request, 200);
        let ExchangeId { connection, stream } = exchange;
        let (stream, by) = (Some(stream), Blockage::StreamWindow);
        self.record(Subject::Connection(connection, ConnectionObservation::Blocked { stream, by, since: self.at }));
        self.at = self.at.plus(Duration::from_secs(2));
        self.record(Subject::Connection(connection, ConnectionObservation::Unblocked { stream, by }));
        if let Some(code) = error {
            let status = Some(Box::new(Status { code, reason: "Expired".to_owned(), ..Status::default() }));
            let object = ObjectRef::default();
            let frame = WatchFrame { event_type: EventType::Error, object, initial_events_end: false, status, bytes: 10 };
            self.record(Subject::Exchange(exchange, ExchangeObservation::BodyRead { body: Body::Events(vec![frame]) }));
        }
        self.end(exchange);
    }

    /// A write of the client, which its own watch returns.
    fn writes(&mut self, request: &RequestLine) {
        let object = ObjectRef { name: "a".to_owned(), resource_version: "11".to_owned(), ..ObjectRef::default() };
        let mut write = request.clone();
        if let Some(info) = &mut write.info {
            info.verb = Verb::Patch;
        }
        let exchange = self.ask(&write, 200);
        self.record(Subject::Exchange(exchange, ExchangeObservation::BodyRead { body: Body::Object(object.clone()) }));
        self.end(exchange);
        let exchange = self.ask(&of(request, Verb::Watch, 10), 200);
        let frame = WatchFrame { event_type: EventType::Modified, object, initial_events_end: false, status: None, bytes: 10 };
        self.record(Subject::Exchange(exchange, ExchangeObservation::BodyRead { body: Body::Events(vec![frame]) }));
        self.end(exchange);
    }

    /// Gets of one object every five seconds, for more than a minute.
    fn gets(&mut self, request: &RequestLine) {
        let mut get = request.clone();
        if let Some(info) = &mut get.info {
            (info.verb, info.name) = (Verb::Get, "a".to_owned());
        }
        for _ in 0..15 {
            let exchange = self.ask_after(Duration::from_secs(5), &get, 404);
            self.end(exchange);
        }
    }

    /// A burst, followed by requests at even intervals, as from a client with a rate limit.
    fn hurries(&mut self, request: &RequestLine) {
        for number in 0..20 {
            let exchange = self.ask_after(Duration::from_millis(if number < 10 { 0 } else { 200 }), request, 404);
            self.end(exchange);
        }
    }

    fn refused(&mut self, request: &RequestLine) {
        let exchange = self.ask(request, TOO_LARGE);
        let cause = StatusCause { reason: "ResourceVersionTooLarge".to_owned(), ..StatusCause::default() };
        let status = Status { code: TOO_LARGE, causes: vec![cause], ..Status::default() };
        self.record(Subject::Exchange(exchange, ExchangeObservation::BodyRead { body: Body::Status(Box::new(status)) }));
        self.end(exchange);
    }
}

/// Uses the parts of an Observer directly, because `Debug` of an Observer prints them only together.
fn follow(observations: &[Observation], shown: &mut Shown) {
    let mut reflectors = Reflectors::new(ReflectorLimits::default());
    let mut storms = Storms::new(StormLimits { reflectors: 1, ..StormLimits::default() });
    let mut open: Option<Exchange> = None;
    for Observation { at, subject } in observations {
        let mut emitted = Vec::new();
        let mut emit = |one| emitted.push(one);
        match (subject, &mut open) {
            (Subject::Exchange(exchange, ExchangeObservation::Requested { request }), _) => {
                let mut exchange = Exchange::begin(*exchange, *at, UpstreamName::default(), RequestLine::clone(request), None);
                reflectors.assign(&mut exchange);
                reflectors.requested(&exchange, &mut emit);
                open = Some(exchange);
            }
            (Subject::Exchange(_, observed), Some(exchange)) => {
                exchange.apply(*at, observed);
                if let ExchangeObservation::Responded { .. } = observed {
                    reflectors.answered(exchange, *at, &mut emit);
                } else if let ExchangeObservation::BodyRead { body } = observed {
                    reflectors.understood(exchange, *at, body, &mut emit);
                } else if let ExchangeObservation::Ended { .. } = observed {
                    reflectors.ended(exchange, *at, &mut emit);
                }
            }
            (Subject::Connection(_, ConnectionObservation::Blocked { by, since, .. }), Some(exchange)) => {
                exchange.block(*at, *by, *since);
                reflectors.blockage_changed(exchange, *at, &mut emit);
            }
            (Subject::Connection(_, ConnectionObservation::Unblocked { by, .. }), Some(exchange)) => {
                exchange.unblock(*at, *by);
                reflectors.blockage_changed(exchange, *at, &mut emit);
            }
            _ => {}
        }
        for one in emitted {
            shown.note(&one);
            match one {
                reflector::ReflectorEvent::RelistBegan(began) => storms.began(*began, &mut |one| shown.note(&one)),
                reflector::ReflectorEvent::Relist(list) => storms.listed(&list),
                reflector::ReflectorEvent::InitialList(_)
                | reflector::ReflectorEvent::Resumed(_)
                | reflector::ReflectorEvent::Stuck(_)
                | reflector::ReflectorEvent::Stalled(_)
                | reflector::ReflectorEvent::StallEnded(_)
                | reflector::ReflectorEvent::TroubleBegan(_)
                | reflector::ReflectorEvent::TroubleEnded(_)
                | reflector::ReflectorEvent::FellBack { .. }
                | reflector::ReflectorEvent::WentBack { .. }
                | reflector::ReflectorEvent::WriteArrived { .. } => {}
            }
        }
        shown.note(&reflectors);
        shown.note(&storms);
    }
    for mut row in reflectors.rows(Timestamp::default()) {
        reflectors.add_detail(&mut row);
        shown.note(&row);
        shown.note(&row.state);
        shown.note(&row.representation);
        row.timeline.iter().for_each(|moment| shown.note(&moment.what));
    }
    reflectors.rate_limits().iter().for_each(|limit| shown.note(limit));
    let now = observations.last().map(|last| last.at).unwrap_or_default();
    reflectors.get_pollers(now).iter().for_each(|poller| shown.note(poller));
    reflectors.propagation().iter().for_each(|row| shown.note(row));
    storms.records(1).iter().for_each(|storm| shown.note(&storm.kind));
}

fn observe(observations: &[Observation], shown: &mut Shown) {
    let mut limits = Limits::default();
    limits.storms.reflectors = 1;
    let mut observer = Observer::new(limits);
    let fault = RunObservation::Fault { act: "expire all".to_owned(), note: "the watch caches are reset".to_owned() };
    observer.observe(Observation { at: Timestamp::default(), subject: Subject::Run(fault) }, &mut |event| shown.note(&event));
    for observation in observations {
        observer.observe(observation.clone(), &mut |event: Event| shown.note(&event));
    }
    let snapshot = observer.snapshot();
    snapshot.findings.iter().for_each(|finding| shown.note(finding));
    snapshot.faults.latest.iter().for_each(|fault| shown.note(fault));
    snapshot.faults.latest.iter().flat_map(|fault| &fault.clients).for_each(|row| shown.note(row));
    shown.note(&snapshot.faults);
    snapshot.problems.iter().for_each(|problem| shown.note(problem));
    snapshot.clients.iter().for_each(|client| shown.note(client));
    snapshot.inventory.iter().for_each(|inventory| shown.note(inventory));
    shown.note(&snapshot.exposure);
    let comparison = Comparison::of(&snapshot, &snapshot);
    shown.note(&comparison);
    comparison.measures.iter().for_each(|row| shown.note(&row.measure));
    comparison.findings.iter().filter_map(|row| row.unit.as_ref()).for_each(|unit| shown.note(unit));
    let usage = Usage::of(&snapshot);
    for excess in Budget::just_kept_by(&Usage::default()).exceeded_by(&usage) {
        shown.note(&excess);
        shown.note(&excess.limited);
    }
    shown.note(&Budget::just_kept_by(&usage));
    shown.note(&usage);
}
