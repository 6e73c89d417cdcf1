//! Tests of the clients that the proxy admits, and of the certificate that it presents upstream.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use watchtap::api_server::{ClientCertificate, UpstreamTls, UpstreamTrust};

use super::rig::{End, Options, Rig, config, eventually, read_to_end};
use super::upstream::{ClusterCa, Upstream};

#[tokio::test]
async fn no_byte_is_forwarded_without_the_private_certificate() {
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
async fn missing_client_certificate_is_counted_in_each_tls_version() {
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
async fn certificate_of_another_authority_is_rejected() {
    let rig = Rig::with(Options { require_client_certificate: true, ..Options::default() });
    let stranger = ClusterCa::new().user();
    let mut client = rig.client(&["http/1.1"], Some(&stranger)).await.unwrap();
    client.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert_eq!(rig.handle.counts().established, 0);
}

#[tokio::test]
async fn client_with_the_private_certificate_is_admitted() {
    let mut rig = Rig::with(Options { require_client_certificate: true, ..Options::default() });
    let mut client = rig.client(&["http/1.1"], Some(&rig.client_identity)).await.unwrap();
    client.write_all(b"hello").await.unwrap();
    client.shutdown().await.unwrap();
    let mut upstream = rig.upstream.accept().await;
    assert_eq!(read_to_end(&mut upstream).await, (b"hello".to_vec(), End::CloseNotify));
}

#[tokio::test]
async fn unforwardable_client_certificate_is_refused_and_none_is_accepted() {
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
async fn upstream_receives_the_certificate_of_the_user() {
    let mut rig = Rig::with(Options { upstream_requires_client_certificate: true, ..Options::default() });
    let (_client, upstream) = rig.pair().await;
    assert_eq!(upstream.get_ref().1.peer_certificates().unwrap().len(), 1);
}

#[tokio::test]
async fn rejected_client_never_uses_the_users_certificate() {
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
async fn certificate_set_later_is_presented_and_then_required() {
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
