//! The volumes that the sidecar needs.

use serde_json::{Value, json};

use crate::injection::change::Item;
use crate::injection::options::Options;
use crate::pod_layout::{CLUSTER_CA_VOLUME, OWN_VOLUME, TRUST_VOLUME};

/// The volume that admission would add: token, certificate and namespace. `inject` runs before admission, so it adds it itself.
pub(in crate::injection) const TOKEN_VOLUME: &str = "kube-api-access-watchtap";

/// The lifetime that admission asks for. The API server extends exactly this one, for clients that never read the token again
/// (kubernetes/kubernetes `pkg/serviceaccount/claims.go`, `WarnOnlyBoundTokenExpirationSeconds`).
const TOKEN_SECONDS: u32 = 3607;

/// Certificates and keys, and nothing else.
const SIZE: &str = "1Mi";

/// The `ConfigMap` with the cluster's CA, which every namespace has.
pub(in crate::injection) const CLUSTER_CA: &str = "kube-root-ca.crt";

/// The names of the volumes that injection may add.
pub(in crate::injection) const OWN_VOLUMES: [&str; 4] = [OWN_VOLUME, TRUST_VOLUME, CLUSTER_CA_VOLUME, TOKEN_VOLUME];

/// Whether injection may add a volume with this name.
pub(in crate::injection) fn is_own_volume(name: &str) -> bool {
    OWN_VOLUMES.contains(&name)
}

pub(in crate::injection) fn added(with_token: bool, options: &Options) -> Vec<Item> {
    let in_memory = || json!({"medium": "Memory", "sizeLimit": SIZE});
    let mut items = vec![
        item(OWN_VOLUME, "emptyDir", &in_memory()),
        item(TRUST_VOLUME, "emptyDir", &in_memory()),
        item(CLUSTER_CA_VOLUME, "projected", &json!({"sources": [cluster_ca()]})),
    ];
    if with_token {
        items.push(item(TOKEN_VOLUME, "projected", &json!({"sources": token_sources(options)})));
    }
    items
}

/// The sources of admission's own volume (kubernetes/kubernetes `plugin/pkg/admission/serviceaccount/admission.go`,
/// `TokenVolumeSource`). Without `audience`, the token is for the API server.
fn token_sources(options: &Options) -> Vec<Value> {
    let namespace = json!({"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}});
    let mut sources = vec![
        json!({"serviceAccountToken": {"path": "token", "expirationSeconds": TOKEN_SECONDS}}),
        cluster_ca(),
        json!({"downwardAPI": {"items": [namespace]}}),
    ];
    if options.openshift {
        let items = json!([{"key": "service-ca.crt", "path": "service-ca.crt"}]);
        sources.push(json!({"configMap": {"name": "openshift-service-ca.crt", "optional": true, "items": items}}));
    }
    sources
}

fn cluster_ca() -> Value {
    json!({"configMap": {"name": CLUSTER_CA, "items": [{"key": "ca.crt", "path": "ca.crt"}]}})
}

fn item(name: &str, source: &str, content: &Value) -> Item {
    Item { name: name.to_owned(), value: json!({"name": name, source: content}) }
}
