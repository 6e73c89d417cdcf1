//! Tests of many slow clients at once. There is a time limit until both handshakes are complete, and none after that. Slow clients
//! delay no other client.

use std::io::Write;
use std::net::TcpStream as BlockingStream;
use std::time::Duration;

use observer_core::routing::{Basis, ServerProfile};
use rustls::ClientConnection;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use watchtap::api_server::UpstreamId;
use watchtap::intake::{Intake, IntakeLimits};
use watchtap::memory_budget::MemoryBudget;
use watchtap::pipeline::{Observing, Outputs, Upstream};
use watchtap::tap::Clock;

use super::rig::{End, Options, Rig, eventually, read_to_end};

/// Short for the tests that wait for it, long enough for handshakes on a busy machine.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(3);

#[tokio::test]
async fn request_heads_sent_byte_by_byte_are_forwarded_as_received() {
    const CLIENTS: usize = 30;
    const HEAD: &[u8] = b"GET /api/v1/pods HTTP/1.1\r\nHost: a\r\n\r\n";
    let (intake, receiver) = Intake::new(IntakeLimits::default());
    let mut rig = Rig::with(Options { alpn: &["http/1.1"], intake: Some(intake), ..Options::default() });
    let profile = ServerProfile::of_version("v1.34.4".parse().unwrap(), Basis::VersionEndpoint);
    let server =
        Upstream { id: UpstreamId::default(), name: "a:6443".to_owned(), path_prefix: String::new(), profile: Some(profile) };
    let observing =
        Observing::start(receiver, Clock::start().now(), vec![server], Outputs::default(), &MemoryBudget::default()).unwrap();
    let mut slow = Vec::new();
    for _ in 0..CLIENTS {
        slow.push(rig.pair().await);
    }
    for byte in HEAD {
        for (client, upstream) in &mut slow {
            client.write_all(&[*byte]).await.unwrap();
            // The proxy does not wait for the rest of the head.
            assert_eq!(upstream.read_u8().await.unwrap(), *byte);
        }
    }
    assert_served(&mut rig).await;
    assert_eq!(rig.handle.counts().open(), CLIENTS as u64 + 1);

    drop(slow);
    rig.handle.stop(Duration::ZERO).await;
    drop(rig);
    let snapshot = tokio::task::spawn_blocking(|| observing.finish()).await.unwrap().unwrap().snapshot;
    assert_eq!(snapshot.totals.requests, CLIENTS as u64);
    assert_eq!((snapshot.missed.bytes, snapshot.missed.malformed), (0, 0));
}

#[tokio::test]
async fn unfinished_client_hellos_neither_dial_upstream_nor_delay_others() {
    const CLIENTS: usize = 200;
    let mut rig = Rig::with(Options { handshake_limit: HANDSHAKE_LIMIT, ..Options::default() });
    let begun: Vec<BlockingStream> = (0..CLIENTS).map(|_| begin_hello(&rig)).collect();
    assert_served(&mut rig).await;
    assert_eq!(rig.upstream.seen().tcp_connections, 1);
    eventually(|| rig.handle.counts().client_handshakes_failed == CLIENTS as u64).await;
    drop(begun);
    assert_served(&mut rig).await;
}

#[tokio::test]
async fn unfinished_handshakes_are_closed_on_both_sides() {
    const CLIENTS: usize = 50;
    let mut rig = Rig::with(Options { handshake_limit: HANDSHAKE_LIMIT, ..Options::default() });
    let half_done: Vec<BlockingStream> = (0..CLIENTS).map(|_| send_hello(&rig)).collect();
    eventually(|| rig.handle.counts().client_handshakes_failed == CLIENTS as u64).await;
    for _ in 0..CLIENTS {
        let mut given_up = rig.upstream.accept().await;
        assert!(matches!(read_to_end(&mut given_up).await, (bytes, End::Fin | End::Reset) if bytes.is_empty()));
    }
    drop(half_done);
    assert_served(&mut rig).await;
    eventually(|| rig.handle.counts().open() == 0).await;
}

/// Checks that an ordinary client is served immediately.
async fn assert_served(rig: &mut Rig) {
    let (mut client, mut upstream) = rig.pair().await;
    client.write_all(b"ping").await.unwrap();
    upstream.read_exact(&mut [0; 4]).await.unwrap();
}

/// The start of a `ClientHello`, in a record with a greater length.
fn begin_hello(rig: &Rig) -> BlockingStream {
    let mut client = BlockingStream::connect(rig.address).unwrap();
    client.write_all(&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc]).unwrap();
    client
}

/// A complete `ClientHello`; the client never continues the handshake.
fn send_hello(rig: &Rig) -> BlockingStream {
    let mut client = BlockingStream::connect(rig.address).unwrap();
    let mut tls: ClientConnection = rig.greeter.hello();
    tls.write_tls(&mut client).unwrap();
    client
}
