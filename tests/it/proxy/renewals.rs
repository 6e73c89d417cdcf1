//! The kubeconfig's certificates are renewed while a proxy serves.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use tokio::time::timeout;
use watchtap::api_server::{ClientCertificate, UpstreamFiles, UpstreamIdentity, UpstreamReading, UpstreamTls, UpstreamTrust};
use watchtap::intake::{Intake, IntakeLimits};
use watchtap::tap::proxy::ProxyConfig;

use super::rig::{End, Rig, carried, config, eventually, read_to_end};
use super::upstream::{ClusterCa, Upstream, UpstreamStream};

#[tokio::test]
async fn renewed_certificate_is_presented_and_old_connections_close() {
    let ca = ClusterCa::new();
    let (before, after) = (ca.user(), ca.user());
    let (mut rig, files) = serving(&ca, identity(&ca, &before));
    let (mut client, upstream) = rig.pair().await;
    assert_eq!(presented(&upstream), der(&before));
    let (mut upgraded, mut upgraded_upstream) = rig.pair_offering(&["http/1.1"]).await;

    files.hold(identity(&ca, &after));
    let (_client, upstream) = rig.pair().await;
    assert_eq!(presented(&upstream), der(&after));
    assert_eq!(read_to_end(&mut client).await, (Vec::new(), End::CloseNotify));
    // client-go closes only pooled connections, and an upgraded HTTP/1.1 connection is not in the pool. So exec and port-forward
    // continue.
    assert_eq!(carried(&mut upgraded, &mut upgraded_upstream, b"still here").await, b"still here");
}

#[tokio::test]
async fn connections_survive_a_change_of_the_authority_alone() {
    let (ca, another) = (ClusterCa::new(), ClusterCa::new());
    let user = ca.user();
    let (mut rig, files) = serving(&ca, identity(&ca, &user));
    let (mut client, mut upstream) = rig.pair().await;

    files.hold(identity(&another, &user));
    assert!(rig.client(&["http/1.1"], None).await.is_err());
    eventually(|| rig.handle.counts().upstream_failed == 1).await;
    files.hold(identity(&ca, &user));
    let (_client, renewed) = rig.pair().await;
    assert_eq!(presented(&renewed), der(&user));
    assert_eq!(carried(&mut client, &mut upstream, b"still here").await, b"still here");
}

#[tokio::test]
async fn unreadable_renewal_file_is_skipped_and_the_others_apply() {
    let ca = ClusterCa::new();
    let (user, other) = (ca.user(), ca.user());
    let (mut rig, files) = serving(&ca, identity(&ca, &user));
    // A certificate is written before its key.
    let torn = (other.0.clone(), user.1.clone());
    files.hold(identity(&ca, &torn));
    assert_eq!(presented(&rig.pair().await.1), der(&user));

    files.hold(identity(&ca, &other));
    files.lose(|lost| lost.certificate = true);
    assert_eq!(presented(&rig.pair().await.1), der(&user));
    files.lose(|lost| (lost.certificate, lost.trust) = (false, true));
    assert_eq!(presented(&rig.pair().await.1), der(&other));
}

#[tokio::test]
async fn files_that_hang_delay_no_client_and_no_shutdown() {
    let ca = ClusterCa::new();
    let user = ca.user();
    let (hang, hanging) = mpsc::channel::<()>();
    let hanging = Mutex::new(hanging);
    let (upstream, config) = before(&ca, &identity(&ca, &user));
    let read = move || {
        hanging.lock().unwrap().recv().unwrap_err();
        UpstreamReading { trust: Err("gone".into()), certificate: Err("gone".into()) }
    };
    let upstream_files = Some(UpstreamFiles::new(identity(&ca, &user), read));
    let (intake, mut receiver) = Intake::new(IntakeLimits::default());
    let mut rig = Rig::of(upstream, ProxyConfig { upstream_files, intake: Some(intake), ..config });
    for _ in 0..2 {
        assert_eq!(presented(&rig.pair().await.1), der(&user));
    }
    // The read of the files still blocks, but it does not keep the listener or the intake alive.
    rig.handle.stop(Duration::ZERO).await;
    drop(rig);
    let closed = tokio::task::spawn_blocking(move || {
        while !receiver.is_closed() {
            receiver.drain(Duration::from_secs(1));
        }
    });
    timeout(Duration::from_secs(10), closed).await.expect("the intake is closed").unwrap();
    drop(hang);
}

/// The content of the files, set by the test.
#[derive(Clone)]
struct Files(Arc<Mutex<(UpstreamIdentity, Lost)>>);

/// Which of the files cannot be read.
#[derive(Clone, Copy, Default)]
struct Lost {
    trust: bool,
    certificate: bool,
}

impl Files {
    fn hold(&self, held: UpstreamIdentity) {
        self.0.lock().unwrap().0 = held;
    }

    fn lose(&self, change: impl FnOnce(&mut Lost)) {
        change(&mut self.0.lock().unwrap().1);
    }

    fn read(&self) -> UpstreamReading {
        let (held, lost) = self.0.lock().unwrap().clone();
        let gone = || "no such file".into();
        UpstreamReading {
            trust: if lost.trust { Err(gone()) } else { Ok(held.trust) },
            certificate: if lost.certificate { Err(gone()) } else { Ok(held.certificate) },
        }
    }
}

/// A proxy that reads its files for each client, in front of an upstream that requests certificates of `ca`.
fn serving(ca: &ClusterCa, held: UpstreamIdentity) -> (Rig, Files) {
    let (upstream, config) = before(ca, &held);
    let files = Files(Arc::new(Mutex::new((held.clone(), Lost::default()))));
    let read = files.clone();
    let upstream_files = Some(UpstreamFiles::new(held, move || read.read()).fresh_for(Duration::ZERO));
    (Rig::of(upstream, ProxyConfig { upstream_files, ..config }), files)
}

/// An upstream that asks for certificates of `ca`, and a proxy in front of it.
fn before(ca: &ClusterCa, held: &UpstreamIdentity) -> (Upstream, ProxyConfig) {
    let upstream = Upstream::start(ca.server("127.0.0.1", &["h2", "http/1.1"], true));
    let tls = UpstreamTls::new(&held.trust, "127.0.0.1", held.certificate.as_ref()).unwrap();
    let config = config(upstream.address, tls);
    (upstream, config)
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
