//! Peers that vanish silently, and peers that are only slow.
//!
//! A socket filter that drops everything makes a peer vanish: its kernel receives nothing, so it acknowledges nothing and answers
//! no probe. The tests shorten the five-minute limits of the proxy's own sockets from outside, so that they can wait for the
//! kernel.

use std::net::{SocketAddr, TcpStream as StdTcpStream};
use std::time::Duration;

use observer_tests::socket_of_process;
use socket2::{SockFilter, SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::rig::{ClientStream, End, Rig, eventually, read_to_end};
use super::upstream::UpstreamStream;

/// More than one, so that a leftover connection is noticed.
const CONNECTIONS: usize = 10;

#[tokio::test]
async fn both_sockets_have_nodelay_and_keepalive() {
    let mut rig = Rig::start();
    let (client, upstream) = rig.pair().await;
    for socket in [downstream_socket(&rig, &client), upstream_socket(&rig, &upstream)] {
        let socket = SockRef::from(&socket);
        assert!(socket.tcp_nodelay().unwrap(), "Nagle's algorithm is off");
        assert!(socket.keepalive().unwrap());
        let seconds = [socket.tcp_keepalive_time().unwrap(), socket.tcp_keepalive_interval().unwrap()].map(|time| time.as_secs());
        assert_eq!((seconds, socket.tcp_keepalive_retries().unwrap()), ([15, 15], 19));
        assert_eq!(socket.tcp_user_timeout().unwrap(), None, "who answers and does not read is not dead");
    }
}

#[tokio::test]
async fn vanished_upstreams_reset_their_clients_and_close() {
    let mut rig = Rig::start();
    let mut pairs = Vec::new();
    for _ in 0..CONNECTIONS {
        let (client, upstream) = rig.pair().await;
        vanish(upstream.get_ref().0);
        probe_soon(&upstream_socket(&rig, &upstream));
        pairs.push((client, upstream));
    }
    for (client, _vanished) in &mut pairs {
        assert_eq!(read_to_end(client).await, (Vec::new(), End::Reset));
    }
    eventually(|| rig.handle.counts().over == CONNECTIONS as u64).await;
}

#[tokio::test]
async fn vanished_clients_reset_their_upstreams_and_close() {
    let mut rig = Rig::start();
    let mut pairs = Vec::new();
    for _ in 0..CONNECTIONS {
        let (client, upstream) = rig.pair().await;
        vanish(client.get_ref().0);
        probe_soon(&downstream_socket(&rig, &client));
        pairs.push((client, upstream));
    }
    for (_vanished, upstream) in &mut pairs {
        assert_eq!(read_to_end(upstream).await, (Vec::new(), End::Reset));
    }
    eventually(|| rig.handle.counts().over == CONNECTIONS as u64).await;
}

/// The client of a blackholed upstream gives up by its own timeout. After that, no client remains that could end the upstream
/// connection.
#[tokio::test]
async fn half_closed_client_of_a_vanished_upstream_times_out() {
    let mut rig = Rig::start();
    let (mut client, upstream) = rig.pair().await;
    vanish(upstream.get_ref().0);
    client.write_all(b"is there anybody?").await.unwrap();
    client.shutdown().await.unwrap();

    let socket = upstream_socket(&rig, &upstream);
    eventually(|| SockRef::from(&socket).tcp_user_timeout().unwrap() == Some(Duration::from_mins(6))).await;
    assert_eq!(SockRef::from(&downstream_socket(&rig, &client)).tcp_user_timeout().unwrap(), None, "that direction goes on");
    SockRef::from(&socket).set_tcp_user_timeout(Some(Duration::from_secs(1))).unwrap();
    drop(socket);
    assert_eq!(read_to_end(&mut client).await, (Vec::new(), End::Reset));
    eventually(|| rig.handle.counts().over == 1).await;
}

/// Its window is zero, but its kernel answers.
#[tokio::test]
async fn client_that_does_not_read_outlives_a_vanished_one() {
    const FLOOD: usize = 64 << 20;
    let mut rig = Rig::start();
    let (mut slow, mut upstream_of_slow) = rig.pair().await;
    let (vanished, mut upstream_of_vanished) = rig.pair().await;
    let flood = tokio::spawn(async move {
        upstream_of_slow.write_all(&vec![7; FLOOD]).await.unwrap();
        upstream_of_slow.shutdown().await.unwrap();
    });
    slow.read_exact(&mut [0]).await.unwrap();
    probe_soon(&downstream_socket(&rig, &slow));
    vanish(vanished.get_ref().0);
    probe_soon(&downstream_socket(&rig, &vanished));

    assert_eq!(read_to_end(&mut upstream_of_vanished).await, (Vec::new(), End::Reset));
    assert!(!flood.is_finished(), "the flood waits for its reader");
    let mut rest = Vec::new();
    slow.read_to_end(&mut rest).await.unwrap();
    assert!(rest.len() == FLOOD - 1 && rest.iter().all(|byte| *byte == 7));
    flood.await.unwrap();
}

fn vanish(peer: &TcpStream) {
    const RETURN: u16 = 0x06;
    SockRef::from(peer).attach_filter(&[SockFilter::new(RETURN, 0, 0, 0)]).unwrap();
}

/// Sets one keep-alive probe after one second and one retry.
fn probe_soon(socket: &StdTcpStream) {
    const SECOND: Duration = Duration::from_secs(1);
    let soon = TcpKeepalive::new().with_time(SECOND).with_interval(SECOND).with_retries(1);
    SockRef::from(socket).set_tcp_keepalive(&soon).unwrap();
}

/// The proxy's socket for this client.
#[track_caller]
fn downstream_socket(rig: &Rig, client: &ClientStream) -> StdTcpStream {
    own_socket(rig.address, client.get_ref().0.local_addr().unwrap())
}

/// The proxy's socket for upstream.
#[track_caller]
fn upstream_socket(rig: &Rig, upstream: &UpstreamStream) -> StdTcpStream {
    own_socket(upstream.get_ref().0.peer_addr().unwrap(), rig.upstream.address)
}

/// A socket of this process, in which the proxy runs.
#[track_caller]
fn own_socket(local: SocketAddr, peer: SocketAddr) -> StdTcpStream {
    socket_of_process(std::process::id(), local, peer).unwrap()
}
