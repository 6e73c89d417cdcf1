//! All informers of a client list at once over one HTTP/2 connection, while the observing thread is paused. The client gets all
//! bytes, the missed bytes are attributed to their streams, and later requests are decoded, including their header table.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use h2::server::SendResponse;
use http::{Request, Response};
use observer_core::http::StreamId;
use observer_core::observation::ExchangeEnd;
use observer_core::observer::{Event, Missed, RequestRecord, Totals};
use observer_core::routing::{Basis, ServerProfile};
use observer_core::time::Timestamp;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use watchtap::api_server::UpstreamId;
use watchtap::intake::{Intake, IntakeLimits};
use watchtap::memory_budget::MemoryBudget;
use watchtap::pipeline::EventSink;
use watchtap::pipeline::{Observing, Outputs, Upstream};
use watchtap::tap::Clock;

use super::rig::{Options, Rig};
use super::upstream::UpstreamStream;

/// The resources that the informers list, with their numbers of objects.
const BURST: [(&str, usize); 5] = [("pods", 9_000), ("nodes", 7_000), ("services", 8_000), ("secrets", 5_000), ("events", 12_000)];
const AFTERWARDS: [(&str, usize); 3] = [("endpoints", 3), ("pods", 4), ("configmaps", 5)];
/// Queue size in bytes: a fraction of one list.
const ROOM: usize = 200_000;
const USER_AGENT: &str = "manager/v1.2.3 (linux/amd64) kubernetes/v1.34.1";

#[tokio::test]
async fn relist_burst_past_a_stalled_observer_loses_only_counted_bytes() {
    let limits = IntakeLimits { connection: ROOM, ..IntakeLimits::default() };
    let (intake, receiver) = Intake::new(limits);
    let mut rig = Rig::with(Options { alpn: &["h2"], intake: Some(intake), ..Options::default() });
    let (client, upstream) = rig.pair_offering(&["h2"]).await;
    let serving = tokio::spawn(serve(upstream));
    let (requests, connection) = h2::client::Builder::new().initial_window_size(4 << 20).handshake(client).await.unwrap();
    let connection = tokio::spawn(connection);

    let burst: Vec<_> = BURST.map(|(resource, objects)| tokio::spawn(list(requests.clone(), resource, objects))).into();
    for listed in burst {
        listed.await.unwrap();
    }
    let (sender, mut seen) = channel(64);
    let outputs = Outputs::new(vec![Box::new(Sink(sender))], None);
    let observing = Observing::start(receiver, Clock::start().now(), vec![server()], outputs, &MemoryBudget::default()).unwrap();
    let (mut records, mut missed) = (Vec::new(), BTreeMap::new());
    // A gap at the end of the last list is reported with the next bytes of the connection.
    take(BURST.len() - 1, &mut seen, &mut records, &mut missed).await;
    for (resource, objects) in AFTERWARDS {
        list(requests.clone(), resource, objects).await;
    }
    take(BURST.len() + AFTERWARDS.len(), &mut seen, &mut records, &mut missed).await;
    drop((requests, seen));
    connection.await.unwrap().unwrap();
    serving.await.unwrap();
    rig.handle.stop(Duration::ZERO).await;
    drop(rig);
    let snapshot = tokio::task::spawn_blocking(|| observing.finish()).await.unwrap().unwrap().snapshot;

    records.sort_by_key(|record| record.id.stream);
    let (burst, afterwards) = records.split_at(BURST.len());
    for record in burst {
        let resource = record.shape.resource.as_str();
        let (_, objects) = BURST.iter().find(|(name, _)| *name == resource).unwrap();
        let whole = body(resource, *objects).len() as u64;
        assert_eq!(
            (record.bytes.or_zero(), record.end),
            (whole, Some(ExchangeEnd::Complete)),
            "{resource}: its length and end are known"
        );
        assert_eq!(record.client.program, "manager/v1.2.3", "{resource}");
        assert_eq!(missed.get(&Some(record.id.stream)).copied().unwrap_or_default(), record.missed_bytes, "{resource}: by stream");
    }
    let lost: u64 = burst.iter().map(|record| record.missed_bytes).sum();
    assert!(lost > 1_000_000, "only {lost} bytes fell out: the test needs less room");
    assert_eq!((snapshot.missed.bytes, snapshot.missed.stopped_directions, snapshot.missed.malformed), (lost, 0, 0));
    for (record, (resource, objects)) in afterwards.iter().zip(AFTERWARDS) {
        let known = (record.shape.resource.as_str(), record.items.or_zero(), record.missed_bytes, record.client.program.as_str());
        assert_eq!(known, (resource, objects as u64, 0, "manager/v1.2.3"));
    }
}

