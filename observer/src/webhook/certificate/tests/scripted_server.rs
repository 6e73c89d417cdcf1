//! An API server on loopback that has a Secret and a configuration, applies changes as a real one does, and fails as a test decides.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http_body_util::{BodyExt as _, Collected, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use observer_pki::{PrivateAuthority, ServerIdentity};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::super::bundle::Bundle;
use super::super::{Certificates, Config, Pace, PodAccess, Source};
use crate::api_server::UpstreamEndpoint;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_mins(1);
/// Times for tests, which wait for events.
pub(super) const QUICK: Pace = Pace {
    check: Duration::from_millis(40),
    retry: Duration::from_millis(5),
    settle: Duration::from_millis(60),
    // A busy machine has to complete each check within this time.
    keep: Duration::from_secs(3),
};
/// The pods of replicas. Each has a token of its own, which names it.
pub(super) const PODS: [&str; 4] = ["watchtap-0", "watchtap-1", "watchtap-2", "watchtap-3"];
pub(super) const SECRET: &str = "/api/v1/namespaces/system/secrets/watchtap-certificate";
pub(super) const CONFIGURATION: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/watchtap";
/// A part of each token, which may be in no message.
pub(super) const CANARY: &str = "c4n4ry";

/// A request as the server received it.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) token: String,
    pub(super) media_type: String,
    pub(super) body: Value,
}

/// An answer that a test chooses.
pub(super) type Reply = (u16, Value);
type Script = Box<dyn FnMut(&Received) -> Option<Reply> + Send>;

/// The server, and the folders with the credentials of pods.
pub(super) struct ScriptedServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    folder: TempDir,
    serving: JoinHandle<()>,
}

struct Shared {
    state: Mutex<State>,
    events: watch::Sender<usize>,
}

struct State {
    objects: Objects,
    received: Vec<Received>,
    script: Script,
    tls: Arc<ServerConfig>,
}

/// The Secret and the configuration.
pub(super) struct Objects {
    pub(super) secret: Option<Value>,
    pub(super) configuration: Option<Value>,
    versions: u64,
}

