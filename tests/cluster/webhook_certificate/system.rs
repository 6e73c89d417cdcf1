//! A namespace with the objects that the chart installs for a webhook, and replicas of the webhook's certificate in this process.

use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use observer_tests::{Cluster, Options, Response};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::timeout;
use watchtap::api_server::UpstreamEndpoint;
use watchtap::webhook::certificate::{Certificates, Config, Pace, PodAccess, Source};

/// Longer than anything here takes, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);
/// Times for tests, which wait for events.
pub(super) const QUICK: Pace = Pace {
    check: Duration::from_millis(200),
    retry: Duration::from_millis(20),
    settle: Duration::from_millis(300),
    keep: Duration::from_secs(6),
};
const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
/// The verbs of the chart's `Role` and `ClusterRole`.
pub(super) const OF_SECRET: &[&str] = &["get", "patch", "create"];
pub(super) const OF_CONFIGURATION: &[&str] = &["get", "patch"];
pub(super) const NAME: &str = "watchtap";

/// A namespace for one test, whose name is also that of the configuration.
pub(super) struct System {
    pub(super) cluster: &'static Cluster,
    pub(super) namespace: &'static str,
    folder: TempDir,
}

impl System {
    /// The namespace, the ServiceAccount with a token, the configuration, and the rights of the chart.
    pub(super) fn install(namespace: &'static str) -> Self {
        let cluster = cluster();
        let system = Self { cluster, namespace, folder: tempfile::tempdir().unwrap() };
        let namespaced = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
        system.send("POST", "/api/v1/namespaces", &namespaced).success().unwrap();
        system.renew_token();
        std::fs::write(system.folder.path().join("ca.crt"), cluster.ca_pem()).unwrap();
        system.send("POST", CONFIGURATIONS, &system.configuration()).success().unwrap();
        system.grant(OF_SECRET, OF_CONFIGURATION);
        system
    }

    fn renew_token(&self) {
        let token = self.cluster.service_account_token(self.namespace, NAME).unwrap();
        std::fs::write(self.folder.path().join("token"), token).unwrap();
    }

