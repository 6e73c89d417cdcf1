//! A replica with the webhook's own authority: what it reads and writes, and what it serves.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{CertificateDer, ServerName};
use serde_json::json;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::super::Certificates;
use super::super::authority::Authority;
use super::super::bundle::Bundle;
use super::scripted_server::{CONFIGURATION, PODS, SECRET, ScriptedServer, await_state, token};
use hyper::Method;

const YEAR: Duration = Duration::from_hours(365 * 24);
const NAME: &str = "watchtap.system.svc";

#[tokio::test]
async fn first_replica_stores_an_authority_and_writes_the_bundle_before_it_is_ready() {
    let server = ScriptedServer::start().await;
    let mut replica = server.replica();
    assert!(!replica.is_ready() && replica.expires().is_none());
    await_state(&mut replica, Certificates::is_ready).await;
    let received = server.received();
    let requests: Vec<_> = received.iter().map(|one| (one.method.clone(), one.path.as_str())).take(4).collect();
    let expected = [(Method::GET, SECRET), (Method::PATCH, SECRET), (Method::GET, CONFIGURATION), (Method::PATCH, CONFIGURATION)];
    assert_eq!(requests, expected);
    let created = &received[1];
    assert_eq!(created.media_type, "application/apply-patch+yaml");
    assert_eq!((created.parameter("fieldManager"), created.parameter("force")), ("watchtap-watchtap-0", "false"));
    let owner = json!({"apiVersion": "v1", "kind": "ServiceAccount", "name": "watchtap", "uid": "account-uid"});
    let metadata = json!({"name": "watchtap-certificate", "namespace": "system", "ownerReferences": [owner]});
    assert_eq!((&created.body["metadata"], &created.body["type"]), (&metadata, &json!("Opaque")));
    assert_eq!(created.body["data"].as_object().unwrap().keys().collect::<Vec<_>>(), ["authority.pem"]);
    let applied = &received[3];
    assert_eq!((applied.parameter("fieldManager"), applied.parameter("force")), ("watchtap-ca", "true"));
    let names: Vec<_> = applied.body["webhooks"].as_array().unwrap().iter().map(|webhook| webhook["name"].clone()).collect();
    assert_eq!(names, ["pods", "more"], "the webhook of another Service stays as it is");
    assert!(received.iter().all(|one| one.token.starts_with("Bearer e30.")));
    let authority = Authority::read(server.stored().unwrap().as_bytes(), SystemTime::now()).unwrap();
    assert!(server.bundle().contains(authority.certificate()));
    let month = Duration::from_hours(30 * 24);
    let left = replica.expires().unwrap().duration_since(SystemTime::now()).unwrap();
    assert!(left <= month && left + Duration::from_mins(10) > month, "{left:?}");
    assert_eq!(replica.problem(), None);
    for name in [NAME, "watchtap.system", "watchtap"] {
        served(&replica, &server.bundle(), name).await.unwrap();
    }
    served(&replica, &server.bundle(), "localhost").await.unwrap_err();
}

#[tokio::test]
async fn settled_replicas_only_read() {
    let server = ScriptedServer::start().await;
    let mut replicas = PODS.map(|pod| server.replica_in(pod));
    for replica in &mut replicas {
        await_state(replica, Certificates::is_ready).await;
    }
    server.await_requests(30).await;
    let before = server.received().len();
    server.await_requests(40).await;
    assert!(server.received()[before..].iter().all(|one| one.method == Method::GET));
}

#[tokio::test]
async fn replicas_that_start_at_once_share_one_authority() {
    let server = ScriptedServer::start().await;
    let mut replicas = PODS.map(|pod| server.replica_in(pod));
    for replica in &mut replicas {
        await_state(replica, Certificates::is_ready).await;
        served(replica, &server.bundle(), NAME).await.unwrap();
    }
    assert_eq!(server.bundle().iter().count(), 1);
}

#[tokio::test]
async fn replica_that_was_second_uses_what_the_first_one_stored() {
    let server = ScriptedServer::start().await;
    let first = Authority::generate(SystemTime::now()).unwrap();
    let stored = first.to_pem();
    // Between the reading and the writing of the replica, another one stores its authority.
    let mut is_first = true;
    server.script(move |received| {
        let is_read = received.method == Method::GET && received.path == SECRET && std::mem::take(&mut is_first);
        is_read.then(|| (404, json!({})))
    });
    server.change(|objects| objects.store(&stored));
    let mut replica = server.replica();
    await_state(&mut replica, Certificates::is_ready).await;
    assert_eq!(server.stored(), Some(stored));
    assert!(server.bundle().contains(first.certificate()));
    assert_eq!(server.bundle().iter().count(), 1);
}

