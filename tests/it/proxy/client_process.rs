//! Tests of the lookup of a client's process. Traffic does not wait for it, and the events are the same as if the process had been
//! known at once.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use observer_core::observation::Process;
use observer_core::observer::{Event, Missed, Totals};
use observer_core::routing::{Basis, ServerProfile};
use observer_core::time::Timestamp;
use tokio::io::AsyncWriteExt;
use watchtap::api_server::UpstreamId;
use watchtap::client_process::ProcessFinder;
use watchtap::intake::{Delivery, Intake, IntakeLimits, IntakeReceiver, TapEvent};
use watchtap::memory_budget::MemoryBudget;
use watchtap::pipeline::EventSink;
use watchtap::pipeline::{Observing, Outputs, Upstream};
use watchtap::tap::Clock;

use super::rig::{ClientStream, Options, Rig, carried, eventually, read_to_end};
use super::upstream::UpstreamStream;

/// When the lookup of a client's process completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    BeforeItConnects,
    /// After the client's first response.
    AfterItsFirstBytes,
}

const LIST: &str = "GET /api/v1/pods?limit=500&resourceVersion=0 HTTP/1.1\r\nUser-Agent: controller/v1.30.0\r\n\r\n";
const LISTED: &str = r#"{"kind":"PodList","metadata":{"resourceVersion":"1000"},"items":[{"metadata":{"name":"x","namespace":"a","resourceVersion":"500"}}]}"#;

#[tokio::test]
async fn restart_is_reported_equally_with_late_process_lookup() {
    let expected = [
        "opened by 7",
        "initial list of #1",
        "opened by 8",
        "initial list of #2",
        "closed",
        "closed",
        "opened by 7",
        "resume of #1",
        "opened by 8",
        "resume of #2",
        "closed",
        "closed",
    ];
    assert_eq!(restart(Found::BeforeItConnects).await, expected);
    assert_eq!(restart(Found::AfterItsFirstBytes).await, expected);
}

/// The client's bytes and its end pass before its process is known.
#[tokio::test]
async fn client_is_served_until_closed_during_process_lookup() {
    let (found, lookup) = channel();
    let (intake, receiver) = Intake::new(IntakeLimits::default());
    let intake = intake.with_processes(finder(lookup));
    let mut rig = Rig::with(Options { alpn: &["http/1.1"], intake: Some(intake), ..Options::default() });
    let (mut client, mut upstream) = rig.pair().await;
    let over = rig.handle.counts().over;
    assert_eq!(carried(&mut client, &mut upstream, LIST.as_bytes()).await, LIST.as_bytes());
    end(client, upstream).await;
    eventually(|| rig.handle.counts().over > over).await;
    found.send(7).unwrap();

    let deliveries = deliveries_until_process(receiver).await;
    let [Delivery::Connection(opened, TapEvent::Opened { process_follows: true, .. }), .., closed, answer] = &deliveries[..] else {
        panic!("{deliveries:?}")
    };
    assert!(matches!(closed, Delivery::Connection(_, TapEvent::Closed { .. })), "{deliveries:?}");
    assert_eq!(answer, &Delivery::Process(*opened, Some(process(7))));
}

/// Events wait for the process only for a limited time; here the lookup never completes.
#[tokio::test]
async fn process_that_is_never_found_is_reported_as_unknown() {
    let (found, lookup) = channel();
    let (intake, receiver) = Intake::new(IntakeLimits::default());
    let intake = intake.with_processes(finder(lookup));
    let mut rig = Rig::with(Options { alpn: &["http/1.1"], intake: Some(intake), ..Options::default() });
    let (client, upstream) = rig.pair().await;
    let deliveries = deliveries_until_process(receiver).await;
    assert!(
        matches!(&deliveries[..], [Delivery::Connection(opened, TapEvent::Opened { .. }), Delivery::Process(of, None)] if opened == of),
        "{deliveries:?}"
    );
    drop((found, client, upstream));
}

/// Two processes with the same `User-Agent` list and watch; the server ends their connections, and both reconnect.
async fn restart(when: Found) -> Vec<String> {
    let (found, lookup) = channel();
    let (intake, receiver) = Intake::new(IntakeLimits::default());
    let intake = intake.with_processes(finder(lookup));
    let mut rig = Rig::with(Options { alpn: &["http/1.1"], intake: Some(intake), ..Options::default() });
    let (sender, deliveries) = channel();
    let outputs = Outputs::new(vec![Box::new(Sink(sender))], None);
    let observing = Observing::start(receiver, Clock::start().now(), vec![server()], outputs, &MemoryBudget::default()).unwrap();

    let mut present = Vec::new();
    for pid in [7, 8] {
        let (mut client, mut upstream) = connect(&mut rig, when, &found, pid).await;
        exchange(&mut client, &mut upstream, LIST, &answer(LISTED)).await;
        send_late_process(when, &found, pid);
        exchange(&mut client, &mut upstream, &watch(1000), &watched(1005)).await;
        present.push((client, upstream));
    }
    for (client, upstream) in present.drain(..) {
        end(client, upstream).await;
    }
    for pid in [7, 8] {
        let (mut client, mut upstream) = connect(&mut rig, when, &found, pid).await;
        exchange(&mut client, &mut upstream, &watch(1005), &watched(1006)).await;
        send_late_process(when, &found, pid);
        present.push((client, upstream));
    }
    for (client, upstream) in present.drain(..) {
        end(client, upstream).await;
    }
    rig.handle.stop(Duration::from_secs(10)).await;
    drop(rig);
    let snapshot = tokio::task::spawn_blocking(|| observing.finish()).await.unwrap().unwrap().snapshot;
    assert_eq!((snapshot.totals.resumes, snapshot.totals.relists, snapshot.missed.bytes), (2, 0, 0), "{when:?}");
    deliveries.iter().collect()
}

