//! Webhooks in the configuration of an API server, and pods that it admits.

use std::fs;

use observer_tests::{Client, Cluster, Options, Response, kustomize, objects_as_kubectl_reads_them};
use serde_json::{Value, json};

use crate::eventually::eventually;

const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/// A cluster whose pods get tokens, with the account `default` in the namespace `default`.
pub(crate) fn cluster() -> Cluster {
    let cluster = Cluster::start(&Options { service_account_admission: true, ..Options::default() }).unwrap();
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    cluster.client().post("/api/v1/namespaces/default/serviceaccounts", &account).unwrap().success().unwrap();
    cluster
}

/// The file of the chart's configuration, rendered with the default values. `chart::kustomize` compares it with the chart.
const RENDERED: &str = "base/webhook-configuration.yaml";

/// The configuration of the chart, for a webhook on loopback. The name decides the order of calls.
pub(crate) fn configuration(name: &str, url: &str, authority: &str) -> Value {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), &kustomize::present().unwrap()[RENDERED]).unwrap();
    let mut configuration = objects_as_kubectl_reads_them(&[file.path().to_owned()]).unwrap().remove(0).unwrap().remove(0);
    configuration["metadata"] = json!({"name": name});
    configuration["webhooks"][0]["clientConfig"] = json!({"url": url, "caBundle": base64(authority)});
    configuration
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

pub(crate) fn register(client: &Client, configuration: &Value) {
    client.post(CONFIGURATIONS, configuration).unwrap().success().unwrap();
}

/// Replaces a configuration of the same name.
pub(crate) fn replace(client: &Client, configuration: &Value) {
    let path = format!("{CONFIGURATIONS}/{}", configuration["metadata"]["name"].as_str().unwrap());
    let mut configuration = configuration.clone();
    configuration["metadata"]["resourceVersion"] =
        client.get(&path).unwrap().json().unwrap()["metadata"]["resourceVersion"].clone();
    let headers = [("Content-Type", "application/json")];
    client.raw("PUT", &path, &headers, configuration.to_string().as_bytes()).unwrap().success().unwrap();
}

/// A labelled pod with a container and further members of its spec.
pub(crate) fn pod(name: &str, spec: &Value) -> Value {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"watchtap.dev/inject": "enabled"}},
        "spec": {"containers": [{"name": "app", "image": "example.com/app:1"}]},
    });
    for (member, value) in spec.as_object().unwrap() {
        pod["spec"][member] = value.clone();
    }
    pod
}

/// Creates a pod in the namespace `default`, without storing it.
pub(crate) fn dry_run(client: &Client, pod: &Value) -> Response {
    client.post("/api/v1/namespaces/default/pods?dryRun=All", pod).unwrap()
}

/// Whether a pod has the sidecar of admission.
pub(crate) fn has_sidecar(pod: &Value) -> bool {
    pod["spec"]["initContainers"][0]["name"] == "watchtap" && pod["metadata"]["annotations"]["watchtap.dev/admitted"].is_string()
}

/// Waits until pods get the sidecar: the API server learns of configurations by a watch.
#[track_caller]
pub(crate) fn await_sidecars(client: &Client) {
    let probed = eventually(|| {
        let answer = dry_run(client, &pod("probe", &json!({})));
        (answer.status == 201 && has_sidecar(&answer.json().unwrap())).then_some(())
    });
    probed.expect("the API server calls the webhook");
}
