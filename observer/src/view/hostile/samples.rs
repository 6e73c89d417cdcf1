//! Observations with text in every field that a client, a server or a capture can fill.
//!
//! The samples name every field of their types, so a new field does not compile until it is added here.

use observer_core::http::{Direction, Identity, Loss, StreamId};
use observer_core::k8s::{Container, ListOptions, Pod, RequestInfo, Status, StatusCause, Workload};
use observer_core::observation::{
    Body, BodyNotRead, CaptureObservation, ConnectionId, ConnectionObservation, ExchangeEnd, ExchangeId, ExchangeObservation,
    ListenerState, Observation, Process, RequestLine, ResponseLine, RunObservation, Subject, TapObservation, UpstreamName,
    UpstreamObservation,
};
use observer_core::routing::{Basis, RecordedRead, ServerProfile};
use observer_core::wire::{EventType, ListMeta, ObjectRef, WatchFrame};

use super::super::page::tests::stories;

/// The stories of the page's tests, and samples of all other observations.
pub(super) fn observations() -> Vec<Observation> {
    let mut all: Vec<Observation> =
        [stories::trouble(), stories::storm()].iter().flat_map(|one| observer_script::observations(one)).collect();
    let at = all.iter().map(|one| one.at).max().unwrap_or_default();
    all.extend(samples().into_iter().map(|subject| Observation { at, subject }));
    all
}

/// All values of [`name`].
pub(super) const KINDS: &[&str] = &[
    "profile",
    "connection-opened",
    "requested",
    "responded",
    "body-read",
    "body-not-read",
    "upgraded",
    "malformed",
    "listener",
    "connect-failed",
    "not-probed",
    "capture-ended",
    "fault",
    NUMBERS,
];

/// The kind of all observations without text.
const NUMBERS: &str = "of numbers";

/// The kind of an observation that may contain text; the others share one name.
pub(super) const fn name(subject: &Subject) -> &'static str {
    match subject {
        Subject::Connection(_, ConnectionObservation::Opened { .. }) => "connection-opened",
        Subject::Connection(_, ConnectionObservation::Malformed { .. }) => "malformed",
        Subject::Exchange(_, observed) => name_of_exchange(observed),
        Subject::Upstream(_, UpstreamObservation::Profile { .. }) => "profile",
        Subject::Upstream(_, UpstreamObservation::Listener { .. }) => "listener",
        Subject::Tap(TapObservation::ConnectFailed { .. }) => "connect-failed",
        Subject::Tap(TapObservation::NotProbed { .. }) => "not-probed",
        Subject::Capture(CaptureObservation::Ended { .. }) => "capture-ended",
        Subject::Run(RunObservation::Fault { .. }) => "fault",
        Subject::Connection(..) | Subject::Tap(_) | Subject::Capture(_) | Subject::Run(_) | Subject::Unknown => NUMBERS,
    }
}

const fn name_of_exchange(observed: &ExchangeObservation) -> &'static str {
    match observed {
        ExchangeObservation::Requested { .. } => "requested",
        ExchangeObservation::Responded { .. } => "responded",
        ExchangeObservation::BodyRead { .. } => "body-read",
        ExchangeObservation::BodyNotRead { .. } => "body-not-read",
        ExchangeObservation::Upgraded { .. } => "upgraded",
        ExchangeObservation::Logged { .. } => "logged",
        ExchangeObservation::InterimResponse { .. }
        | ExchangeObservation::BodyBytes { .. }
        | ExchangeObservation::BodyGap { .. }
        | ExchangeObservation::Recorded { .. }
        | ExchangeObservation::ClosedByForce { .. }
        | ExchangeObservation::CacheReset
        | ExchangeObservation::Ended { .. } => NUMBERS,
    }
}

