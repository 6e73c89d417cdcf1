//! Definitions of custom resources with the fields of other projects that the chart uses, by their names and types there. The API server
//! refuses all other fields.

use observer_tests::Client;
use serde_json::{Value, json};

/// Creates the definitions, and waits until the API server serves their objects.
pub(super) fn create(client: &Client) {
    for (group, kind, spec) in definitions() {
        let plural = format!("{}s", kind.to_lowercase());
        let schema = object(&json!({"apiVersion": text(), "kind": text(), "metadata": {"type": "object"}, "spec": spec}));
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
        let names = json!({"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List")});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
        });
        client.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition).unwrap().success().unwrap();
        let path = format!("/apis/{group}/v1/{plural}");
        super::super::eventually::eventually(|| client.get(&path).ok()).unwrap_or_else(|| panic!("{path} is not served"));
    }
}

/// Group, kind and the schema of `spec`.
fn definitions() -> Vec<(&'static str, &'static str, Value)> {
    let selector = || {
        let expression = object(&json!({"key": text(), "operator": text(), "values": list(&text())}));
        object(&json!({"matchLabels": map(), "matchExpressions": list(&expression)}))
    };
    let relabeling = object(&json!({"sourceLabels": list(&text()), "targetLabel": text(), "replacement": text()}));
    let endpoint = object(&json!({"port": text(), "interval": text(), "relabelings": list(&relabeling)}));
    let namespaces = object(&json!({"any": {"type": "boolean"}, "matchNames": list(&text())}));
    let monitor = object(&json!({"namespaceSelector": namespaces, "selector": selector(), "podMetricsEndpoints": list(&endpoint)}));
    let rule =
        object(&json!({"record": text(), "alert": text(), "expr": text(), "for": text(), "labels": map(), "annotations": map()}));
    let group = object(&json!({"name": text(), "interval": text(), "rules": list(&rule)}));
    let key = object(&json!({"algorithm": text(), "size": {"type": "integer"}, "rotationPolicy": text()}));
    let issuer = object(&json!({"name": text(), "kind": text(), "group": text()}));
    let certificate = object(&json!({
        "secretName": text(), "commonName": text(), "dnsNames": list(&text()), "isCA": {"type": "boolean"}, "duration": text(),
        "privateKey": key, "issuerRef": issuer,
    }));
    let authority = object(&json!({"secretName": text()}));
    vec![
        ("monitoring.coreos.com", "PodMonitor", monitor),
        ("monitoring.coreos.com", "PrometheusRule", object(&json!({"groups": list(&group)}))),
        ("cert-manager.io", "Certificate", certificate),
        ("cert-manager.io", "Issuer", object(&json!({"selfSigned": {"type": "object"}, "ca": authority}))),
    ]
}

fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties})
}

fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn map() -> Value {
    json!({"type": "object", "additionalProperties": {"type": "string"}})
}
