//! Tests of the messages, and of both ends of the private socket.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{CallError, CredentialServer, Keeper, Plan, PluginUser, ask_for_plan, hand_over};
use crate::api_server::{UpstreamEndpoint, UpstreamId, UpstreamTls, UpstreamTrust};
use crate::exec_plugin::{ExecCredential, with_cluster};
use crate::tap::Clock;
use crate::tap::proxy::{Admission, Descriptors, Entrance, Proxy, ProxyConfig};
use observer_pki::{ClientIdentity, PrivateAuthority};

#[test]
fn output_without_certificate_and_key_is_left_alone() {
    for output in [
        "",
        "rubbish",
        "[]",
        "{\"status\":{}}",
        r#"{"status":{"token":"t"}}"#,
        r#"{"status":{"clientCertificateData":"c"}}"#,
        r#"{"status":{"clientKeyData":"k","clientCertificateData":""}}"#,
        r#"{"status":{"clientKeyData":5,"clientCertificateData":"c"}}"#,
        r#"{"status":"clientKeyData clientCertificateData"}"#,
    ] {
        assert_eq!(ExecCredential::with_certificate(output.as_bytes()), None, "{output}");
    }
    assert_eq!(ExecCredential::with_certificate(b"\xff\xfe{"), None);
}

#[test]
fn only_certificate_and_key_are_replaced() {
    let original = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "x": [1],
        "status": {"token": "t", "clientCertificateData": "c", "expirationTimestamp": "2030-01-01T00:00:00Z", "clientKeyData": "k"},
    });
    let yaml = "apiVersion: client.authentication.k8s.io/v1\nkind: ExecCredential\nx: [1]\nstatus: {token: t, clientCertificateData: c, \
                expirationTimestamp: '2030-01-01T00:00:00Z', clientKeyData: k}\n";
    let mut expected = original.clone();
    expected["status"]["clientCertificateData"] = "C".into();
    expected["status"]["clientKeyData"] = "K".into();
    for output in [original.to_string(), yaml.to_owned()] {
        let credential = ExecCredential::with_certificate(output.as_bytes()).unwrap();
        assert_eq!((credential.certificate_pem(), credential.key_pem()), ("c", "k"));
        let replaced: Value = serde_json::from_str(&credential.replace("C", "K")).unwrap();
        assert_eq!(replaced, expected);
    }
}

