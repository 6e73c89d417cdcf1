//! A later part that is read alone begins with the state that was current at its start.

use observer_core::http::{Direction, Protocol, StreamId};
use observer_core::k8s::{ListOptions, RequestInfo};
use observer_core::observation::{
    Body, ConnectionId, ConnectionObservation, ExchangeEnd, ExchangeId, ExchangeObservation, Observation, RequestLine,
    ResponseLine, Subject, UpstreamName, UpstreamObservation,
};
use observer_core::routing::{Basis, ServerProfile};
use observer_core::time::Timestamp;
use observer_core::wire::ObjectRef;

use super::rig::{Read, files, observed};

#[test]
fn later_part_alone_keeps_open_exchanges_and_reports_missed_bytes() {
    let exchange = ExchangeId { connection: ConnectionId(1), stream: StreamId(3) };
    let options = ListOptions::parse("limit=500");
    let info = Some(RequestInfo::parse("GET", "/api/v1/pods", &options, ""));
    let request = Box::new(RequestLine { method: Some("GET".to_owned()), info, options, ..RequestLine::default() });
    let profile = ServerProfile::of_version("v1.30.4".parse().unwrap(), Basis::VersionEndpoint);
    let items = |count: usize| {
        Subject::Exchange(exchange, ExchangeObservation::BodyRead { body: Body::Items(vec![ObjectRef::default(); count]) })
    };
    let bytes = |bytes| Subject::Exchange(exchange, ExchangeObservation::BodyBytes { direction: Direction::Response, bytes });
    let subjects = [
        Subject::Upstream(UpstreamName::default(), UpstreamObservation::Profile { profile: Box::new(profile) }),
        Subject::Connection(
            ConnectionId(1),
            ConnectionObservation::Opened {
                upstream: UpstreamName::default(),
                protocol: Some(Protocol::Http2),
                process: None,
                container_name: None,
                attached_late: false,
                logged: None,
            },
        ),
        Subject::Exchange(exchange, ExchangeObservation::Requested { request }),
        Subject::Exchange(
            exchange,
            ExchangeObservation::Responded { response: Box::new(ResponseLine { status: Some(200), ..ResponseLine::default() }) },
        ),
        bytes(1000),
        items(10),
        // The second part begins here.
        bytes(500),
        items(5),
        Subject::Exchange(exchange, ExchangeObservation::Ended { end: ExchangeEnd::Complete }),
    ];
    let observations: Vec<Observation> =
        (1..).zip(subjects).map(|(at, subject)| Observation { at: Timestamp::from_nanos(at * 1_000_000), subject }).collect();
    let parts = files(&observations, 6);

    let (_, alone) = observed(&Read::of(&[&parts[1]], &[31]).observations);
    let [list] = alone.requests.as_slice() else { panic!("{:#?}", alone.requests) };
    assert_eq!((list.items.or_zero(), list.bytes.or_zero(), list.missed_bytes), (5, 1500, 1000));
    assert_eq!((list.at, list.status), (Timestamp::from_nanos(3_000_000), Some(200)));
    assert_eq!(list.verdict.as_ref().unwrap().rule, "list-unset-etcd");
    assert_eq!(list.end, Some(ExchangeEnd::Complete));
    let [span] = alone.missed.unrecorded_spans.as_slice() else { panic!("{:?}", alone.missed) };
    assert_eq!((span.observations, span.until), (Some(6), Some(Timestamp::from_nanos(6_000_000))));

    let (_, together) = observed(&Read::of(&parts, &[31]).observations);
    assert_eq!((together.requests[0].items.or_zero(), together.missed.unrecorded), (15, 0));
}
