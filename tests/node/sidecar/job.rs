//! A Job with a sidecar ends as it does without one.

use observer_tests::go_client;
use observer_tests::node::{Call, Image, Node};

use super::super::in_cluster;
use super::stage::{Stage, inject};

#[test]
fn job_with_a_sidecar_completes_and_makes_the_same_calls() {
    let node = Node::shared().unwrap();
    node.load(&Image::new(in_cluster::IMAGE).copy(go_client().unwrap(), "/client").entrypoint(&["/client"])).unwrap();
    let [direct, beside] = ["job-direct", "job-sidecar"].map(|prefix| Stage::baseline(&node, prefix));
    let manifest = |stage: &Stage<'_>| in_cluster::job(stage.namespace.name());
    direct.namespace.apply(&manifest(&direct)).unwrap();
    beside.namespace.apply(&inject(&manifest(&beside))).unwrap();
    for stage in [&direct, &beside] {
        for name in ["one", "two"] {
            stage.namespace.kubectl(&["create", "configmap", name]).unwrap();
        }
        stage.namespace.wait("job/client", "condition=Complete").unwrap();
    }

    let calls = |stage: &Stage<'_>| {
        let mut calls = node.calls(&stage.namespace.user("client")).unwrap();
        calls.sort();
        let namespace = stage.namespace.name();
        calls.iter().map(|call| kind(call, namespace)).collect::<Vec<_>>()
    };
    assert_eq!(calls(&beside), calls(&direct));
    let pods = beside.namespace.object("pods").unwrap();
    let status = &pods["items"][0]["status"];
    assert_eq!(status["phase"], "Succeeded");
    let sidecar = &status["initContainerStatuses"][0];
    assert_eq!(sidecar["state"]["terminated"]["exitCode"], 0, "{sidecar:#}");
    // The kubelet asks the sidecar to end after the app has ended.
    let name = pods["items"][0]["metadata"]["name"].as_str().unwrap();
    let log = beside.namespace.logs(name, "watchtap").unwrap();
    assert!(log.contains("LISTS"), "no report in {log}");
}

/// A call as it is in each run of a client: verb, status, user agent, and the path without the name that the API server generates.
fn kind(call: &Call, namespace: &str) -> String {
    let path = call.uri.split('?').next().unwrap_or_default().replace(namespace, "NAMESPACE");
    let path = path.split_once("/typed-").map_or(path.as_str(), |(collection, _name)| collection);
    format!("{} {path} {:?} {}", call.verb, call.status, call.user_agent)
}