#[test]
fn exec_plugin_gets_original_cluster_if_any_was_passed() {
    let original = cluster();
    let told = json!({"kind": "ExecCredential", "spec": {"interactive": true, "cluster": {
        "server": "https://127.0.0.1:1", "certificate-authority-data": "b3Vycw==", "config": {"audience": "x"},
    }}});
    let mut expected = told.clone();
    expected["spec"]["cluster"] =
        json!({"config": {"audience": "x"}, "server": "https://api.example", "proxy-url": "http://proxy"});
    let edited = with_cluster(&told.to_string(), &original).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&edited).unwrap(), expected);
    for silent in [r#"{"spec":{"interactive":false}}"#, "{}", "rubbish", ""] {
        assert_eq!(with_cluster(silent, &original), None, "{silent}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_is_chosen_by_user_and_server() {
    let run = Run::start();
    let plan = Plan { command: "aws".to_owned(), arguments: vec!["eks".to_owned()], cluster: None };
    assert_eq!(run.plan("me", None).unwrap(), plan);
    assert_eq!(run.plan("me", Some("https://127.0.0.1:2")).unwrap(), plan);
    assert_eq!(run.plan("me", Some("https://127.0.0.1:1")).unwrap(), Plan { cluster: Some(cluster()), ..plan });
    let stranger = run.plan("you", None).unwrap_err().to_string();
    assert!(stranger.contains("no user `you`"), "{stranger}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_certificate_maps_to_one_private_certificate() {
    let run = Run::start();
    let [one, other] = [identity(), identity()];
    let first = run.hand_over(&one).unwrap();
    assert_eq!(run.hand_over(&one).unwrap(), first);
    assert_ne!(run.hand_over(&other).unwrap(), first);
    assert!(first.0.contains("BEGIN CERTIFICATE") && first.1.contains("PRIVATE KEY"));
    assert_ne!(first.1, one.key_pem, "the real key stays with us");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_certificate_is_refused_without_being_shown() {
    let run = Run::start();
    let [one, other] = [identity(), identity()];
    for (certificate_pem, key_pem) in
        [("s3cret", "s3cret"), (&*one.certificate_pem, "s3cret"), (&*one.certificate_pem, &*other.key_pem)]
    {
        let (certificate_pem, key_pem) = (certificate_pem.to_owned(), key_pem.to_owned());
        let refused = run.hand_over(&ClientIdentity { certificate_pem, key_pem }).unwrap_err();
        assert!(matches!(refused, CallError::No(_)), "{refused}");
        assert!(!refused.to_string().contains("s3cret"), "{refused}");
    }
    assert!(run.hand_over(&one).is_ok(), "it goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn socket_is_private_and_survives_malformed_calls() {
    let run = Run::start();
    assert_eq!(std::fs::metadata(run.socket()).unwrap().permissions().mode() & 0o777, 0o600);
    let large = vec![0xff; 100_000];
    for rubbish in [&b""[..], b"\n", b"{}\n", b"no end of the line", &large] {
        let mut caller = std::os::unix::net::UnixStream::connect(run.socket()).unwrap();
        // The server may have closed the connection already.
        std::io::Write::write_all(&mut caller, rubbish).ok();
    }
    assert!(run.plan("me", None).is_ok());
}

#[test]
fn ended_run_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let gone = ask_for_plan(&folder.path().join("gone"), "me", None).unwrap_err().to_string();
    assert!(gone.contains("has ended") && gone.contains("gone"), "{gone}");
}

/// A listener for the user `me`, and its socket.
struct Run {
    folder: tempfile::TempDir,
}

impl Run {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let issuer = Arc::new(PrivateAuthority::generate().unwrap());
        let proxy = Proxy::bind(ProxyConfig {
            listen: "127.0.0.1:0".parse().unwrap(),
            upstream_id: UpstreamId::default(),
            upstream: UpstreamEndpoint { host: "api.invalid".to_owned(), port: 443 },
            forward_proxy: None,
            upstream_tls: UpstreamTls::new(&UpstreamTrust::Anybody, "api.invalid", None).unwrap(),
            upstream_files: None,
            authority: Arc::clone(&issuer),
            names: Vec::new(),
            entrance: Entrance::Server,
            admission: Admission::Anybody,
            container_name: None,
            intake: None,
            clock: Clock::start(),
            handshake_limit: ProxyConfig::HANDSHAKE_LIMIT,
            descriptors: Descriptors::within(None),
        });
        let mut keeper = Keeper::default();
        let user = keeper.user("me".to_owned(), || PluginUser::new("aws".to_owned(), vec!["eks".to_owned()], issuer));
        user.add_listener("https://127.0.0.1:1".to_owned(), cluster(), proxy.unwrap().handle());
        let server = CredentialServer::bind(&folder.path().join("socket"), keeper).unwrap();
        tokio::spawn(server.serve());
        Self { folder }
    }

    fn socket(&self) -> std::path::PathBuf {
        self.folder.path().join("socket")
    }

    fn plan(&self, user: &str, server: Option<&str>) -> Result<Plan, CallError> {
        let info = server.map(|server| json!({"spec": {"cluster": {"server": server}}}).to_string());
        ask_for_plan(&self.socket(), user, info.as_deref())
    }

    fn hand_over(&self, identity: &ClientIdentity) -> Result<(String, String), CallError> {
        hand_over(&self.socket(), "me", &identity.certificate_pem, &identity.key_pem)
    }
}

fn identity() -> ClientIdentity {
    PrivateAuthority::generate().unwrap().issue_client().unwrap()
}

fn cluster() -> Map<String, Value> {
    let cluster = json!({"server": "https://api.example", "proxy-url": "http://proxy"});
    cluster.as_object().unwrap().clone()
}