    /// The token of the webhook's ServiceAccount.
    pub(super) fn token(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("token")).unwrap()
    }

    /// The configuration as the chart renders it, without `caBundle`. It matches no pod.
    pub(super) fn configuration(&self) -> Value {
        let webhook = |name: &str| {
            json!({
                "name": format!("{name}.watchtap.dev"),
                "admissionReviewVersions": ["v1"],
                "clientConfig": {"service": {"name": NAME, "namespace": self.namespace, "path": "/mutate", "port": 443}},
                "failurePolicy": "Ignore",
                "objectSelector": {"matchLabels": {"watchtap.dev/none": "enabled"}},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
                "sideEffects": "None",
                "timeoutSeconds": 5,
            })
        };
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": self.namespace, "labels": {"app.kubernetes.io/name": NAME}},
            "webhooks": [webhook("pods"), webhook("more")],
        })
    }

    /// Gives the ServiceAccount exactly these rights.
    pub(super) fn grant(&self, of_secret: &[&str], of_configuration: &[&str]) {
        let namespace = self.namespace;
        let rbac = "/apis/rbac.authorization.k8s.io/v1";
        let namespaced = format!("{rbac}/namespaces/{namespace}");
        let allow = |group: &str, resource: &str, name: String, verbs: &[&str]| {
            let allowed = json!({"apiGroups": [group], "resources": [resource], "resourceNames": [name], "verbs": verbs});
            json!([allowed])
        };
        let of_secret = allow("", "secrets", format!("{NAME}-certificate"), of_secret);
        let of_configuration =
            allow("admissionregistration.k8s.io", "mutatingwebhookconfigurations", namespace.to_owned(), of_configuration);
        for (path, kind, name, rules) in [
            (format!("{namespaced}/roles"), "Role", NAME, of_secret),
            (format!("{rbac}/clusterroles"), "ClusterRole", namespace, of_configuration),
        ] {
            let binding = format!("{}bindings", path.trim_end_matches('s'));
            let api_group = "rbac.authorization.k8s.io";
            let role = json!({"kind": kind, "metadata": {"name": name}, "rules": rules});
            let subject = json!({"kind": "ServiceAccount", "name": NAME, "namespace": namespace});
            let role_ref = json!({"apiGroup": api_group, "kind": kind, "name": name});
            let bound =
                json!({"kind": format!("{kind}Binding"), "metadata": {"name": name}, "roleRef": role_ref, "subjects": [subject]});
            for (path, mut object) in [(path, role), (binding, bound)] {
                object["apiVersion"] = json!(format!("{api_group}/v1"));
                self.apply(&format!("{path}/{name}"), "chart", &object).success().unwrap();
            }
        }
    }

    /// Server-side apply with force.
    pub(super) fn apply(&self, path: &str, manager: &str, object: &Value) -> Response {
        self.patch(&format!("{path}?fieldManager={manager}&force=true"), "application/apply-patch+yaml", object)
    }

    pub(super) fn patch(&self, path: &str, media_type: &str, object: &Value) -> Response {
        self.cluster.raw("PATCH", path, &[("Content-Type", media_type)], object.to_string().as_bytes()).unwrap()
    }

    pub(super) fn send(&self, method: &str, path: &str, object: &Value) -> Response {
        self.cluster.raw(method, path, &[("Content-Type", "application/json")], object.to_string().as_bytes()).unwrap()
    }

    pub(super) fn secret_path(&self) -> String {
        format!("/api/v1/namespaces/{}/secrets/{NAME}-certificate", self.namespace)
    }

    pub(super) fn configuration_path(&self) -> String {
        format!("{CONFIGURATIONS}/{}", self.namespace)
    }

    /// An object as it is now; `None` if it does not exist.
    pub(super) fn read(&self, path: &str) -> Option<Value> {
        let response = self.cluster.raw("GET", path, &[], b"").unwrap();
        (response.status == 200).then(|| response.json().unwrap())
    }

    /// The PEM text in the Secret.
    pub(super) fn stored(&self) -> Option<Vec<u8>> {
        let secret = self.read(&self.secret_path())?;
        Some(STANDARD.decode(secret["data"]["authority.pem"].as_str()?).unwrap())
    }

    /// Another program stores this text.
    pub(super) fn store(&self, content: &[u8]) {
        let metadata = json!({"name": format!("{NAME}-certificate")});
        let data = json!({"authority.pem": STANDARD.encode(content)});
        let object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data});
        self.apply(&self.secret_path(), "another", &object).success().unwrap();
    }

    /// The certificates in `caBundle`; all webhooks have the same.
    pub(super) fn bundle(&self) -> Vec<CertificateDer<'static>> {
        let configuration = self.read(&self.configuration_path()).unwrap();
        let webhooks = configuration["webhooks"].as_array().unwrap();
        let bundles: Vec<_> = webhooks.iter().map(|webhook| webhook["clientConfig"]["caBundle"].clone()).collect();
        assert!(bundles.windows(2).all(|pair| pair[0] == pair[1]), "{configuration:#}");
        let pem = STANDARD.decode(bundles[0].as_str().unwrap_or_default()).unwrap();
        CertificateDer::pem_slice_iter(&pem).map(Result::unwrap).collect()
    }

    /// The certificates of this replica. Needs a tokio runtime.
    pub(super) fn replica(&self) -> Certificates {
        let address = self.cluster.socket_address();
        let at = UpstreamEndpoint { host: address.ip().to_string(), port: address.port() };
        let api_server = PodAccess::new(at, self.folder.path());
        let source = Source::OwnAuthority { configuration: self.namespace.to_owned(), api_server };
        let service = format!("{NAME}.{}", self.namespace).parse().unwrap();
        Certificates::start_at_pace(Config { service, source }, QUICK).unwrap()
    }

    /// Requests of the webhook's ServiceAccount, as the audit log has them.
    pub(super) fn requests(&self) -> Vec<Value> {
        let user = format!("system:serviceaccount:{}:{NAME}", self.namespace);
        let log = self.cluster.audit_log().unwrap();
        log.into_iter().filter(|event| event["user"]["username"] == user && event["stage"] == "ResponseComplete").collect()
    }
}

/// A cluster for these tests alone. The checks of the webhook would disturb tests that count requests, and this audit log stays short.
fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| Cluster::start(&Options::default()).unwrap())
}

/// The certificate of an authority in PEM.
pub(super) fn certificate(authority: &[u8]) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(authority).unwrap()
}

/// Waits until the certificates of a replica are in a state.
pub(super) async fn await_state(replica: &mut Certificates, is_so: impl Fn(&Certificates) -> bool) {
    while !is_so(replica) {
        let changed = timeout(PATIENCE, replica.changed()).await;
        assert!(changed.is_ok(), "it never happens; the problem is {:?}", replica.problem());
    }
}
