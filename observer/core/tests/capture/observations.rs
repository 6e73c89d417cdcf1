//! Random observations of every kind.

use observer_core::http::{Direction, Identity, Loss, Protocol, StreamId, TraceParent};
use observer_core::k8s::{Container, ListOptions, Pod, RequestInfo, Status, Unnamed, Workload, WorkloadKind};
use observer_core::observation::{
    Body, BodyNotRead, ConnectionEnd, ConnectionId, ConnectionObservation, EndManner, ExchangeEnd, ExchangeId, ExchangeObservation,
    ListenerState, Observation, Plaintext, ProbeMissed, Process, RequestLine, ResponseLine, RunObservation, Subject,
    TapObservation, UpstreamName, UpstreamObservation,
};
use observer_core::routing::{Basis, RecordedRead, ServerProfile};
use observer_core::time::Timestamp;
use observer_core::wire::{EventType, ListMeta, ObjectRef, WatchFrame};
use proptest::prelude::*;
use proptest::sample::select;

const TARGETS: &[(&str, &str, &str)] = &[
    ("GET", "/api/v1/pods", "limit=500"),
    ("GET", "/api/v1/namespaces/a/pods", "resourceVersion=0"),
    ("GET", "/api/v1/pods", "limit=5&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NzQsInN0YXJ0IjoiYVx1MDAwMCJ9"),
    ("GET", "/apis/apps/v1/deployments", "resourceVersion=17&resourceVersionMatch=Exact&labelSelector=a%3D%C3%A4%22"),
    ("GET", "/api/v1/pods", "watch=1&allowWatchBookmarks=true&resourceVersion=18446744073709551615"),
    ("GET", "/api/v1/pods", "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
    ("GET", "/api/v1/pods", "resourceVersion=x"),
    ("GET", "/api/v1/namespaces/a/pods/b", ""),
    ("GET", "/api/v1/namespaces/a/pods/b/log", "follow=true"),
    ("GET", "/version", ""),
    ("POST", "/api/v1/namespaces/a/pods", ""),
];

/// Offsets to which the wall clock may be set, in nanoseconds.
const STEPS: [i64; 4] = [0, 0, -3_600_000_000_000, 37_000_000_000];

/// Fewer than `most` observations. Their times mostly increase, and the wall clock is set now and then.
pub(crate) fn observations(most: usize) -> impl Strategy<Value = Vec<Observation>> {
    prop::collection::vec((0_u64..2_000_000_000, select(&STEPS), subject()), 0..most).prop_map(|steps| {
        let mut now = 1_700_000_000_000_000_000;
        let observations = steps.into_iter().map(|(step, ahead, subject)| {
            now += step;
            // Connections are read one by one, so times of different connections may be out of order.
            Observation { at: Timestamp::from_nanos(now - step % 3).with_wall_ahead(ahead), subject }
        });
        observations.collect()
    })
}

fn subject() -> impl Strategy<Value = Subject> {
    let connection = (connection(), of_connection()).prop_map(|(id, observed)| Subject::Connection(id, observed));
    let exchange = (exchange(), of_exchange()).prop_map(|(id, observed)| Subject::Exchange(id, observed));
    let upstream = (upstream(), of_upstream()).prop_map(|(upstream, observed)| Subject::Upstream(upstream, observed));
    let fault = RunObservation::Fault { act: "restart for=3s".to_owned(), note: "it restarts".to_owned() };
    let silent = RunObservation::Fault { act: "compact".to_owned(), note: String::new() };
    let run = select(vec![RunObservation::ShutdownRequested, RunObservation::Tick, fault, silent]).prop_map(Subject::Run);
    // Boxed, because the inlined frames need more stack than a test thread has.
    prop_oneof![
        8 => connection.boxed(),
        24 => exchange.boxed(),
        2 => upstream.boxed(),
        2 => of_tap().prop_map(Subject::Tap).boxed(),
        1 => run.boxed(),
    ]
}

fn of_connection() -> impl Strategy<Value = ConnectionObservation> {
    let protocol = select(vec![None, Some(Protocol::Http1), Some(Protocol::Http2)]);
    let opened = (upstream(), protocol, prop::option::of(process()), prop::option::of(text()), any::<bool>());
    let gap = (prop::option::of(stream()), direction(), number());
    prop_oneof![
        4 => opened.prop_map(|(upstream, protocol, process, container_name, attached_late)| {
            ConnectionObservation::Opened { upstream, protocol, process, container_name, attached_late, logged: None }
        }),
        1 => connection_end().prop_map(|end| ConnectionObservation::HalfEnded { end }),
        1 => (plaintext(), plaintext())
            .prop_map(|(forwarded, observed)| ConnectionObservation::Closed { forwarded, observed }),
        1 => (direction(), any::<u32>()).prop_map(|(by, code)| ConnectionObservation::GoAway { by, code }),
        1 => gap.prop_map(|(stream, direction, bytes)| ConnectionObservation::Gap { stream, direction, bytes }),
        1 => (direction(), number(), text())
            .prop_map(|(direction, offset, what)| ConnectionObservation::Malformed { direction, offset, what }),
        1 => (direction(), select(vec![Loss::Gap, Loss::Malformed, Loss::Bound]))
            .prop_map(|(direction, loss)| ConnectionObservation::DecodingStopped { direction, loss }),
        1 => Just(ConnectionObservation::DecoderFailed),
    ]
}

fn of_exchange() -> impl Strategy<Value = ExchangeObservation> {
    prop_oneof![
        6 => request().prop_map(|request| ExchangeObservation::Requested { request: Box::new(request) }),
        1 => (100_u16..200).prop_map(|status| ExchangeObservation::InterimResponse { status }),
        4 => response().prop_map(|response| ExchangeObservation::Responded { response: Box::new(response) }),
        3 => (direction(), number()).prop_map(|(direction, bytes)| ExchangeObservation::BodyBytes { direction, bytes }),
        6 => body().prop_map(|body| ExchangeObservation::BodyRead { body }),
        1 => not_read().prop_map(|reason| ExchangeObservation::BodyNotRead { reason }),
        1 => (direction(), number()).prop_map(|(direction, bytes)| ExchangeObservation::BodyGap { direction, bytes }),
        1 => text().prop_map(|protocol| ExchangeObservation::Upgraded { protocol }),
        1 => select(vec![RecordedRead::EtcdTime, RecordedRead::CacheList]).prop_map(|read| ExchangeObservation::Recorded { read }),
        3 => end().prop_map(|end| ExchangeObservation::Ended { end }),
    ]
}

fn of_upstream() -> impl Strategy<Value = UpstreamObservation> {
    let version = select(vec!["v1.16.0", "v1.30.4", "v1.33.1", "v1.34.4-gke.1"]);
    let profile = version.prop_map(|version| ServerProfile::of_version(version.parse().unwrap(), Basis::VersionEndpoint));
    prop_oneof![
        profile.prop_map(|profile| UpstreamObservation::Profile { profile: Box::new(profile) }),
        select(vec![ListenerState::Listening, ListenerState::Refusing]).prop_map(|state| UpstreamObservation::Listener { state }),
    ]
}

fn of_tap() -> impl Strategy<Value = TapObservation> {
    let missed = (number(), number(), number()).prop_map(|(records, sockets, unplaced)| ProbeMissed {
        records,
        sockets,
        unplaced,
        ..ProbeMissed::default()
    });
    prop_oneof![
        number().prop_map(|connections| TapObservation::ResetInsteadOfRefused { connections }),
        text().prop_map(|why| TapObservation::ConnectFailed { why }),
        number().prop_map(|connections| TapObservation::ConnectionsUnobserved { connections }),
        number().prop_map(|notices| TapObservation::NoticesDropped { notices }),
        missed.prop_map(|missed| TapObservation::ProbeMissed { missed }),
        (text(), text()).prop_map(|(file, why)| TapObservation::NotProbed { file, why }),
    ]
}

fn upstream() -> impl Strategy<Value = UpstreamName> {
    select(vec!["", "a:6443", "b:6443/prefix"]).prop_map(|name| UpstreamName(name.to_owned()))
}

fn request() -> impl Strategy<Value = RequestLine> {
    let identity = prop_oneof![
        Just(Identity::Bearer),
        text().prop_map(|subject| Identity::Subject { subject }),
        (text(), text()).prop_map(|(namespace, name)| Identity::ServiceAccount { namespace, name }),
    ];
    (select(TARGETS), prop::option::of(text()), prop::option::of(identity), any::<bool>(), any::<bool>()).prop_map(
        |((method, path, query), user_agent, identity, known, closes)| {
            let options = ListOptions::parse(query);
            let info = known.then(|| RequestInfo::parse(method, path, &options, ""));
            let traceparent = closes.then(|| Box::new(TraceParent { trace: 7, parent: 8, flags: 1 }));
            RequestLine {
                method: Some(method.to_owned()),
                info,
                options,
                user_agent,
                identity,
                traceparent,
                closes,
                ..RequestLine::default()
            }
        },
    )
}

fn response() -> impl Strategy<Value = ResponseLine> {
    (select(vec![None, Some(200), Some(410), Some(429), Some(504)]), prop::option::of(text()), prop::option::of(any::<u32>()))
        .prop_map(|(status, content_type, retry_after_seconds)| ResponseLine {
            status,
            content_type,
            retry_after_seconds,
            ..ResponseLine::default()
        })
}

fn body() -> impl Strategy<Value = Body> {
    let meta =
        (text(), text(), prop::option::of(any::<i64>())).prop_map(|(resource_version, continue_token, remaining_item_count)| {
            ListMeta { resource_version, continue_token, remaining_item_count }
        });
    prop_oneof![
        text().prop_map(Body::Kind),
        meta.prop_map(Body::List),
        prop::collection::vec(object(), 0..4).prop_map(Body::Items),
        object().prop_map(Body::Object),
        prop::collection::vec(frame(), 0..4).prop_map(Body::Events),
        status().prop_map(|status| Body::Status(Box::new(status))),
    ]
}

fn frame() -> impl Strategy<Value = WatchFrame> {
    let event_type = select(vec![EventType::Added, EventType::Modified, EventType::Deleted, EventType::Bookmark, EventType::Error]);
    (event_type, object(), any::<bool>(), prop::option::of(status()), number()).prop_map(
        |(event_type, object, initial_events_end, status, bytes)| WatchFrame {
            event_type,
            object,
            initial_events_end,
            status: status.map(Box::new),
            bytes,
        },
    )
}

fn object() -> impl Strategy<Value = ObjectRef> {
    (text(), text(), text(), number()).prop_map(|(namespace, name, uid, version)| ObjectRef {
        namespace,
        name,
        uid,
        resource_version: version.to_string(),
    })
}

fn status() -> impl Strategy<Value = Status> {
    (text(), text()).prop_map(|(reason, message)| {
        serde_json::from_value(serde_json::json!({"code": 410, "reason": reason, "message": message})).unwrap()
    })
}

fn not_read() -> impl Strategy<Value = BodyNotRead> {
    prop_oneof![
        text().prop_map(BodyNotRead::MediaType),
        text().prop_map(BodyNotRead::ContentCoding),
        (number(), text()).prop_map(|(at, what)| BodyNotRead::Malformed { at, what }),
    ]
}

fn end() -> impl Strategy<Value = ExchangeEnd> {
    prop_oneof![
        4 => Just(ExchangeEnd::Complete),
        1 => (direction(), any::<u32>()).prop_map(|(by, code)| ExchangeEnd::Reset { by, code }),
        1 => prop::option::of(connection_end()).prop_map(ExchangeEnd::Cut),
        1 => Just(ExchangeEnd::NotObserved),
    ]
}

fn connection_end() -> impl Strategy<Value = ConnectionEnd> {
    let manners = vec![EndManner::CloseNotify, EndManner::Fin, EndManner::Reset, EndManner::BrokenTls, EndManner::ByWatchtap];
    (direction(), select(manners)).prop_map(|(direction, manner)| ConnectionEnd { direction, manner })
}

fn direction() -> impl Strategy<Value = Direction> {
    select(vec![Direction::Request, Direction::Response])
}

fn connection() -> impl Strategy<Value = ConnectionId> {
    (1_u64..4).prop_map(ConnectionId)
}

fn stream() -> impl Strategy<Value = StreamId> {
    (1_u64..6).prop_map(StreamId)
}

fn exchange() -> impl Strategy<Value = ExchangeId> {
    (connection(), stream()).prop_map(|(connection, stream)| ExchangeId { connection, stream })
}

fn plaintext() -> impl Strategy<Value = Plaintext> {
    (number(), number()).prop_map(|(request, response)| Plaintext { request, response })
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..100_000, any::<u64>()]
}