/// Sends a list and compares the response with the server's data.
async fn list(requests: SendRequest<Bytes>, resource: &str, objects: usize) {
    let mut requests = requests.ready().await.unwrap();
    let request = Request::get(format!("https://kubernetes/api/v1/{resource}?resourceVersion=0&limit=500"))
        .header("user-agent", USER_AGENT)
        .header("accept", "application/json")
        .header("authorization", "Bearer a-token-that-goes-into-the-header-table");
    let (response, _) = requests.send_request(request.body(()).unwrap(), true).unwrap();
    let mut from = response.await.unwrap().into_body();
    let mut arrived = Vec::new();
    while let Some(bytes) = from.data().await {
        let bytes = bytes.unwrap();
        from.flow_control().release_capacity(bytes.len()).unwrap();
        arrived.extend_from_slice(&bytes);
    }
    assert!(arrived == body(resource, objects), "{resource} arrived changed");
}

/// Answers requests until the client disconnects.
async fn serve(upstream: UpstreamStream) {
    let mut connection = h2::server::handshake(upstream).await.unwrap();
    let mut served = 0;
    while let Some(Ok((request, response))) = connection.accept().await {
        let lists = if served < BURST.len() { &BURST[..] } else { &AFTERWARDS[..] };
        let found = lists.iter().find(|(resource, _)| request.uri().path().ends_with(resource));
        let (resource, objects) = found.unwrap();
        answer(response, body(resource, *objects));
        served += 1;
    }
}

fn answer(mut response: SendResponse<Bytes>, body: Vec<u8>) {
    let head = Response::builder().header("content-type", "application/json").header("audit-id", "the-same-for-all");
    let mut stream = response.send_response(head.body(()).unwrap(), false).unwrap();
    stream.send_data(body.into(), true).unwrap();
}

fn body(resource: &str, objects: usize) -> Vec<u8> {
    let item = |number| {
        format!(r#"{{"metadata":{{"name":"{resource}-{number}","namespace":"a","uid":"{number}","resourceVersion":"7"}}}}"#)
    };
    let items: Vec<String> = (0..objects).map(item).collect();
    format!(r#"{{"kind":"List","apiVersion":"v1","metadata":{{"resourceVersion":"17"}},"items":[{}]}}"#, items.join(",")).into()
}

fn server() -> Upstream {
    let profile = ServerProfile::of_version("v1.34.4".parse().unwrap(), Basis::VersionEndpoint);
    Upstream { id: UpstreamId::default(), name: "a:6443".to_owned(), path_prefix: String::new(), profile: Some(profile) }
}

/// Waits until `number` requests have ended; adds the bytes missed meanwhile to `missed`, by stream.
async fn take(
    number: usize,
    seen: &mut Receiver<Event>,
    records: &mut Vec<RequestRecord>,
    missed: &mut BTreeMap<Option<StreamId>, u64>,
) {
    while records.len() < number {
        let event = seen.recv().await.unwrap();
        if let Event::Missed { stream, bytes, .. } = event {
            *missed.entry(stream).or_default() += bytes;
        } else if let Event::Request { record } = event {
            records.push(*record);
        }
    }
}

/// Passes events to the test, which waits for them.
struct Sink(Sender<Event>);

impl EventSink for Sink {
    fn name(&self) -> &'static str {
        "the test"
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        // The test receives none after the last one that it needs.
        self.0.blocking_send(event.clone()).or(Ok(()))
    }

    fn totals(&mut self, _at: Timestamp, _totals: &Totals, _missed: &Missed) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