/// One observation of each kind, on a connection that is in no story.
pub(super) fn samples() -> Vec<Subject> {
    let connection = ConnectionId(1_000);
    let upstream = || UpstreamName("a:6443".to_owned());
    let text = || "t".to_owned();
    let workload = Some(Workload { name: text(), kind: None });
    let pod = Some(Pod { namespace: text(), name: text(), workload });
    let container = Some(Box::new(Container { pod, name: Some(text()), ..Container::nameless(text(), text()) }));
    let process = Some(Process { container, unit: Some(text()), ..Process::new(1, 1, text()) });
    let profile = Box::new(spoiled_profile("t"));
    let mut samples = vec![
        Subject::Upstream(upstream(), UpstreamObservation::Profile { profile }),
        Subject::Connection(
            connection,
            ConnectionObservation::Opened {
                upstream: upstream(),
                protocol: None,
                process,
                container_name: Some(text()),
                attached_late: false,
                logged: None,
            },
        ),
        Subject::Upstream(upstream(), UpstreamObservation::Listener { state: ListenerState::Refusing }),
        Subject::Upstream(upstream(), UpstreamObservation::Listener { state: ListenerState::Listening }),
        Subject::Tap(TapObservation::ConnectFailed { why: text() }),
        Subject::Tap(TapObservation::NotProbed { file: text(), why: text() }),
        Subject::Capture(CaptureObservation::Ended { why: text() }),
        Subject::Run(RunObservation::Fault { act: text(), note: text() }),
        Subject::Connection(connection, ConnectionObservation::DecodingStopped { direction: Direction::Request, loss: Loss::Gap }),
    ];
    let requests: [(&str, &str, &str); 6] = [
        ("GET", "/api/v1/namespaces/n/pods", "labelSelector=s&fieldSelector=f&continue=c&resourceVersion=r&limit=5"),
        ("GET", "/apis/g.example.com/v1/widgets", "watch=1&resourceVersion=5&labelSelector=s"),
        ("GET", "/api/v1/namespaces/n/pods/p/log", ""),
        ("POST", "/api/v1/namespaces/n/pods/p/exec", "container=c"),
        ("GET", "/openapi/v3/t", ""),
        ("BREW", "/t", ""),
    ];
    for (number, (method, path, query)) in (1..).zip(requests) {
        let exchange = ExchangeId { connection, stream: StreamId(2 * number + 1) };
        let options = ListOptions::parse(query);
        let request = Box::new(RequestLine {
            method: Some(method.to_owned()),
            info: Some(RequestInfo::parse(method, path, &options, "")),
            options,
            closes: false,
            user_agent: Some("agent/1.0".to_owned()),
            accept: Some(text()),
            identity: Some(Identity::Subject { subject: text() }),
            kubectl_command: Some(text()),
            traceparent: None,
        });
        samples.push(Subject::Exchange(exchange, ExchangeObservation::Requested { request }));
        let answers = answers(if number % 2 == 0 { 200 } else { 401 });
        samples.extend(answers.into_iter().map(|observed| Subject::Exchange(exchange, observed)));
    }
    samples.push(Subject::Connection(
        connection,
        ConnectionObservation::Malformed { direction: Direction::Response, offset: 1, what: text() },
    ));
    samples
}

/// All observations of an answer.
fn answers(status: u16) -> Vec<ExchangeObservation> {
    let text = || "t".to_owned();
    let response = Box::new(ResponseLine {
        status: Some(status),
        content_type: Some(text()),
        content_encoding: Some(text()),
        audit_id: Some(text()),
        flow_schema_uid: Some(text()),
        priority_level_uid: Some(text()),
        retry_after_seconds: Some(1),
        warned: true,
    });
    let refusal = || {
        let causes = vec![StatusCause { reason: text(), message: text(), field: text() }];
        let (code, retry_after_seconds) = (401, Some(1));
        let (status, message, reason, continue_token) = (text(), text(), text(), text());
        Box::new(Status { status, message, reason, code, retry_after_seconds, causes, continue_token })
    };
    let object = || ObjectRef { namespace: text(), name: text(), uid: text(), resource_version: "5".to_owned() };
    let (event_type, initial_events_end, bytes) = (EventType::Error, false, 5);
    let frame = WatchFrame { event_type, object: object(), initial_events_end, status: Some(refusal()), bytes };
    let meta = ListMeta { resource_version: "5".to_owned(), continue_token: text(), remaining_item_count: Some(1) };
    let bodies = [
        Body::MediaType(text()),
        Body::Kind(text()),
        Body::List(meta),
        Body::Items(vec![object()]),
        Body::Object(object()),
        Body::Events(vec![frame]),
        Body::Status(refusal()),
        Body::Version("v1.34.4-vendor.1".parse().unwrap()),
    ];
    let reasons =
        [BodyNotRead::MediaType(text()), BodyNotRead::ContentCoding(text()), BodyNotRead::Malformed { at: 1, what: text() }];
    let understood = bodies.into_iter().map(|body| ExchangeObservation::BodyRead { body });
    let not_read = reasons.into_iter().map(|reason| ExchangeObservation::BodyNotRead { reason });
    let mut answers = vec![ExchangeObservation::Responded { response }];
    answers.extend(understood.chain(not_read));
    answers.push(ExchangeObservation::Upgraded { protocol: text() });
    answers.push(ExchangeObservation::Recorded { read: RecordedRead::EtcdList });
    answers.push(ExchangeObservation::ClosedByForce { waiting: Some(1) });
    answers.push(ExchangeObservation::CacheReset);
    answers.push(ExchangeObservation::Logged { user: Some(Identity::of_user("t")), took_us: Some(1) });
    answers.push(ExchangeObservation::Ended { end: ExchangeEnd::Complete });
    answers
}

/// A server profile with `text` in every field that takes text.
pub(super) fn spoiled_profile(text: &str) -> ServerProfile {
    let mut profile = ServerProfile::of_version("v1.34.4".parse().unwrap(), Basis::VersionEndpoint);
    profile.uncached.insert(text.to_owned());
    profile.aggregated.insert(text.to_owned());
    profile
}
