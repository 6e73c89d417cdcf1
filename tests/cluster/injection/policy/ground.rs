//! An API server with the policy, and what it stores of a pod.

use std::fs;
use std::time::Duration;

use observer_tests::{Client, Cluster, Minor, Options, objects_as_kubectl_reads_them, output_within, watchtap};
use serde_json::{Value, json};
use watchtap::injection::{SampleOptions, admit_text};

use crate::eventually::eventually;

/// The first minor with the policy's API in v1, which is switched on by default.
const MINOR: Minor = Minor(36);
const LIMIT: Duration = Duration::from_mins(1);

pub(super) const NAMESPACE: &str = "policy";
pub(super) const LABEL: &str = "watchtap.dev/inject";
pub(super) const ADMITTED: &str = "watchtap.dev/admitted";
pub(super) const REFUSED: &str = "watchtap.dev/not-injected";

pub(super) struct Ground {
    cluster: Cluster,
    client: Client,
    options: SampleOptions,
}

impl Ground {
    /// A server with the policy of these options.
    pub(super) fn with_policy(options: SampleOptions) -> Self {
        let cluster = Cluster::start(&Options { minor: MINOR, service_account_admission: true, ..Options::default() }).unwrap();
        let ground = Self { client: cluster.client_for_bulk().unwrap(), cluster, options };
        ground.create("/api/v1/namespaces", &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}));
        for namespace in [NAMESPACE, "kube-system"] {
            ground.add_account(namespace, "default");
        }
        for object in policy(options) {
            let plural = format!("{}s", object["kind"].as_str().unwrap().to_lowercase()).replace("policys", "policies");
            ground.create(&format!("/apis/admissionregistration.k8s.io/v1/{plural}"), &object);
        }
        let probe = json!({"metadata": {"name": "probe"}, "spec": {"containers": [{"name": "app", "image": "a"}]}});
        let is_admitted =
            || ground.stored(NAMESPACE, &labelled(&probe)).ok()?["metadata"]["annotations"][ADMITTED].is_string().then_some(());
        let in_force = eventually(is_admitted);
        assert!(in_force.is_some(), "the policy does nothing: {}", ground.errors());
        ground
    }

    pub(super) fn add_account(&self, namespace: &str, name: &str) {
        let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}});
        self.create(&format!("/api/v1/namespaces/{namespace}/serviceaccounts"), &account);
    }

    /// The same in the namespace of the test, where it may exist.
    pub(super) fn add_account_once(&self, name: &str) {
        let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{name}");
        if self.client.raw("GET", &path, &[], b"").unwrap().status != 200 {
            self.add_account(NAMESPACE, name);
        }
    }

    fn create(&self, path: &str, object: &Value) {
        self.client.post(path, object).unwrap().success().unwrap();
    }

    /// A pod as the server would store it, without what differs between two identical pods. The server's message, if it refuses it.
    pub(super) fn stored(&self, namespace: &str, pod: &Value) -> Result<Value, String> {
        let mut pod = pod.clone();
        pod["apiVersion"] = "v1".into();
        pod["kind"] = "Pod".into();
        let response = self.client.post(&format!("/api/v1/namespaces/{namespace}/pods?dryRun=All"), &pod).unwrap();
        let answer = response.json().unwrap();
        if response.status != 201 {
            return Err(answer["message"].as_str().unwrap_or_default().to_owned());
        }
        Ok(without_random_parts(answer))
    }

    /// The pod that admission makes, as the server would store it, and the result: the pod without a label, patched, with the label.
    pub(super) fn expected(&self, namespace: &str, pod: &Value) -> Result<Value, String> {
        let mut before = self.stored(namespace, pod)?;
        set_label(&mut before, "enabled");
        let patch = admit_text(&before.to_string(), namespace, self.options).unwrap();
        json_patch::patch(&mut before, &serde_json::from_str::<json_patch::Patch>(&patch).unwrap()).unwrap();
        // The policy does not see it again, and the server adds its defaults to new parts.
        before["metadata"]["labels"].as_object_mut().unwrap().shift_remove(LABEL);
        // It has the class of the pod without the sidecar.
        before.as_object_mut().unwrap().shift_remove("status");
        let mut after = self.stored(namespace, &before)?;
        set_label(&mut after, "enabled");
        Ok(after)
    }

    /// The errors of the policy's evaluation, as the server counts them; empty if there are none.
    pub(super) fn errors(&self) -> String {
        let metrics = self.client.get("/metrics").unwrap().text();
        let of_policy = metrics.lines().filter(|line| line.starts_with("apiserver_mutating_admission_policy_check_total{"));
        of_policy.filter(|line| !line.contains("error_type=\"no_error\"")).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.cluster.api_server_log()).unwrap()
    }
}

/// The pod with the label that requests a sidecar.
pub(super) fn labelled(pod: &Value) -> Value {
    let mut pod = pod.clone();
    set_label(&mut pod, "enabled");
    pod
}

fn set_label(pod: &mut Value, value: &str) {
    let labels = &mut pod["metadata"]["labels"];
    if labels.is_null() {
        *labels = json!({});
    }
    labels[LABEL] = value.into();
}

/// Both objects, as kubectl reads the output of the command.
fn policy(options: SampleOptions) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let output = output_within(watchtap().unwrap().args(["inject", "--policy"]).args(options.flags()), LIMIT).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = folder.path().join("policy.yaml");
    fs::write(&file, output.stdout).unwrap();
    objects_as_kubectl_reads_them(&[file]).unwrap().remove(0).unwrap()
}

/// Admission names the volume with the token at random.
fn without_random_parts(mut pod: Value) -> Value {
    let metadata = pod["metadata"].as_object_mut().unwrap();
    for member in ["uid", "creationTimestamp", "managedFields", "resourceVersion", "generation"] {
        metadata.shift_remove(member);
    }
    let volumes = pod["spec"]["volumes"].as_array().cloned().unwrap_or_default();
    let names = volumes.iter().filter_map(|volume| volume["name"].as_str());
    let random = names.into_iter().find(|name| name.starts_with("kube-api-access-") && name.len() == "kube-api-access-".len() + 5);
    match random {
        Some(name) => serde_json::from_str(&pod.to_string().replace(name, "kube-api-access-xxxxx")).unwrap(),
        None => pod,
    }
}
