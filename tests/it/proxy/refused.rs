//! Tests that the proxy refuses connections while upstream refuses them. Clients that were reset before the proxy noticed that are
//! counted.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use socket2::{Domain, Socket, Type};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, interval, sleep};
use watchtap::api_server::UpstreamError;
use watchtap::tap::proxy::ListenerState;

use super::rig::{End, Greeter, Rig, eventually, read_to_end};

/// Maximum time from the first sign that upstream refuses until every connect is refused.
const SETTLED: Duration = Duration::from_millis(300);
/// Maximum time from upstream's return until every connect succeeds: one probe interval, and a margin for a busy machine.
const RECOVERED: Duration = Duration::from_millis(300);

#[tokio::test]
async fn port_refuses_before_the_client_sees_the_upstream_end() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    rig.upstream.refuse().await;
    upstream.shutdown().await.unwrap();
    drop(upstream);

    assert_eq!(read_to_end(&mut client).await, (Vec::new(), End::CloseNotify));
    assert!(rig.refuses().await, "a client that redials at once is refused");
    assert_eq!(rig.handle.counts().reset_instead_of_refused, 0);
}

#[tokio::test]
async fn upstream_end_is_not_withheld_during_shutdown() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    let stopping = rig.handle.stop(Duration::from_secs(10));
    eventually(|| std::net::TcpStream::connect(rig.address).is_err()).await;
    let begin = Instant::now();
    upstream.shutdown().await.unwrap();
    read_to_end(&mut client).await;
    assert!(begin.elapsed() < Duration::from_secs(5));
    client.shutdown().await.unwrap();
    stopping.await;
}

#[tokio::test]
async fn goaway_makes_the_port_refuse_and_keeps_the_connection() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    rig.upstream.refuse().await;
    let settings_and_goaway: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
    upstream.write_all(settings_and_goaway).await.unwrap();

    eventually(|| rig.handle.state() == ListenerState::Refusing).await;
    assert!(rig.refuses().await);
    client.read_exact(&mut vec![0; settings_and_goaway.len()]).await.unwrap();
    upstream.write_all(b"the last watch events").await.unwrap();
    client.read_exact(&mut [0; 21]).await.unwrap();
}

#[tokio::test]
async fn upstream_check_makes_the_port_refuse_before_any_client() {
    let mut rig = Rig::start();
    rig.upstream.refuse().await;
    rig.handle.check_upstream();
    eventually(|| rig.handle.state() == ListenerState::Refusing).await;
    assert!(rig.refuses().await);
    assert_eq!(rig.handle.counts().reset_instead_of_refused, 0);
}

#[tokio::test]
async fn first_client_is_reset_and_counted_and_the_next_refused() {
    let mut rig = Rig::start();
    rig.upstream.refuse().await;
    assert_eq!(rig.handle.counts().bare_dials, 0, "nothing is dialled before the first client");

    let error = rig.client(&["h2"], None).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert!(rig.refuses().await);
    assert_eq!(rig.handle.counts().reset_instead_of_refused, 1);
    assert!(matches!(rig.handle.last_upstream_error(), Some(UpstreamError::Refused { .. })));
}

#[tokio::test]
async fn clients_without_a_client_hello_are_reset_and_counted() {
    let mut rig = Rig::start();
    let (_client, upstream) = rig.pair().await;
    let mut waiting = Vec::new();
    for _ in 0..10 {
        waiting.push(TcpStream::connect(rig.address).await.unwrap());
    }
    rig.upstream.refuse().await;
    drop(upstream);

    for client in &mut waiting {
        assert_eq!(client.read(&mut [0]).await.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    }
    assert_eq!(rig.handle.counts().reset_instead_of_refused, 10);
}

#[tokio::test]
async fn other_programs_can_never_bind_the_port() {
    let mut rig = Rig::start();
    assert_not_bindable(rig.address, "listening");
    let (client, upstream) = rig.pair().await;
    rig.upstream.refuse().await;
    drop(upstream);
    eventually(|| rig.handle.state() == ListenerState::Refusing).await;
    assert_not_bindable(rig.address, "held");
    drop(client);
    assert_not_bindable(rig.address, "held without connections");
    rig.upstream.accept_again();
    eventually(|| rig.handle.state() == ListenerState::Listening).await;
    assert_not_bindable(rig.address, "listening again");
}

#[tokio::test]
async fn spare_upstream_connection_serves_the_next_client() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    upstream.shutdown().await.unwrap();
    read_to_end(&mut client).await;
    assert_eq!(rig.handle.counts().bare_dials, 1, "the end was withheld until its outcome was known");

    let (mut client, mut upstream) = rig.pair().await;
    upstream.write_all(b"hello").await.unwrap();
    client.read_exact(&mut [0; 5]).await.unwrap();
    assert_eq!(rig.upstream.seen().tcp_connections, 2, "the first client's and the spare");
}

