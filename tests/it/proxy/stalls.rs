//! Tests of clients that do not read: the server cannot send, and watchtap reports a stall with its cause.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use observer_core::observation::Blockage;
use observer_core::observer::{Event, Missed, Totals};
use observer_core::reflector::ReflectorState;
use observer_core::routing::{Basis, ServerProfile};
use observer_core::time::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, sink};
use watchtap::api_server::UpstreamId;
use watchtap::intake::{Intake, IntakeLimits};
use watchtap::memory_budget::MemoryBudget;
use watchtap::pipeline::EventSink;
use watchtap::pipeline::{Observing, Outputs, Upstream};
use watchtap::tap::Clock;

use super::rig::{Options, Rig};
use super::upstream::UpstreamStream;
use crate::h2_frames::{DATA, END_HEADERS, END_STREAM, HEADERS, WINDOW_UPDATE, frame, get, preface, settings};

const LIMIT: Duration = Duration::from_secs(30);
const WATCH: &str = "/api/v1/pods?watch=1&resourceVersion=7";
const EVENT: &str = concat!(
    r#"{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"b","resourceVersion":"8"}}}"#,
    "\n"
);
/// The initial window of a stream and of a connection (RFC 9113 §6.9.2).
const WINDOW: usize = 65_535;

#[tokio::test]
async fn unread_watch_is_reported_as_a_socket_stall() {
    let mut stage = Stage::set("http/1.1");
    let (mut client, mut upstream) = stage.rig.pair().await;
    client.write_all(format!("GET {WATCH} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).await.unwrap();
    read_until(&mut upstream, b"\r\n\r\n").await;
    upstream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n").await.unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let writing = tokio::spawn(async move {
        let events = EVENT.repeat(100);
        let write = async { while upstream.write_all(events.as_bytes()).await.is_ok() {} };
        tokio::select! { () = write => {}, _ = stopped => {} }
    });
    assert_eq!(stage.next_stall().await, (true, Blockage::Socket));
    stop.send(()).unwrap();
    writing.await.unwrap();
    // Upstream has closed its connection, and the client can still read the rest.
    let reading = tokio::spawn(async move { copy(&mut client, &mut sink()).await });
    assert_eq!(stage.next_stall().await, (false, Blockage::Socket));
    stage.over().await;
    reading.await.unwrap().ok();
}

#[tokio::test]
async fn exhausted_stream_window_is_reported_as_a_stream_stall() {
    let mut stage = Stage::set("h2");
    let (mut client, mut upstream) = stage.rig.pair().await;
    let request = frame(HEADERS, END_HEADERS | END_STREAM, 1, &get(WATCH));
    let room = frame(WINDOW_UPDATE, 0, 0, &1_000_000_u32.to_be_bytes());
    client.write_all(&[preface(), room, request].concat()).await.unwrap();
    read_until(&mut upstream, WATCH.as_bytes()).await;
    let head = frame(HEADERS, END_HEADERS, 1, &[0x88]);
    let events = EVENT.repeat(WINDOW / EVENT.len() + 1).into_bytes();
    let data: Vec<u8> = events[..WINDOW].chunks(16_384).flat_map(|piece| frame(DATA, 0, 1, piece)).collect();
    upstream.write_all(&[settings(), head, data].concat()).await.unwrap();
    let mut read = vec![0; WINDOW];
    client.read_exact(&mut read).await.unwrap();
    assert_eq!(stage.next_stall().await, (true, Blockage::StreamWindow));
    client.write_all(&frame(WINDOW_UPDATE, 0, 1, &1_000_u32.to_be_bytes())).await.unwrap();
    assert_eq!(stage.next_stall().await, (false, Blockage::StreamWindow));
    drop((client, upstream));
    stage.over().await;
}

/// A proxy and its observer.
struct Stage {
    rig: Rig,
    observing: Observing,
    stalls: Receiver<(bool, Blockage)>,
}

impl Stage {
    fn set(protocol: &'static str) -> Self {
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let alpn: &[&str] = if protocol == "h2" { &["h2"] } else { &["http/1.1"] };
        let rig = Rig::with(Options { alpn, intake: Some(intake), ..Options::default() });
        let profile = Some(ServerProfile::of_version("v1.34.4".parse().unwrap(), Basis::VersionEndpoint));
        let server = Upstream { id: UpstreamId::default(), name: "a:6443".to_owned(), path_prefix: String::new(), profile };
        let (sender, stalls) = channel();
        let outputs = Outputs::new(vec![Box::new(Stalls(sender))], None);
        let observing = Observing::start(receiver, Clock::start().now(), vec![server], outputs, &MemoryBudget::default()).unwrap();
        Self { rig, observing, stalls }
    }

    /// Whether a stall began or ended, and what blocks it.
    async fn next_stall(&mut self) -> (bool, Blockage) {
        let stalls = std::mem::replace(&mut self.stalls, channel().1);
        let (stalls, stall) = tokio::task::spawn_blocking(move || {
            let stall = stalls.recv_timeout(LIMIT);
            (stalls, stall)
        })
        .await
        .unwrap();
        self.stalls = stalls;
        stall.expect("a stall begins or ends")
    }

    async fn over(self) {
        self.rig.handle.stop(Duration::ZERO).await;
        let Self { observing, rig, .. } = self;
        drop(rig);
        let snapshot = tokio::task::spawn_blocking(|| observing.finish()).await.unwrap().unwrap().snapshot;
        let row = &snapshot.reflectors[0];
        assert_ne!(row.state, ReflectorState::Stalled);
        assert_eq!(row.stalls, 1);
        assert!(row.stalled_us >= 1_000_000, "{row:?}");
    }
}

async fn read_until(stream: &mut UpstreamStream, end: &[u8]) {
    let mut read = Vec::new();
    while !read.windows(end.len()).any(|piece| piece == end) {
        assert_ne!(stream.read_buf(&mut read).await.unwrap(), 0);
    }
}

struct Stalls(Sender<(bool, Blockage)>);

impl EventSink for Stalls {
    fn name(&self) -> &'static str {
        "stalls"
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        if let Event::Stalled { stall } | Event::StallEnded { stall } = event {
            let begins = matches!(event, Event::Stalled { .. });
            self.0.send((begins, stall.by)).map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn totals(&mut self, _at: Timestamp, _totals: &Totals, _missed: &Missed) -> io::Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
