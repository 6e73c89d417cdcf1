//! Connections that fail before any payload.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use watchtap::api_server::{UpstreamEndpoint, UpstreamError, UpstreamTls, UpstreamTrust};
use watchtap::tap::proxy::{Proxy, ProxyConfig, ProxyError};

use super::rig::{ClientStream, Options, Rig, config, endpoint, eventually};
use super::upstream::{ClusterCa, UpstreamStream};

const SHORT: Duration = Duration::from_millis(300);

#[tokio::test]
async fn server_of_an_unknown_ca_resets_the_client() {
    let rig = Rig::with(Options { wrong_ca: true, ..Options::default() });
    let error = rig.client(&[], None).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert!(matches!(rig.handle.last_upstream_error(), Some(UpstreamError::Certificate { .. })));
    let counts = rig.handle.counts();
    assert_eq!((counts.upstream_failed, counts.established, counts.reset_instead_of_refused), (1, 0, 0));
}

#[tokio::test]
async fn server_with_another_name_fails_with_a_hint() {
    let rig = Rig::with(Options { upstream_name: "another.example", ..Options::default() });
    rig.client(&[], None).await.unwrap_err();
    let message = rig.handle.last_upstream_error().unwrap().to_string();
    assert!(message.contains("another.example") && message.contains("`tls-server-name`"), "{message}");
}

#[tokio::test]
async fn silent_upstream_times_out_at_the_limit() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let error = failure(endpoint(silent.local_addr().unwrap()), SHORT).await;
    assert!(matches!(error, UpstreamError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn upstream_without_tls_is_reported() {
    let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = plain.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut tcp, _) = plain.accept().await.unwrap();
        tcp.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        tcp.read_to_end(&mut Vec::new()).await.ok();
    });
    let error = failure(endpoint(address), SHORT).await;
    assert!(error.to_string().contains("is an HTTPS endpoint"), "{error}");
}

#[tokio::test]
async fn upstream_that_closes_during_the_handshake_is_reported() {
    let rude = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = rude.local_addr().unwrap();
    tokio::spawn(async move { while rude.accept().await.is_ok() {} });
    let error = failure(endpoint(address), SHORT).await;
    assert!(matches!(error, UpstreamError::Closed { .. }), "{error}");
}

#[tokio::test]
async fn unresolvable_upstream_name_is_reported() {
    let nowhere = UpstreamEndpoint { host: "no-such-host.invalid".to_owned(), port: 6443 };
    let error = failure(nowhere, Duration::from_secs(10)).await;
    assert!(matches!(error, UpstreamError::Unresolved { .. }), "{error}");
}

#[tokio::test]
async fn unfinished_client_hello_is_reset_without_an_upstream_dial() {
    let rig = Rig::with(Options { handshake_limit: SHORT, ..Options::default() });
    let mut client = TcpStream::connect(rig.address).await.unwrap();
    client.write_all(&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc]).await.unwrap();
    let error = client.read(&mut [0]).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    let counts = rig.handle.counts();
    assert_eq!((counts.client_handshakes_failed, counts.reset_instead_of_refused), (1, 0));
    assert_eq!(rig.upstream.seen().tcp_connections, 0);
}

#[tokio::test]
async fn client_without_tls_is_rejected_without_an_upstream_dial() {
    let rig = Rig::start();
    let mut client = TcpStream::connect(rig.address).await.unwrap();
    client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    client.read_to_end(&mut Vec::new()).await.ok();
    assert_eq!(rig.handle.counts().client_handshakes_failed, 1);
    assert_eq!(rig.upstream.seen().tcp_connections, 0);
}

#[tokio::test]
async fn client_that_only_connects_causes_no_upstream_dial() {
    let rig = Rig::start();
    for _ in 0..20 {
        drop(TcpStream::connect(rig.address).await.unwrap());
    }
    eventually(|| rig.handle.counts().client_handshakes_failed == 20).await;
    assert_eq!(rig.upstream.seen().tcp_connections, 0);
}

#[tokio::test]
async fn no_time_limit_applies_after_both_handshakes() {
    let (limit, mut client, mut upstream) = pair_with_a_short_limit().await;
    tokio::time::sleep(2 * limit).await;
    upstream.write_all(b"late").await.unwrap();
    client.read_exact(&mut [0; 4]).await.unwrap();
}

#[tokio::test]
async fn port_in_use_is_reported() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    assert_port_in_use(taken.local_addr().unwrap());
    let other_proxy = Rig::start();
    assert_port_in_use(other_proxy.address);
}

#[track_caller]
fn assert_port_in_use(listen: SocketAddr) {
    let upstream_tls = UpstreamTls::new(&UpstreamTrust::Anybody, "localhost", None).unwrap();
    let error = Proxy::bind(ProxyConfig { listen, ..config(listen, upstream_tls) }).unwrap_err();
    assert!(matches!(error, ProxyError::PortInUse { .. }), "{error}");
    assert!(error.to_string().contains("choose another address"), "{error}");
}

/// Connects a client, with the shortest of several handshake limits that this machine can meet now. Returns the limit and both
/// connections.
async fn pair_with_a_short_limit() -> (Duration, ClientStream, UpstreamStream) {
    for handshake_limit in [1, 4, 16, 32].map(|times| times * SHORT) {
        let mut rig = Rig::with(Options { handshake_limit, ..Options::default() });
        if let Some((client, upstream)) = rig.pair_unless_late().await {
            return (handshake_limit, client, upstream);
        }
    }
    panic!("no handshake is done in {:?}", 32 * SHORT);
}

/// Checks that a client in front of `upstream` is reset before it sees a certificate; returns the reason.
pub(super) async fn failure(upstream: UpstreamEndpoint, handshake_limit: Duration) -> UpstreamError {
    let trust = UpstreamTrust::Authorities(ClusterCa::new().pem().into());
    let tls = UpstreamTls::new(&trust, "127.0.0.1", None).unwrap();
    let any = "127.0.0.1:1".parse().unwrap();
    let rig = Rig::without_upstream(ProxyConfig { upstream, handshake_limit, ..config(any, tls) });
    let error = rig.client(&["h2"], None).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset, "{error}");
    rig.handle.last_upstream_error().unwrap()
}
