//! Tests of the end of a connection: FIN, RST and `close_notify` are passed on as such, separately for each direction.

use std::time::Duration;

use observer_core::http::Direction;
use socket2::SockRef;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use watchtap::intake::{EndManner, Intake, IntakeLimits, IntakeReceiver, TapEvent};

use super::rig::{ClientStream, End, Options, Rig, read_to_close, read_to_end};
use super::upstream::UpstreamStream;

#[tokio::test]
async fn close_notify_of_upstream_is_forwarded() {
    let (mut rig, receiver) = observed();
    let (mut client, mut upstream) = rig.pair().await;
    upstream.write_all(b"last words").await.unwrap();
    upstream.shutdown().await.unwrap();
    assert_eq!(read_to_end(&mut client).await, (b"last words".to_vec(), End::CloseNotify));
    assert_tcp_fin(client.get_mut().0).await;
    finish(client, upstream).await;
    assert_eq!(ends(receiver).await, [(Direction::Response, EndManner::CloseNotify), (Direction::Request, EndManner::Fin)]);
}

#[tokio::test]
async fn bare_fin_of_upstream_is_forwarded() {
    let (mut rig, receiver) = observed();
    let (mut client, mut upstream) = rig.pair().await;
    upstream.write_all(b"last words").await.unwrap();
    upstream.get_mut().0.shutdown().await.unwrap();
    assert_eq!(read_to_end(&mut client).await, (b"last words".to_vec(), End::Fin));
    finish(client, upstream).await;
    assert_eq!(ends(receiver).await, [(Direction::Response, EndManner::Fin), (Direction::Request, EndManner::Fin)]);
}

#[tokio::test]
async fn reset_of_upstream_is_forwarded() {
    let (mut rig, receiver) = observed();
    let (mut client, mut upstream) = rig.pair().await;
    upstream.write_all(b"last words").await.unwrap();
    let mut words = [0; 10];
    client.read_exact(&mut words).await.unwrap();
    reset(upstream.into_inner().0);
    assert_eq!(read_to_end(&mut client).await, (Vec::new(), End::Reset));
    assert_eq!(ends(receiver).await, [(Direction::Response, EndManner::Reset)]);
}

#[tokio::test]
async fn close_notify_of_the_client_is_forwarded() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    client.write_all(b"last words").await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(read_to_end(&mut upstream).await, (b"last words".to_vec(), End::CloseNotify));
    assert_tcp_fin(upstream.get_mut().0).await;
}

#[tokio::test]
async fn bare_fin_of_the_client_is_forwarded() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    client.write_all(b"last words").await.unwrap();
    client.get_mut().0.shutdown().await.unwrap();
    assert_eq!(read_to_end(&mut upstream).await, (b"last words".to_vec(), End::Fin));
}

#[tokio::test]
async fn reset_of_the_client_is_forwarded() {
    let (mut rig, receiver) = observed();
    let (client, mut upstream) = rig.pair().await;
    reset(client.into_inner().0);
    assert_eq!(read_to_end(&mut upstream).await.1, End::Reset);
    assert_eq!(ends(receiver).await, [(Direction::Request, EndManner::Reset)]);
}

#[tokio::test]
async fn upstream_reset_after_a_client_half_close_is_forwarded() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    client.shutdown().await.unwrap();
    read_to_end(&mut upstream).await;
    reset(upstream.into_inner().0);
    assert_eq!(read_to_end(&mut client).await, (Vec::new(), End::Reset));
}

#[tokio::test]
async fn early_response_of_a_reset_upload_reaches_the_client() {
    let mut rig = Rig::start();
    let (client, mut upstream) = rig.pair().await;
    let (mut reads, mut writes) = tokio::io::split(client);
    let uploading = tokio::spawn(async move { while writes.write_all(&[1; 16_384]).await.is_ok() {} });
    upstream.read_exact(&mut vec![0; 1_000_000]).await.unwrap();
    upstream.write_all(b"413").await.unwrap();
    let mut answer = [0; 3];
    reads.read_exact(&mut answer).await.unwrap();
    // Unread bytes make the kernel send RST instead of FIN.
    drop(upstream);
    uploading.await.unwrap();
    assert_eq!(&answer, b"413");
}

#[tokio::test]
async fn shutdown_by_watchtap_is_reported_as_its_own() {
    let (mut rig, receiver) = observed();
    let (_client, _upstream) = rig.pair().await;
    rig.handle.stop(Duration::ZERO).await;
    assert_eq!(ends(receiver).await, [(Direction::Request, EndManner::ByWatchtap), (Direction::Response, EndManner::ByWatchtap)]);
}

#[tokio::test]
async fn broken_tls_of_upstream_closes_the_client_with_a_fin() {
    let (mut rig, receiver) = observed();
    let (mut client, mut upstream) = rig.pair().await;
    upstream.write_all(b"fine so far").await.unwrap();
    upstream.flush().await.unwrap();
    upstream.get_mut().0.write_all(b"HTTP/1.1 500 plain text in the middle of TLS\r\n\r\n").await.unwrap();
    assert_eq!(read_to_end(&mut client).await, (b"fine so far".to_vec(), End::Fin));
    assert_eq!(ends(receiver).await, [(Direction::Response, EndManner::BrokenTls)]);
}

fn observed() -> (Rig, IntakeReceiver) {
    let (intake, receiver) = Intake::new(IntakeLimits::default());
    (Rig::with(Options { intake: Some(intake), ..Options::default() }), receiver)
}

/// Closes the client's half too, which ends the connection.
async fn finish(mut client: ClientStream, mut upstream: UpstreamStream) {
    client.get_mut().0.shutdown().await.unwrap();
    assert_eq!(read_to_end(&mut upstream).await, (Vec::new(), End::Fin));
}

fn reset(tcp: TcpStream) {
    SockRef::from(&tcp).set_linger(Some(Duration::ZERO)).unwrap();
    drop(tcp);
}

async fn assert_tcp_fin(tcp: &mut TcpStream) {
    assert_eq!(tcp.read(&mut [0]).await.unwrap(), 0, "close_notify is followed by FIN");
}

/// How each direction of the only connection ended.
async fn ends(receiver: IntakeReceiver) -> Vec<(Direction, EndManner)> {
    let end = |event: TapEvent| match event {
        TapEvent::Ended { direction, manner, .. } => Some((direction, manner)),
        TapEvent::Opened { .. }
        | TapEvent::Bytes { .. }
        | TapEvent::Fields { .. }
        | TapEvent::Gap { .. }
        | TapEvent::ClientBlocked { .. }
        | TapEvent::NotObserved { .. }
        | TapEvent::Closed { .. } => None,
    };
    read_to_close(receiver).await.into_iter().filter_map(end).collect()
}