/// All deliveries for connections, up to the first process.
async fn deliveries_until_process(mut receiver: IntakeReceiver) -> Vec<Delivery> {
    let reading = tokio::task::spawn_blocking(move || {
        let mut deliveries = Vec::new();
        while !deliveries.iter().any(|one| matches!(one, Delivery::Process(..))) {
            let batch: Vec<_> = receiver.drain(Duration::from_secs(10)).map(|delivered| delivered.delivery).collect();
            assert!(!batch.is_empty(), "the process is not reported: {deliveries:?}");
            deliveries.extend(batch.into_iter().filter(|one| !matches!(one, Delivery::Notice(_))));
        }
        deliveries
    });
    reading.await.unwrap()
}

async fn connect(rig: &mut Rig, when: Found, found: &Sender<u32>, pid: u32) -> (ClientStream, UpstreamStream) {
    if when == Found::BeforeItConnects {
        found.send(pid).unwrap();
    }
    rig.pair().await
}

fn send_late_process(when: Found, found: &Sender<u32>, pid: u32) {
    if when == Found::AfterItsFirstBytes {
        found.send(pid).unwrap();
    }
}

async fn exchange(client: &mut ClientStream, upstream: &mut UpstreamStream, request: &str, response: &str) {
    assert_eq!(carried(client, upstream, request.as_bytes()).await, request.as_bytes());
    assert_eq!(carried(upstream, client, response.as_bytes()).await, response.as_bytes());
}

/// The server ends the connection, and the client leaves.
async fn end(mut client: ClientStream, mut upstream: UpstreamStream) {
    upstream.shutdown().await.unwrap();
    read_to_end(&mut client).await;
    client.shutdown().await.unwrap();
    read_to_end(&mut upstream).await;
}

fn answer(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn watch(from: u64) -> String {
    let query = format!("allowWatchBookmarks=true&resourceVersion={from}&timeoutSeconds=500&watch=true");
    format!("GET /api/v1/pods?{query} HTTP/1.1\r\nUser-Agent: controller/v1.30.0\r\n\r\n")
}

/// The start of a watch response, with one event.
fn watched(revision: u64) -> String {
    let object = format!(r#"{{"metadata":{{"name":"x","namespace":"a","resourceVersion":"{revision}"}}}}"#);
    let event = format!("{{\"type\":\"MODIFIED\",\"object\":{object}}}\n");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    format!("{head}{:x}\r\n{event}\r\n", event.len())
}

/// A finder that takes each client's process ID from `answers`, in order of arrival.
fn finder(answers: Receiver<u32>) -> ProcessFinder {
    ProcessFinder::asking(move |_, _| answers.recv().ok().map(process)).unwrap()
}

fn process(pid: u32) -> Process {
    Process::new(pid, u64::from(pid), "controller".to_owned())
}

fn server() -> Upstream {
    let profile = ServerProfile::of_version("v1.34.4".parse().unwrap(), Basis::VersionEndpoint);
    Upstream { id: UpstreamId::default(), name: "a:6443".to_owned(), path_prefix: String::new(), profile: Some(profile) }
}

/// Passes events to the test, one line each.
struct Sink(Sender<String>);

impl EventSink for Sink {
    fn name(&self) -> &'static str {
        "the test"
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only what the process of a client decides is looked at")]
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let line = match event {
            Event::ConnectionOpened { process, .. } => {
                format!("opened by {}", process.as_ref().map_or_else(|| "-".to_owned(), |process| process.pid.to_string()))
            }
            Event::ConnectionClosed { .. } => "closed".to_owned(),
            Event::InitialList { list } => format!("initial list of {}", list.reflector),
            Event::RelistBegan { began } => format!("relist of {}: {}", began.reflector, began.cause),
            Event::Resume { resume } => format!("resume of {}", resume.reflector),
            _ => return Ok(()),
        };
        self.0.send(line).map_err(io::Error::other)
    }

    fn totals(&mut self, _at: Timestamp, _totals: &Totals, _missed: &Missed) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
