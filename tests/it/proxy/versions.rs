//! TLS 1.2 and 1.3 on both sides, and nothing older (RFC 8996).

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use watchtap::api_server::UpstreamError;

use super::handshake::failure;
use super::rig::{Rig, endpoint};

const ALERT: u8 = 0x15;
const HANDSHAKE: u8 = 0x16;
const PROTOCOL_VERSION: u8 = 70;
const TLS_1_1: [u8; 2] = [3, 2];

#[tokio::test]
async fn clients_of_tls_1_2_and_1_3_are_served() {
    for version in rustls::ALL_VERSIONS {
        let mut rig = Rig::start();
        rig.greeter.versions = vec![version];
        let (client, _upstream) = rig.pair().await;
        assert_eq!(client.get_ref().1.protocol_version(), Some(version.version));
    }
}

#[tokio::test]
async fn client_of_an_older_tls_version_gets_a_protocol_version_alert() {
    let rig = Rig::start();
    let mut client = TcpStream::connect(rig.address).await.unwrap();
    // Version, random, no session, one cipher suite (ECDHE-ECDSA-AES128-SHA), no compression; the curve and the signature that we
    // support.
    let extensions = [0, 16, 0, 10, 0, 4, 0, 2, 0, 23, 0, 13, 0, 4, 0, 2, 4, 3];
    let hello = [&TLS_1_1[..], &[7; 32], &[0, 0, 2, 0xc0, 0x09, 1, 0], &extensions].concat();
    client.write_all(&handshake(1, &hello)).await.unwrap();
    let mut reply = Vec::new();
    client.read_to_end(&mut reply).await.ok();
    assert_eq!((reply.first(), reply.last()), (Some(&ALERT), Some(&PROTOCOL_VERSION)), "{reply:?}");
    assert_eq!(rig.handle.counts().established, 0);
}

#[tokio::test]
async fn server_of_an_older_tls_version_fails_the_handshake() {
    let old = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = old.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut tcp, _) = old.accept().await.unwrap();
        tcp.read_exact(&mut [0; 5]).await.unwrap();
        let hello = [&TLS_1_1[..], &[7; 32], &[0, 0xc0, 0x13, 0]].concat();
        tcp.write_all(&handshake(2, &hello)).await.unwrap();
        tcp.read_to_end(&mut Vec::new()).await.ok();
    });
    let error = failure(endpoint(address), Duration::from_secs(10)).await;
    assert!(!matches!(error, UpstreamError::TimedOut { .. } | UpstreamError::Certificate { .. }), "{error}");
}

/// A record with one handshake message (RFC 4346 §6.2.1 and §7.4).
fn handshake(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u8::try_from(body.len()).unwrap();
    [&[HANDSHAKE], &TLS_1_1[..], &[0, length + 4, kind, 0, 0, length], body].concat()
}
