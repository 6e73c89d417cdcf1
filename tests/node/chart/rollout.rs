//! A rollout of many labelled pods, in the middle of which the webhook is killed.

use observer_tests::node::{InPod, Namespace, Node};
use serde_json::Value;

use super::installed::{IMAGE, Installed, eventually, expect, status};
use crate::sidecar::stage::Stage;

/// Pods of the rollout, and pods that are created later, while there is no webhook.
const PODS: usize = 50;
const LATER: usize = 10;
const ALL: usize = PODS + LATER;

#[test]
fn each_pod_of_a_rollout_starts_while_the_webhook_is_killed_and_status_names_those_without_a_sidecar() {
    let node = Node::alone().unwrap();
    let stage = Stage::baseline(&node, "rollout");
    stage.load_watchtap(IMAGE);
    let installed = Installed::on(&node);
    stage.namespace.apply(DEPLOYMENT).unwrap();
    let admitted = || pods(&stage).iter().filter(|pod| has_sidecar(pod)).count();

    eventually(|| expect(&ready(&stage.namespace, "app"), &PODS));
    assert_eq!(pods(&stage), [""; 0], "no pod has the label yet");

    stage.namespace.kubectl(&["patch", "deployment/app", "--patch", LABEL]).unwrap();
    eventually(|| if pods(&stage).is_empty() { Err("no pod".to_owned()) } else { Ok(()) });
    let before: Vec<String> = pods(&stage).iter().map(name).collect();
    // The kubelet starts them again.
    for replica in installed.replicas() {
        installed.namespace.signal(&replica, InPod::Container("webhook"), "SIGKILL").unwrap();
    }
    assert!(pods(&stage).len() < PODS, "the rollout was over before");
    eventually(|| expect(&pods(&stage).len(), &PODS));
    eventually(|| expect(&ready(&stage.namespace, "app"), &PODS));
    let with: Vec<String> = pods(&stage).iter().filter(|pod| has_sidecar(pod)).map(name).collect();
    assert!(before.iter().all(|pod| with.contains(pod)), "of {before:?}, only {with:?} have a sidecar");

    installed.scale(0);
    eventually(|| expect(&installed.replicas(), &Vec::new()));
    stage.namespace.kubectl(&["scale", "deployment/app", &format!("--replicas={ALL}")]).unwrap();
    eventually(|| expect(&pods(&stage).len(), &ALL));
    eventually(|| expect(&ready(&stage.namespace, "app"), &ALL));
    let without: Vec<String> = pods(&stage).iter().filter(|pod| !has_sidecar(pod)).map(name).collect();
    assert_eq!(without.len(), ALL - with.len(), "{without:?}");
    let reported = || unchanged(&status(&node, stage.namespace.name()));
    eventually(|| expect(&reported(), &without));

    // With a webhook, the pods that replace them have a sidecar again.
    installed.scale(2);
    eventually(|| expect(&ready(&installed.namespace, WEBHOOK), &2));
    let deleted: Vec<&str> = ["delete", "pod", "--wait=false"].into_iter().chain(without.iter().map(String::as_str)).collect();
    stage.namespace.kubectl(&deleted).unwrap();
    eventually(|| expect(&admitted(), &ALL));
    drop(installed);
    // The node ends this many pods before another test starts one.
    stage.namespace.kubectl(&["scale", "deployment/app", "--replicas=0"]).unwrap();
    eventually(|| expect(&all_pods(&stage).len(), &0));
}

const WEBHOOK: &str = "watchtap-webhook";
const LABEL: &str = r#"{"spec":{"template":{"metadata":{"labels":{"watchtap.dev/inject":"enabled"}}}}}"#;

/// The number of ready pods of a Deployment.
fn ready(namespace: &Namespace<'_>, deployment: &str) -> usize {
    let status = namespace.object(&format!("deployment/{deployment}")).unwrap()["status"].clone();
    status["readyReplicas"].as_u64().unwrap_or(0).try_into().unwrap()
}

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  replicas: 50
  strategy: {rollingUpdate: {maxSurge: 5, maxUnavailable: 5}}
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - {name: app, image: 'localhost/pause:1'}
";

/// The labelled pods, also those that are being deleted.
fn all_pods(stage: &Stage<'_>) -> Vec<Value> {
    let path = format!("/api/v1/namespaces/{}/pods?labelSelector=watchtap.dev%2Finject", stage.namespace.name());
    stage.node.get(&path).unwrap()["items"].as_array().unwrap().clone()
}

/// Those that are not being deleted, by name.
fn pods(stage: &Stage<'_>) -> Vec<Value> {
    let mut pods = all_pods(stage);
    pods.retain(|pod| pod["metadata"]["deletionTimestamp"].is_null());
    pods.sort_by_key(name);
    pods
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap().to_owned()
}

fn has_sidecar(pod: &Value) -> bool {
    let is_admitted = !pod["metadata"]["annotations"]["watchtap.dev/admitted"].is_null();
    let has_it = pod["spec"]["initContainers"][0]["name"] == "watchtap";
    assert_eq!(is_admitted, has_it, "{pod:#}");
    has_it
}

/// The names of pods that no admission has changed, by `watchtap status`. It reads the API server's cache, so it may be some moments late.
fn unchanged(status: &Value) -> Vec<String> {
    let pods = status["pods"].as_array().unwrap().iter();
    let mut names: Vec<String> =
        pods.filter(|pod| pod["sidecar"] == "none").map(|pod| pod["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}
