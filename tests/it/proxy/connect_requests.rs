//! Tests of clients that use watchtap's proxy as a forward proxy.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use watchtap::api_server::{UpstreamTls, UpstreamTrust};
use watchtap::tap::proxy::{Entrance, ProxyConfig};

use super::rig::{End, Rig, config, read_to_end};
use super::upstream::{ClusterCa, Upstream};

const CONNECTED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";
const NAME: &str = "api.example";

#[tokio::test]
async fn tls_inside_connect_is_terminated_with_the_upstream_name() {
    let mut rig = rig();
    let mut tcp = asking(&rig, &target(&rig)).await;
    tcp.read_exact(&mut [0; CONNECTED.len()]).await.unwrap();
    let mut client = rig.greeter.greet(tcp, &["http/1.1"], None).await.unwrap();
    let mut upstream = rig.upstream.accept().await;
    client.write_all(b"hello").await.unwrap();
    client.shutdown().await.unwrap();
    assert_eq!(read_to_end(&mut upstream).await, (b"hello".to_vec(), End::CloseNotify));
    upstream.write_all(b"world").await.unwrap();
    upstream.shutdown().await.unwrap();
    assert_eq!(read_to_end(&mut client).await, (b"world".to_vec(), End::CloseNotify));
    assert_eq!(rig.upstream.seen().tcp_connections, 1);
}

#[tokio::test]
async fn connect_to_another_target_is_closed_without_a_response() {
    let rig = rig();
    for other in ["api.example:1", "other.example:443", &target(&rig).replace("127", "128")] {
        let mut tcp = asking(&rig, other).await;
        assert_eq!(tcp.read_to_end(&mut Vec::new()).await.unwrap(), 0, "{other}");
    }
    assert_eq!((rig.handle.counts().asked_elsewhere, rig.upstream.seen().tcp_connections), (3, 0));
}

#[tokio::test]
async fn refused_upstream_resets_connect_and_closes_the_port() {
    let mut rig = rig();
    rig.upstream.refuse().await;
    let mut tcp = asking(&rig, &target(&rig)).await;
    assert_eq!(tcp.read_to_end(&mut Vec::new()).await.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    assert!(rig.refuses().await);
    assert_eq!(rig.handle.counts().reset_instead_of_refused, 1);
}

fn rig() -> Rig {
    let ca = ClusterCa::new();
    let upstream = Upstream::start(ca.server(NAME, &["h2", "http/1.1"], false));
    let tls = UpstreamTls::new(&UpstreamTrust::Authorities(ca.pem().into()), NAME, None).unwrap();
    let mut rig = Rig::without_upstream(ProxyConfig { entrance: Entrance::ForwardProxy, ..config(upstream.address, tls) });
    rig.upstream = upstream;
    rig.greeter.name = NAME;
    rig
}

fn target(rig: &Rig) -> String {
    rig.upstream.address.to_string()
}

async fn asking(rig: &Rig, target: &str) -> TcpStream {
    let mut tcp = TcpStream::connect(rig.address).await.unwrap();
    tcp.write_all(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").as_bytes()).await.unwrap();
    tcp
}