/// Text with line ends, quotes, control characters and letters beyond ASCII.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-z./-]{1,12}", ".{0,6}", select(vec!["\n\"\\\u{0}".to_owned(), "näme".to_owned()])]
}

fn process() -> impl Strategy<Value = Process> {
    let workload =
        (text(), prop::option::of(select(vec![WorkloadKind::Deployment, WorkloadKind::CronJob, WorkloadKind::StaticPod])))
            .prop_map(|(name, kind)| Workload { name, kind });
    let pod =
        (text(), text(), prop::option::of(workload)).prop_map(|(namespace, name, workload)| Pod { namespace, name, workload });
    let unnamed = prop::option::of(select(vec![
        Unnamed::LogFoldersUnread,
        Unnamed::NoLogFolder,
        Unnamed::SeveralLogFolders,
        Unnamed::NoContainerFolder,
        Unnamed::SeveralContainers,
    ]));
    let container = (text(), text(), prop::option::of(pod), prop::option::of(text()), unnamed)
        .prop_map(|(id, pod_uid, pod, name, unnamed)| Container { id, pod_uid, pod, name, unnamed });
    (1..99_999_u32, number(), "[a-z-]{1,15}", prop::option::of(container), prop::option::of(text()))
        .prop_map(|(pid, started, name, container, unit)| Process { pid, started, name, container: container.map(Box::new), unit })
}
