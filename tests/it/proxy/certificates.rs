//! Which clients the proxy admits, and its own identity towards upstream.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use watchtap::api_server::{ClientCertificate, UpstreamTls, UpstreamTrust};

use super::rig::{End, Options, Rig, config, eventually, read_to_end};
use super::upstream::{ClusterCa, Upstream};

#[tokio::test]
async fn without_the_private_certificate_not_a_byte_goes_on() {
    let mut rig = Rig::with(Options { require_client_certificate: true, ..Options::default() });

    // In TLS 1.3 a client's handshake is complete before the server has checked its certificate.
    let mut client = rig.client(&["http/1.1"], None).await.unwrap();
    client.write_all(b"DELETE /api/v1/namespaces/kube-system HTTP/1.1\r\n\r\n").await.ok();
    let refusal = client.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert!(refusal.to_string().contains("CertificateRequired"), "{refusal}");

    let mut upstream = rig.upstream.accept().await;
    let (bytes, _) = read_to_end(&mut upstream).await;
    assert!(bytes.is_empty());
    assert_eq!((rig.handle.counts().certificates_missing, rig.handle.counts().client_handshakes_failed), (1, 0));
}

#[tokio::test]
async fn client_without_a_certificate_where_one_is_needed_is_counted_apart_in_each_version_of_tls() {
    for version in rustls::ALL_VERSIONS {
        let mut rig = Rig::with(Options { require_client_certificate: true, ..Options::default() });
        rig.greeter.versions = vec![version];
        if let Ok(mut client) = rig.client(&["http/1.1"], None).await {
            client.read_to_end(&mut Vec::new()).await.unwrap_err();
        }
        eventually(|| rig.handle.counts().certificates_missing == 1).await;
        assert_eq!((rig.handle.counts().certificates_refused, rig.handle.counts().client_handshakes_failed), (0, 0));
    }
}

#[tokio::test]
async fn a_certificate_of_another_authority_does_not_help() {
    let rig = Rig::with(Options { require_client_certificate: true, ..Options::default() });
    let stranger = ClusterCa::new().user();
    let mut client = rig.client(&["http/1.1"], Some(&stranger)).await.unwrap();
    client.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert_eq!(rig.handle.counts().established, 0);
}

#[tokio::test]
async fn the_private_certificate_lets_in() {
    let mut rig = Rig::with(Options { require_client_certificate: true, ..Options::default() });
    let mut client = rig.client(&["http/1.1"], Some(&rig.client_identity)).await.unwrap();
    client.write_all(b"hello").await.unwrap();
    client.shutdown().await.unwrap();
    let mut upstream = rig.upstream.accept().await;
    assert_eq!(read_to_end(&mut upstream).await, (b"hello".to_vec(), End::CloseNotify));
}

#[tokio::test]
async fn certificate_that_cannot_be_passed_on_is_refused_and_clients_without_are_let_in() {
    for version in rustls::ALL_VERSIONS {
        let mut rig = Rig::start();
        rig.greeter.versions = vec![version];
        let own = ClusterCa::new().user();
        let refusal = match rig.client(&["http/1.1"], Some(&own)).await {
            Ok(mut client) => client.read_to_end(&mut Vec::new()).await.unwrap_err(),
            Err(refusal) => refusal,
        };
        assert!(refusal.to_string().contains("AccessDenied"), "{refusal}");
        eventually(|| rig.handle.counts().certificates_refused == 1).await;
        let (client, _upstream) = rig.pair().await;
        assert!(client.get_ref().1.alpn_protocol().is_some());
        assert_eq!((rig.handle.counts().established, rig.handle.counts().client_handshakes_failed), (1, 0));
    }
}

#[tokio::test]
async fn upstream_sees_the_users_certificate() {
    let mut rig = Rig::with(Options { upstream_requires_client_certificate: true, ..Options::default() });
    let (_client, upstream) = rig.pair().await;
    assert_eq!(upstream.get_ref().1.peer_certificates().unwrap().len(), 1);
}

#[tokio::test]
async fn stranger_is_refused_before_the_users_certificate_goes_upstream() {
    let mut rig =
        Rig::with(Options { require_client_certificate: true, upstream_requires_client_certificate: true, ..Options::default() });
    for stranger in [None, Some(ClusterCa::new().user())] {
        let mut client = rig.client(&["http/1.1"], stranger.as_ref()).await.unwrap();
        client.read_to_end(&mut Vec::new()).await.unwrap_err();
    }
    let mut client = rig.client(&["http/1.1"], Some(&rig.client_identity)).await.unwrap();
    client.write_all(b"hello").await.unwrap();
    client.shutdown().await.unwrap();
    // The first handshake that upstream completes belongs to the admitted client.
    let mut upstream = rig.upstream.accept().await;
    assert_eq!(read_to_end(&mut upstream).await, (b"hello".to_vec(), End::CloseNotify));
    let counts = rig.handle.counts();
    assert_eq!((counts.certificates_missing, counts.client_handshakes_failed, rig.upstream.seen().tcp_connections), (1, 1, 3));
}

#[tokio::test]
async fn a_certificate_that_comes_later_is_presented_and_keeps_others_out() {
    let ca = ClusterCa::new();
    let upstream = Upstream::start(ca.server("127.0.0.1", &["http/1.1"], true));
    let tls = UpstreamTls::new(&UpstreamTrust::Authorities(ca.pem().into()), "127.0.0.1", None).unwrap();
    let config = config(upstream.address, tls);
    let issuer = Arc::clone(&config.authority);
    let mut rig = Rig::without_upstream(config);
    rig.upstream = upstream;
    let (chain, key) = ca.user();
    rig.handle.present(&ClientCertificate { chain_pem: chain.into(), key_pem: key.into() }, &issuer).unwrap();

    let mut stranger = rig.client(&["http/1.1"], None).await.unwrap();
    let refusal = stranger.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert!(refusal.to_string().contains("CertificateRequired"), "{refusal}");

    // Upstream completes no handshake for the rejected client: its next one belongs to an admitted client.
    let _client = rig.client(&["http/1.1"], Some(&rig.client_identity)).await.unwrap();
    assert_eq!(rig.upstream.accept().await.get_ref().1.peer_certificates().unwrap().len(), 1);
}
