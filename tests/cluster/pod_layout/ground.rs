//! A cluster with a ServiceAccount that may read the config maps of its namespace.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use observer_tests::pod_client::PodClient;
use observer_tests::{Cluster, Options};
use serde_json::{Value, json};

pub(super) const NAMESPACE: &str = "in-pods";
const ACCOUNT: &str = "informer";

/// A token of the ServiceAccount.
pub(super) struct Token {
    pub(super) text: String,
    /// As the audit log has it.
    pub(super) credential_id: String,
}

pub(super) struct Ground {
    pub(super) cluster: Cluster,
}

impl Ground {
    pub(super) fn prepare() -> Self {
        let cluster = Cluster::start(&Options::default()).unwrap();
        cluster.create_configmaps(NAMESPACE, 5).unwrap();
        let ground = Self { cluster };
        ground.create("/api/v1", "configmaps", &json!({"metadata": {"name": PodClient::PRINT_STORE}}));
        let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]);
        let rbac = "/apis/rbac.authorization.k8s.io/v1";
        ground.create(rbac, "roles", &json!({"metadata": {"name": ACCOUNT}, "rules": rules}));
        let subjects = json!([{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}]);
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ACCOUNT});
        ground.create(rbac, "rolebindings", &json!({"metadata": {"name": ACCOUNT}, "roleRef": role, "subjects": subjects}));
        ground
    }

    /// Issues a token. The API server issues none that expires in less than ten minutes, so a test replaces it before.
    pub(super) fn token(&self) -> Token {
        let text = self.cluster.service_account_token(NAMESPACE, ACCOUNT).unwrap();
        let claims = BASE64_URL_SAFE_NO_PAD.decode(text.split('.').nth(1).unwrap()).unwrap();
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        let credential_id = format!("JTI={}", claims["jti"].as_str().unwrap());
        Token { text, credential_id }
    }

    /// Changes an object, and returns its new resource version.
    pub(super) fn change(&self, config_map: &str) -> String {
        let headers = [("Content-Type", "application/json-patch+json")];
        let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/{config_map}");
        // The resource version is different each time.
        let changed = json!([{"op": "add", "path": "/data", "value": {"revision": self.cluster.revision().unwrap().to_string()}}]);
        let object = self.cluster.raw("PATCH", &path, &headers, changed.to_string().as_bytes()).unwrap();
        object.success().unwrap().json().unwrap()["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
    }

    /// Name and resource version of each config map, from etcd.
    pub(super) fn objects(&self) -> BTreeMap<String, String> {
        let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
        let list = self.cluster.raw("GET", &path, &[], b"").unwrap().success().unwrap().json().unwrap();
        let text = |item: &Value, field: &str| item["metadata"][field].as_str().unwrap().to_owned();
        list["items"].as_array().unwrap().iter().map(|item| (text(item, "name"), text(item, "resourceVersion"))).collect()
    }

    fn create(&self, group: &str, resource: &str, object: &Value) {
        self.cluster.client().post(&format!("{group}/namespaces/{NAMESPACE}/{resource}"), object).unwrap().success().unwrap();
    }
}