impl ScriptedServer {
    /// A server without a Secret, and with a configuration without `caBundle`.
    pub(super) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (tls, authority) = tls();
        let mut objects = Objects { secret: None, configuration: None, versions: 0 };
        objects.configure();
        let state = State { objects, received: Vec::new(), script: Box::new(|_received| None), tls };
        let shared = Arc::new(Shared { state: Mutex::new(state), events: watch::Sender::new(0) });
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(serve(listener, Arc::clone(&shared)));
        let server = Self { shared, address, folder, serving };
        for pod in PODS {
            std::fs::create_dir(server.folder.path().join(pod)).unwrap();
            server.write_in(pod, "ca.crt", &authority);
            server.write_in(pod, "token", &token(pod, CANARY));
        }
        server
    }

    /// Starts the certificates of the first replica.
    pub(super) fn replica(&self) -> Certificates {
        self.replica_in(PODS[0])
    }

    /// Starts the certificates of a replica in another pod.
    pub(super) fn replica_in(&self, pod: &str) -> Certificates {
        let source = Source::OwnAuthority { configuration: "watchtap".to_owned(), api_server: self.access(pod) };
        let config = Config { service: "watchtap.system".parse().unwrap(), source };
        Certificates::start_at_pace(config, QUICK).unwrap()
    }

    /// How a pod reaches this server.
    pub(super) fn access(&self, pod: &str) -> PodAccess {
        let at = UpstreamEndpoint { host: "127.0.0.1".to_owned(), port: self.address.port() };
        PodAccess::new(at, &self.folder.path().join(pod))
    }

    /// Replaces a file of the first pod.
    pub(super) fn write(&self, name: &str, content: &str) {
        self.write_in(PODS[0], name, content);
    }

    fn write_in(&self, pod: &str, name: &str, content: &str) {
        std::fs::write(self.folder.path().join(pod).join(name), content).unwrap();
    }

    pub(super) fn remove(&self, name: &str) {
        std::fs::remove_file(self.folder.path().join(PODS[0]).join(name)).unwrap();
    }

    /// Presents a certificate of another authority from now on, and returns that authority in PEM.
    pub(super) fn renew_authority(&self) -> String {
        let (tls, authority) = tls();
        self.state().tls = tls;
        authority
    }

    /// From now on, `script` answers each request, unless it returns none.
    pub(super) fn script(&self, script: impl FnMut(&Received) -> Option<Reply> + Send + 'static) {
        self.state().script = Box::new(script);
        self.shared.note();
    }

    /// Another program changes the objects.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Objects) -> T) -> T {
        let changed = change(&mut self.state().objects);
        self.shared.note();
        changed
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.state().received.clone()
    }

    /// Waits until the server has received so many requests more than now.
    pub(super) async fn await_requests(&self, more: usize) {
        let enough = self.state().received.len() + more;
        self.await_that(|server| server.state().received.len() >= enough).await;
    }

    /// Waits for something that a request or another program brings about.
    pub(super) async fn await_that(&self, is_so: impl Fn(&Self) -> bool) {
        let mut events = self.shared.events.subscribe();
        while !is_so(self) {
            timeout(PATIENCE, events.changed()).await.expect("it never happens").unwrap();
        }
    }

    /// The `caBundle` of the first webhook.
    pub(super) fn bundle(&self) -> Bundle {
        self.change(|objects| objects.bundle())
    }

    /// The PEM text in the Secret.
    pub(super) fn stored(&self) -> Option<String> {
        let encoded = self.state().objects.secret.as_ref()?["data"]["authority.pem"].as_str().map(str::to_owned)?;
        Some(String::from_utf8(STANDARD.decode(encoded).unwrap()).unwrap())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Objects {
    /// Another program installs a configuration with two webhooks of ours and one of another program.
    pub(super) fn configure(&mut self) {
        let webhook = |name: &str, service: &str| json!({"name": name, "clientConfig": {"service": {"name": service, "namespace": "system"}}});
        let webhooks = [webhook("pods", "watchtap"), webhook("more", "watchtap"), webhook("other", "other")];
        let mut configuration = json!({"metadata": {"name": "watchtap"}, "webhooks": webhooks});
        self.stamp(&mut configuration, true);
        self.configuration = Some(configuration);
    }

    /// Another program stores a Secret with this text.
    pub(super) fn store(&mut self, content: &str) {
        let data = json!({"authority.pem": STANDARD.encode(content)});
        let mut secret = json!({"metadata": {"name": "watchtap-certificate"}, "data": data, "manager": "kubectl"});
        self.stamp(&mut secret, true);
        self.secret = Some(secret);
    }

    /// Another program writes the `caBundle` of all webhooks.
    pub(super) fn write_bundle(&mut self, bundle: &Bundle) {
        let mut configuration = self.configuration.take().unwrap();
        for webhook in configuration["webhooks"].as_array_mut().unwrap() {
            webhook["clientConfig"]["caBundle"] = json!(STANDARD.encode(bundle.to_pem()));
        }
        self.stamp(&mut configuration, false);
        self.configuration = Some(configuration);
    }

    pub(super) fn bundle(&self) -> Bundle {
        let configuration = self.configuration.as_ref().unwrap();
        let encoded = configuration["webhooks"][0]["clientConfig"]["caBundle"].as_str().unwrap_or_default();
        Bundle::of_pem(&STANDARD.decode(encoded).unwrap())
    }

    fn stamp(&mut self, object: &mut Value, is_new: bool) {
        self.versions += 1;
        object["metadata"]["resourceVersion"] = json!(self.versions.to_string());
        if is_new {
            object["metadata"]["uid"] = json!(format!("uid-{}", self.versions));
        }
    }

    fn reply(&mut self, received: &Received) -> Reply {
        let found = |object: &Option<Value>| match object {
            Some(object) => (200, object.clone()),
            None => (404, json!({"kind": "Status", "reason": "NotFound"})),
        };
        match (&received.method, received.path.as_str()) {
            (&Method::GET, SECRET) => found(&self.secret),
            (&Method::GET, CONFIGURATION) => found(&self.configuration),
            (&Method::PATCH, SECRET) => self.apply_secret(received),
            (&Method::PATCH, CONFIGURATION) => self.apply_configuration(received),
            _ => (404, json!({"message": "no such path"})),
        }
    }

    /// Server-side apply of the Secret: a field of another manager is a conflict without `force`.
    fn apply_secret(&mut self, received: &Received) -> Reply {
        let (document, manager) = (&received.body, received.parameter("fieldManager"));
        let Some(mut secret) = self.secret.take() else {
            if document["metadata"].get("uid").is_some() {
                return conflict();
            }
            let mut created = document.clone();
            created["manager"] = json!(manager);
            self.stamp(&mut created, true);
            self.secret = Some(created.clone());
            return (201, created);
        };
        let is_taken = secret["manager"] != json!(manager) && secret["data"] != document["data"];
        let is_refused = !is_same_version(&secret, document) || (is_taken && received.parameter("force") != "true");
        if !is_refused {
            secret["data"] = document["data"].clone();
            secret["manager"] = json!(manager);
            self.stamp(&mut secret, false);
        }
        self.secret = Some(secret.clone());
        if is_refused { conflict() } else { (200, secret) }
    }

    fn apply_configuration(&mut self, received: &Received) -> Reply {
        let Some(mut configuration) = self.configuration.take() else { return (403, json!({"message": "cannot create resource"})) };
        let is_refused = !is_same_version(&configuration, &received.body);
        if !is_refused {
            let applied = received.body["webhooks"].as_array().unwrap();
            for webhook in configuration["webhooks"].as_array_mut().unwrap() {
                if let Some(applied) = applied.iter().find(|applied| applied["name"] == webhook["name"]) {
                    webhook["clientConfig"]["caBundle"] = applied["clientConfig"]["caBundle"].clone();
                }
            }
            self.stamp(&mut configuration, false);
        }
        self.configuration = Some(configuration.clone());
        if is_refused { conflict() } else { (200, configuration) }
    }
}

impl Received {
    /// A parameter of the query.
    pub(super) fn parameter(&self, name: &str) -> &str {
        let parameters = self.query.split('&').filter_map(|parameter| parameter.split_once('='));
        parameters.into_iter().find(|(found, _)| *found == name).map_or("", |(_, value)| value)
    }
}

impl Shared {
    fn note(&self) {
        self.events.send_modify(|events| *events += 1);
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let field = |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
        let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
        let received = Received {
            method: head.method.clone(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            token: field("authorization"),
            media_type: field("content-type"),
            body: serde_json::from_slice(&body).unwrap_or_default(),
        };
        let (status, document) = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let scripted = (state.script)(&received);
            let reply = scripted.unwrap_or_else(|| state.objects.reply(&received));
            state.received.push(received);
            reply
        };
        self.note();
        let mut response = Response::builder().status(status);
        if let Some(seconds) = document["details"]["retryAfterSeconds"].as_u64() {
            response = response.header("retry-after", seconds);
        }
        response.body(Full::from(document.to_string())).unwrap()
    }
}

fn is_same_version(object: &Value, document: &Value) -> bool {
    ["uid", "resourceVersion"].iter().all(|field| {
        let wanted = document["metadata"].get(field);
        wanted.is_none_or(|wanted| *wanted == object["metadata"][field])
    })
}

fn conflict() -> Reply {
    (409, json!({"kind": "Status", "reason": "Conflict"}))
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((socket, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let tls = Arc::clone(&shared.state.lock().unwrap_or_else(PoisonError::into_inner).tls);
            let Ok(stream) = TlsAcceptor::from(tls).accept(socket).await else { return };
            let service = service_fn(|request| {
                let shared = Arc::clone(&shared);
                async move { Ok::<_, Infallible>(shared.answer(request).await) }
            });
            http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.ok();
        });
    }
}

fn tls() -> (Arc<ServerConfig>, String) {
    let authority = PrivateAuthority::generate().unwrap();
    let ServerIdentity { certificate, key, .. } = authority.issue_server(&[], SystemTime::now()).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    (Arc::new(builder.with_single_cert(vec![certificate], key).unwrap()), authority.certificate_pem())
}

/// A token of a pod with this name, with a secret in its signature.
pub(super) fn token(pod: &str, secret: &str) -> String {
    let claims = json!({"kubernetes.io": {
        "namespace": "system",
        "pod": {"name": pod, "uid": "pod-uid"},
        "serviceaccount": {"name": "watchtap", "uid": "account-uid"},
    }});
    format!("e30.{}.{secret}", URL_SAFE_NO_PAD.encode(claims.to_string()))
}

/// Waits until the certificates of a replica are in a state.
pub(super) async fn await_state(replica: &mut Certificates, is_so: impl Fn(&Certificates) -> bool) {
    while !is_so(replica) {
        let changed = timeout(PATIENCE, replica.changed()).await;
        assert!(changed.is_ok(), "it never happens; the problem is {:?}", replica.problem());
    }
}
