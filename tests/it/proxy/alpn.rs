//! Tests that the client's ALPN offer is sent upstream unchanged, and that the client gets upstream's choice.

use super::rig::{Options, Rig};

#[tokio::test]
async fn client_gets_the_alpn_protocol_upstream_chose() {
    check(&["h2", "http/1.1"], &["h2", "http/1.1"], Some("h2")).await;
    check(&["http/1.1", "h2"], &["h2"], Some("h2")).await;
    check(&["h2", "http/1.1"], &["http/1.1"], Some("http/1.1")).await;
    check(&["http/1.1"], &["h2", "http/1.1"], Some("http/1.1")).await;
    check(&["spdy/3.1", "acme-tls/1"], &["acme-tls/1"], Some("acme-tls/1")).await;
}

#[tokio::test]
async fn no_protocol_is_negotiated_without_a_common_offer() {
    check(&["h2", "http/1.1"], &[], None).await;
    check(&[], &["h2", "http/1.1"], None).await;
    check(&[], &[], None).await;
}

#[tokio::test]
async fn client_with_protocols_refused_upstream_is_rejected() {
    let rig = Rig::with(Options { alpn: &["h2"], ..Options::default() });
    rig.client(&["http/1.1"], None).await.unwrap_err();
    let message = rig.handle.last_upstream_error().unwrap().to_string();
    assert!(message.contains("the TLS handshake with 127.0.0.1"), "{message}");
}

async fn check(offer: &[&str], spoken: &'static [&'static str], expected: Option<&str>) {
    let mut rig = Rig::with(Options { alpn: spoken, ..Options::default() });
    let (client, upstream) = rig.pair_offering(offer).await;
    let expected = expected.map(str::as_bytes);
    let chosen = (client.get_ref().1.alpn_protocol(), upstream.get_ref().1.alpn_protocol());
    assert_eq!(chosen, (expected, expected), "offered {offer:?} to {spoken:?}");
    assert_eq!(rig.upstream.seen().offers, [offer], "upstream sees the client's offer in the client's order");
}
