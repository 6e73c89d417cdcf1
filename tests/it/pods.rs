//! Realistic pods of a few kilobytes each, and lists of any number of them.

use serde_json::{Value, json};

/// Placeholder of a pod's number; all pods have the same length.
const NUMBER: &str = "#######";

/// JSON before the first pod.
pub(crate) const HEAD: &str = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"987654321"},"items":["#;
/// JSON after the last pod.
pub(crate) const TAIL: &str = "]}\n";

/// Generates pods that differ only in their identity.
pub(crate) struct Pods {
    template: String,
}

impl Pods {
    pub(crate) fn new() -> Self {
        Self { template: template().to_string() }
    }

    /// JSON of the pod with this number.
    pub(crate) fn pod(&self, number: usize) -> String {
        self.template.replace(NUMBER, &format!("{number:07}"))
    }

    /// The number of pods, with commas, that take about this many bytes.
    pub(crate) fn count_of(&self, bytes: usize) -> usize {
        bytes / (self.template.len() + 1)
    }
}

fn template() -> Value {
    let conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition);
    json!({
        "metadata": {
            "name": format!("checkout-7d9c5b6f4-{NUMBER}"),
            "generateName": "checkout-7d9c5b6f4-",
            "namespace": "shop",
            "uid": format!("0b1f6c1e-5a55-4a0e-9d3c-00000{NUMBER}"),
            "resourceVersion": format!("1{NUMBER}"),
            "creationTimestamp": "2025-11-03T09:15:27Z",
            "labels": {"app": "checkout", "pod-template-hash": "7d9c5b6f4", "team": "payments \"north\""},
            "annotations": {"prometheus.io/scrape": "true", "checksum/config": "f1d2d2f924e986ac86fdf7b36c94bcdf32beec15".repeat(2)},
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "checkout-7d9c5b6f4",
                "uid": "5f4dcc3b-5aa7-65d6-1d83-27deb882cf99", "controller": true, "blockOwnerDeletion": true,
            }],
            "managedFields": [{
                "manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1", "time": "2025-11-03T09:15:27Z",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:app": {}, "f:team": {}}}, "f:spec": {"f:containers": {
                    "k:{\"name\":\"server\"}": {".": {}, "f:image": {}, "f:resources": {".": {}, "f:limits": {".": {}, "f:memory": {}}}},
                }}},
            }],
        },
        "spec": {
            "nodeName": "worker-17.zone-b.example",
            "serviceAccountName": "checkout",
            "containers": [container("server"), container("sidecar")],
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
        },
        "status": {
            "phase": "Running", "podIP": "10.244.3.17", "hostIP": "192.0.2.17", "qosClass": "Burstable",
            "conditions": conditions,
        },
    })
}

fn container(name: &str) -> Value {
    json!({
        "name": name,
        "image": format!("images.example/shop/{name}@sha256:{}", "9f86d081884c7d65".repeat(4)),
        "args": ["--listen=:8443", "--upstream=https://payments.shop.svc:8443", "--log-format={\"time\":\"%t\"}"],
        "env": [{"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}],
        "ports": [{"name": "https", "containerPort": 8443, "protocol": "TCP"}],
        "resources": {"limits": {"memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}},
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8443, "scheme": "HTTPS"}, "periodSeconds": 10, "failureThreshold": 3},
        "volumeMounts": [{"name": "kube-api-access", "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
    })
}

fn condition(name: &str) -> Value {
    json!({"type": name, "status": "True", "lastProbeTime": null, "lastTransitionTime": "2025-11-03T09:15:31Z"})
}
