//! Shutdown of the proxy itself.

use std::io::Read;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use watchtap::api_server::{UpstreamTls, UpstreamTrust};
use watchtap::tap::proxy::{Proxy, ProxyConfig};

use super::rig::{End, Rig, config, eventually, read_to_end};

const LONG: Duration = Duration::from_mins(1);

#[tokio::test]
async fn stopped_proxy_accepts_no_client_and_drains_connections() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    let stopped = rig.handle.stop(LONG);
    eventually(|| TcpStream::connect(rig.address).is_err()).await;

    upstream.write_all(b"still here").await.unwrap();
    client.read_exact(&mut [0; 10]).await.unwrap();
    client.shutdown().await.unwrap();
    upstream.shutdown().await.unwrap();
    read_to_end(&mut upstream).await;
    stopped.await;
    rig.serving.await.unwrap();
}

#[tokio::test]
async fn connections_past_the_grace_period_get_close_notify() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    upstream.write_all(b"last words").await.unwrap();
    client.read_exact(&mut [0; 10]).await.unwrap();
    rig.handle.stop(Duration::ZERO).await;
    assert_eq!(read_to_end(&mut client).await, (Vec::new(), End::CloseNotify));
    assert_eq!(read_to_end(&mut upstream).await, (Vec::new(), End::CloseNotify));
}

#[tokio::test]
async fn peer_that_does_not_read_does_not_delay_shutdown() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    let flood = tokio::spawn(async move { while upstream.write_all(&[b'x'; 1 << 14]).await.is_ok() {} });
    client.read_exact(&mut [0; 1]).await.unwrap();
    tokio::time::timeout(LONG, rig.handle.stop(Duration::ZERO)).await.expect("it ends");
    flood.await.unwrap();
}

#[tokio::test]
async fn port_can_be_bound_again_immediately() {
    let mut rig = Rig::start();
    let (mut client, mut upstream) = rig.pair().await;
    // The side that closes first keeps the connection in TIME_WAIT; here that is the proxy.
    upstream.shutdown().await.unwrap();
    drop(upstream);
    read_to_end(&mut client).await;
    drop(client);
    rig.handle.stop(LONG).await;

    let upstream_tls = UpstreamTls::new(&UpstreamTrust::Anybody, "localhost", None).unwrap();
    let again = ProxyConfig { listen: rig.address, ..config(rig.upstream.address, upstream_tls) };
    assert_eq!(Proxy::bind(again).unwrap().local_addr(), rig.address);
}

#[tokio::test]
async fn port_with_connections_of_another_program_in_time_wait_can_be_bound() {
    // The other program sets SO_REUSEADDR, as the standard library does, but not SO_REUSEPORT.
    let other = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = other.local_addr().unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    drop(other.accept().unwrap());
    assert_eq!(client.read(&mut [0]).unwrap(), 0, "the other program closes first");
    drop((client, other));

    let upstream_tls = UpstreamTls::new(&UpstreamTrust::Anybody, "localhost", None).unwrap();
    let upstream = Rig::start().upstream.address;
    let config = ProxyConfig { listen: address, ..config(upstream, upstream_tls) };
    assert_eq!(Proxy::bind(config).unwrap().local_addr(), address);
}