#[tokio::test]
async fn unusable_secret_is_replaced_and_only_if_it_is_still_the_same() {
    let now = SystemTime::now();
    let [expired, ending] = [11 * YEAR, 9 * YEAR + YEAR / 2].map(|ago| Authority::generate(now - ago).unwrap());
    for content in [String::new(), "damaged".to_owned(), expired.to_pem(), ending.to_pem()] {
        let server = ScriptedServer::start().await;
        server.change(|objects| objects.store(&content));
        let mut replica = server.replica();
        await_state(&mut replica, Certificates::is_ready).await;
        assert_ne!(server.stored().unwrap(), content);
        let received = server.received();
        let replaced = received.iter().find(|one| one.method == Method::PATCH && one.path == SECRET).unwrap();
        assert_eq!(replaced.parameter("force"), "true");
        let metadata = json!({"name": "watchtap-certificate", "namespace": "system", "uid": "uid-2", "resourceVersion": "2"});
        assert_eq!(replaced.body["metadata"], metadata, "the owners stay as they are");
        served(&replica, &server.bundle(), NAME).await.unwrap();
    }
}

#[tokio::test]
async fn deleted_secret_is_stored_again_and_wiped_bundle_is_written_again() {
    let server = ScriptedServer::start().await;
    let mut replica = server.replica();
    await_state(&mut replica, Certificates::is_ready).await;
    let stored = server.stored();
    server.change(|objects| objects.secret = None);
    server.await_that(|server| server.stored().is_some()).await;
    assert_eq!(server.stored(), stored);
    let bundle = server.bundle();
    server.change(|objects| objects.write_bundle(&Bundle::default()));
    server.await_that(|server| server.bundle().has_same(&bundle)).await;
    await_state(&mut replica, Certificates::is_ready).await;
    served(&replica, &bundle, NAME).await.unwrap();
}

#[tokio::test]
async fn another_authority_in_the_secret_is_served_without_a_gap() {
    let server = ScriptedServer::start().await;
    let mut replica = server.replica();
    await_state(&mut replica, Certificates::is_ready).await;
    let old = server.bundle();
    let other = Authority::generate(SystemTime::now()).unwrap();
    server.change(|objects| objects.store(&other.to_pem()));
    let alone: Bundle = [other.certificate().clone()].into_iter().collect();
    server.await_that(|server| server.bundle().contains(other.certificate())).await;
    assert_eq!(server.bundle().iter().count(), 2, "the old one stays for a while");
    // Until the bundle has had the new one for a time, the old one is served.
    while served(&replica, &alone, NAME).await.is_err() {
        served(&replica, &server.bundle(), NAME).await.unwrap();
        assert!(replica.is_ready());
        server.await_requests(1).await;
    }
    served(&replica, &old, NAME).await.unwrap_err();
    server.await_that(|server| server.bundle().has_same(&alone)).await;
    assert!(replica.is_ready());
}

#[tokio::test]
async fn leaf_is_served_while_the_api_server_is_away() {
    let server = ScriptedServer::start().await;
    let mut replica = server.replica();
    await_state(&mut replica, Certificates::is_ready).await;
    let bundle = server.bundle();
    for status in [500, 503, 429] {
        server.script(move |_received| Some((status, json!({"message": "overloaded"}))));
        await_state(&mut replica, |replica| replica.problem().is_some_and(|problem| problem.contains(&status.to_string()))).await;
        assert!(replica.is_ready());
        served(&replica, &bundle, NAME).await.unwrap();
    }
    server.script(|_received| None);
    await_state(&mut replica, |replica| replica.problem().is_none()).await;
    drop(server);
    await_state(&mut replica, |replica| replica.problem().is_some_and(|problem| problem.contains("no connection"))).await;
    assert!(replica.is_ready());
    served(&replica, &bundle, NAME).await.unwrap();
}

#[tokio::test]
async fn token_and_authority_of_the_pod_are_read_again() {
    let server = ScriptedServer::start().await;
    let mut replica = server.replica();
    await_state(&mut replica, Certificates::is_ready).await;
    server.write("token", &token("watchtap-0", "rotated"));
    server.await_that(|server| server.received().last().is_some_and(|one| one.token.ends_with(".rotated"))).await;
    let authority = server.renew_authority();
    await_state(&mut replica, |replica| replica.problem().is_some()).await;
    server.write("ca.crt", &authority);
    await_state(&mut replica, |replica| replica.problem().is_none()).await;
    server.remove("token");
    let remedy = "automountServiceAccountToken";
    await_state(&mut replica, |replica| replica.problem().is_some_and(|problem| problem.contains(remedy))).await;
    assert!(server.received().iter().all(|one| one.token.starts_with("Bearer e30.")), "no request is anonymous");
}

/// A handshake as a client that trusts `bundle` and expects `name`. Returns the protocol.
pub(super) async fn served(replica: &Certificates, bundle: &Bundle, name: &str) -> std::io::Result<Option<Vec<u8>>> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(bundle.iter().cloned().map(CertificateDer::into_owned));
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let (client, server) = tokio::io::duplex(16 << 10);
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let accepting = TlsAcceptor::from(replica.server_config()).accept(server);
    let connecting = TlsConnector::from(Arc::new(config)).connect(name, client);
    let (_accepted, connected) = tokio::join!(accepting, connecting);
    Ok(connected?.get_ref().1.alpn_protocol().map(<[u8]>::to_vec))
}