#[tokio::test]
async fn dropped_spare_connection_makes_the_port_refuse() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    // The proxy's spare connection is still in the kernel's queue, so it is reset when the listener is closed. The same happens if
    // a server stops just after the proxy has dialed it.
    rig.upstream.stop_accepting().await;
    upstream.shutdown().await.unwrap();
    read_to_end(&mut client).await;
    assert_eq!(rig.handle.state(), ListenerState::Listening);
    rig.upstream.close_listener();
    eventually(|| rig.handle.state() == ListenerState::Refusing).await;
    assert_eq!(rig.handle.counts().bare_dials, 2);
}

/// A complete restart, with a client that connects every 5 ms; every second one sends a `ClientHello`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_are_refused_during_an_upstream_restart_then_served() {
    for _ in 0..3 {
        let mut rig = Rig::start();
        let (client, upstream) = rig.pair().await;
        let knocks = Arc::new(Knocks::default());
        let knocking = tokio::spawn(knock(rig.address, rig.greeter.clone(), Arc::clone(&knocks)));
        eventually(|| knocks.accepted() > 10).await;

        rig.upstream.refuse().await;
        drop(upstream);
        sleep(SETTLED).await;
        let (accepted, resets, refused) = (knocks.accepted(), knocks.resets(), knocks.refused());
        eventually(|| knocks.refused() > refused + 100).await;
        assert_eq!(knocks.accepted(), accepted, "nobody is let in");
        assert_eq!(knocks.resets(), resets, "nobody is reset any more");
        assert!(resets >= 5, "those that had not said hello are reset");
        assert_eq!(rig.handle.counts().reset_instead_of_refused, resets);

        rig.upstream.accept_again();
        sleep(RECOVERED).await;
        let refused = knocks.refused();
        eventually(|| knocks.accepted() > accepted + 10).await;
        assert_eq!(knocks.refused(), refused, "nobody is refused any more");
        assert_eq!(rig.handle.counts().reset_instead_of_refused, resets);
        knocking.abort();
        drop(client);
    }
}

/// The results of the clients' connects; reset clients count as accepted, too.
#[derive(Default)]
struct Knocks {
    accepted: AtomicU64,
    refused: AtomicU64,
    resets: AtomicU64,
}

impl Knocks {
    fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::SeqCst)
    }

    fn refused(&self) -> u64 {
        self.refused.load(Ordering::SeqCst)
    }

    fn resets(&self) -> u64 {
        self.resets.load(Ordering::SeqCst)
    }
}

/// Connects every 5 ms and keeps each connection.
async fn knock(address: SocketAddr, greeter: Greeter, knocks: Arc<Knocks>) {
    let mut every = interval(Duration::from_millis(5));
    for number in 0.. {
        every.tick().await;
        match TcpStream::connect(address).await {
            Ok(tcp) => {
                knocks.accepted.fetch_add(1, Ordering::SeqCst);
                let greeter = (number % 2 == 0).then(|| greeter.clone());
                tokio::spawn(wait_for_reset(tcp, greeter, Arc::clone(&knocks)));
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                knocks.refused.fetch_add(1, Ordering::SeqCst);
            }
            // Accepted, and reset before `connect` returned.
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
                knocks.accepted.fetch_add(1, Ordering::SeqCst);
                knocks.resets.fetch_add(1, Ordering::SeqCst);
            }
        }
    }
}

async fn wait_for_reset(mut tcp: TcpStream, greeter: Option<Greeter>, knocks: Arc<Knocks>) {
    let end = match greeter {
        Some(greeter) => match greeter.greet(tcp, &["http/1.1"], None).await {
            Ok(mut served) => served.read(&mut [0]).await,
            Err(error) => Err(error),
        },
        None => tcp.read(&mut [0]).await,
    };
    assert_eq!(end.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    knocks.resets.fetch_add(1, Ordering::SeqCst);
}

#[track_caller]
fn assert_not_bindable(address: SocketAddr, state: &str) {
    for reuse_address in [false, true] {
        let stranger = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        stranger.set_reuse_address(reuse_address).unwrap();
        let bound = stranger.bind(&address.into()).and_then(|()| stranger.listen(1));
        assert_eq!(bound.unwrap_err().kind(), io::ErrorKind::AddrInUse, "{state}, SO_REUSEADDR {reuse_address}");
    }
}
