//! Random observations of every kind.

use observer_core::http::{Direction, Identity, Loss, Protocol, StreamId};
use observer_core::k8s::{Container, ListOptions, RequestInfo, Status};
use observer_core::observation::{
    Body, BodyNotRead, ConnectionEnd, ConnectionId, EndManner, ExchangeEnd, ExchangeId, ListenerState, Observation, Plaintext,
    ProbeMissed, Process, RequestLine, ResponseLine, UpstreamName, What,
};
use observer_core::routing::{Basis, ServerProfile};
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
    ("GET", "/version", ""),
    ("POST", "/api/v1/namespaces/a/pods", ""),
];

/// Offsets to which the wall clock may be set, in nanoseconds.
const STEPS: [i64; 4] = [0, 0, -3_600_000_000_000, 37_000_000_000];

/// Fewer than `most` observations. Their times mostly increase, and the wall clock is set now and then.
pub(crate) fn observations(most: usize) -> impl Strategy<Value = Vec<Observation>> {
    prop::collection::vec((0_u64..2_000_000_000, select(&STEPS), what()), 0..most).prop_map(|steps| {
        let mut now = 1_700_000_000_000_000_000;
        let observations = steps.into_iter().map(|(step, ahead, what)| {
            now += step;
            // Connections are read one by one, so times of different connections may be out of order.
            Observation { at: Timestamp::from_nanos(now - step % 3).with_wall_ahead(ahead), what }
        });
        observations.collect()
    })
}

fn what() -> impl Strategy<Value = What> {
    let weighted = prop_oneof![
        1 => profile(),
        2 => (connection(), upstream(), select(vec![None, Some(Protocol::Http1), Some(Protocol::Http2)]), prop::option::of(process()), any::<bool>())
            .prop_map(|(connection, upstream, protocol, process, attached_late)| What::ConnectionOpened {
                connection,
                upstream,
                protocol,
                process,
                attached_late,
            }),
        6 => (exchange(), request()).prop_map(|(exchange, request)| What::Requested { exchange, request: Box::new(request) }),
        4 => (exchange(), response()).prop_map(|(exchange, response)| What::Responded { exchange, response: Box::new(response) }),
        6 => (exchange(), body()).prop_map(|(exchange, body)| What::Understood { exchange, body }),
        3 => (exchange(), direction(), number()).prop_map(|(exchange, direction, bytes)| What::Bytes { exchange, direction, bytes }),
        3 => (exchange(), end()).prop_map(|(exchange, end)| What::Ended { exchange, end }),
    ];
    // Boxed, because the inlined frames need more stack than a test thread has.
    prop_oneof![6 => weighted.boxed(), 2 => of_connections().boxed(), 1 => of_exchanges().boxed(), 1 => of_taps().boxed()]
}

fn of_connections() -> impl Strategy<Value = What> {
    prop_oneof![
        (connection(), connection_end()).prop_map(|(connection, end)| What::ConnectionEnded { connection, end }),
        (connection(), plaintext(), plaintext()).prop_map(|(connection, forwarded, observed)| What::ConnectionClosed {
            connection,
            forwarded,
            observed
        }),
        (connection(), direction(), any::<u32>()).prop_map(|(connection, by, code)| What::GoAway { connection, by, code }),
        (connection(), prop::option::of(stream()), direction(), number())
            .prop_map(|(connection, stream, direction, bytes)| What::Missed { connection, stream, direction, bytes }),
        (connection(), direction(), number(), text()).prop_map(|(connection, direction, offset, what)| What::Malformed {
            connection,
            direction,
            offset,
            what
        }),
        (connection(), direction(), select(vec![Loss::Gap, Loss::Malformed, Loss::Bound]))
            .prop_map(|(connection, direction, loss)| What::Dark { connection, direction, loss }),
        connection().prop_map(|connection| What::DecoderFailed { connection }),
    ]
}

fn of_exchanges() -> impl Strategy<Value = What> {
    prop_oneof![
        (exchange(), 100_u16..200).prop_map(|(exchange, status)| What::Informed { exchange, status }),
        (exchange(), text()).prop_map(|(exchange, protocol)| What::Upgraded { exchange, protocol }),
        (exchange(), direction(), number()).prop_map(|(exchange, direction, bytes)| What::BodyMissed {
            exchange,
            direction,
            bytes
        }),
        (exchange(), not_read()).prop_map(|(exchange, reason)| What::NotRead { exchange, reason }),
    ]
}

fn of_taps() -> impl Strategy<Value = What> {
    prop_oneof![
        (upstream(), select(vec![ListenerState::Listening, ListenerState::Refusing]))
            .prop_map(|(upstream, state)| What::Listener { upstream, state }),
        number().prop_map(|connections| What::ResetInsteadOfRefused { connections }),
        text().prop_map(|why| What::ConnectFailed { why }),
        number().prop_map(|connections| What::Unobserved { connections }),
        number().prop_map(|notices| What::Untold { notices }),
        (number(), number(), number()).prop_map(|(records, sockets, unplaced)| What::ProbeMissed {
            missed: ProbeMissed { records, sockets, unplaced, ..ProbeMissed::default() }
        }),
        (text(), text()).prop_map(|(file, why)| What::NotProbed { file, why }),
        select(vec![What::ShutdownRequested, What::Tick]),
    ]
}

fn profile() -> impl Strategy<Value = What> {
    let version = select(vec!["v1.16.0", "v1.30.4", "v1.33.1", "v1.34.4-gke.1"]);
    (upstream(), version).prop_map(|(upstream, version)| What::Profile {
        upstream,
        profile: Box::new(ServerProfile::of_version(version.parse().unwrap(), Basis::VersionEndpoint)),
    })
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
            RequestLine { method: Some(method.to_owned()), info, options, user_agent, identity, closes, ..RequestLine::default() }
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
        1 => Just(ExchangeEnd::OutOfSight),
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
    let container = (text(), text()).prop_map(|(id, pod_uid)| Container { id, pod_uid });
    (1..99_999_u32, number(), "[a-z-]{1,15}", proptest::option::of(container)).prop_map(|(pid, started, name, container)| Process {
        pid,
        started,
        name,
        container,
    })
}
