//! The kubeconfig's certificates are renewed while a proxy serves.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use watchtap::tap::proxy::{ClientCertificate, ProxyConfig, UpstreamFiles, UpstreamIdentity, UpstreamTls, UpstreamTrust};

use super::rig::{End, Rig, carried, config, eventually, read_to_end};
use super::upstream::{ClusterCa, Upstream, UpstreamStream};

#[tokio::test]
async fn renewed_certificate_is_presented_and_connections_of_the_one_before_are_closed() {
    let ca = ClusterCa::new();
    let (before, after) = (ca.user(), ca.user());
    let (mut rig, files) = serving(&ca, identity(&ca, &before));
    let (mut client, upstream) = rig.pair().await;
    assert_eq!(presented(&upstream), der(&before));

    files.hold(Ok(identity(&ca, &after)));
    let (_client, upstream) = rig.pair().await;
    assert_eq!(presented(&upstream), der(&after));
    assert_eq!(read_to_end(&mut client).await, (Vec::new(), End::CloseNotify));
}

#[tokio::test]
async fn connections_stay_when_the_authority_alone_is_another() {
    let (ca, another) = (ClusterCa::new(), ClusterCa::new());
    let user = ca.user();
    let (mut rig, files) = serving(&ca, identity(&ca, &user));
    let (mut client, mut upstream) = rig.pair().await;

    files.hold(Ok(identity(&another, &user)));
    assert!(rig.client(&["http/1.1"], None).await.is_err());
    eventually(|| rig.handle.counts().upstream_failed == 1).await;
    files.hold(Ok(identity(&ca, &user)));
    let (_client, renewed) = rig.pair().await;
    assert_eq!(presented(&renewed), der(&user));
    assert_eq!(carried(&mut client, &mut upstream, b"still here").await, b"still here");
}

#[tokio::test]
async fn what_cannot_be_read_again_changes_nothing() {
    let ca = ClusterCa::new();
    let (user, stranger) = (ca.user(), ca.user());
    let (mut rig, files) = serving(&ca, identity(&ca, &user));
    // A certificate is written before its key.
    let torn = (stranger.0.clone(), user.1.clone());
    for held in [Err("no such file".to_owned()), Ok(identity(&ca, &torn))] {
        files.hold(held);
        let (_client, upstream) = rig.pair().await;
        assert_eq!(presented(&upstream), der(&user));
    }
}

/// The content of the files, set by the test.
#[derive(Clone)]
struct Files(Arc<Mutex<Result<UpstreamIdentity, String>>>);

impl Files {
    fn hold(&self, held: Result<UpstreamIdentity, String>) {
        *self.0.lock().unwrap() = held;
    }
}

/// A proxy that reads its files for each client, in front of an upstream that requests certificates of `ca`.
fn serving(ca: &ClusterCa, held: UpstreamIdentity) -> (Rig, Files) {
    let upstream = Upstream::start(ca.server("127.0.0.1", &["h2", "http/1.1"], true));
    let tls = UpstreamTls::new(&held.trust, "127.0.0.1", held.certificate.as_ref()).unwrap();
    let files = Files(Arc::new(Mutex::new(Ok(held.clone()))));
    let read = files.clone();
    let upstream_files = UpstreamFiles::new(held, move || Ok(read.0.lock().unwrap().clone()?)).fresh_for(Duration::ZERO);
    let config = ProxyConfig { upstream_files: Some(upstream_files), ..config(upstream.address, tls) };
    (Rig::of(upstream, config), files)
}

fn identity(ca: &ClusterCa, (chain, key): &(String, String)) -> UpstreamIdentity {
    let certificate = ClientCertificate { chain_pem: chain.clone().into(), key_pem: key.clone().into() };
    UpstreamIdentity { trust: UpstreamTrust::Authorities(ca.pem().into()), certificate: Some(certificate) }
}

fn presented(upstream: &UpstreamStream) -> CertificateDer<'static> {
    upstream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
}

fn der((chain, _): &(String, String)) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(chain.as_bytes()).unwrap()
}
