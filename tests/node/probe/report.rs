//! The reports of probes on a node.

use observer_tests::node::Node;
use observer_tests::{built, output_within};
use serde_json::Value;

use crate::chart::installed::{LIMIT, eventually};
use crate::sidecar::stage::Stage;

/// The name of the pod of a `DaemonSet`.
pub(super) fn pod_of(node: &Node, namespace: &str, component: &str) -> String {
    let path = format!("/api/v1/namespaces/{namespace}/pods?labelSelector=app.kubernetes.io%2Fcomponent%3D{component}");
    node.get(&path).unwrap()["items"][0]["metadata"]["name"].as_str().unwrap().to_owned()
}

/// The report of a run in a pod so far, or why there is none: the connection ends with the kubelet and the API server.
pub(super) fn report(node: &Node, namespace: &str, pod: &str) -> Result<Value, String> {
    let mut attach = node.command(&built("watchtap").unwrap()).unwrap();
    attach.args(["attach", &format!("pod/{pod}"), "--namespace", namespace, "--format", "json"]);
    let output = output_within(&mut attach, LIMIT).unwrap();
    if !output.status.success() {
        let pod = node.kubectl(&["describe", "pod", pod, "--namespace", namespace]).unwrap_or_default();
        return Err(format!("{}\n{pod}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(serde_json::from_slice(&output.stdout).unwrap())
}

/// The reflector of the client with this name that is followed longest.
pub(super) fn row<'r>(report: &'r Value, program: &str) -> Result<&'r Value, String> {
    let rows = report["reflectors"].as_array().unwrap();
    rows.iter().find(|row| row["client"]["program"] == program).ok_or_else(|| format!("no {program}"))
}

/// The number of requests of the client with this user agent.
pub(super) fn requests(report: &Value, agent: &str) -> usize {
    report["requests"].as_array().unwrap().iter().filter(|request| request["client"]["program"] == agent).count()
}

/// The first JSON object in the log of a pod that has ended. A container runtime may report the end before it has written all of the log.
#[track_caller]
pub(super) fn report_in_the_log(stage: &Stage<'_>, pod: &str) -> Value {
    let mut report = None;
    eventually(|| {
        let log = stage.namespace.logs(pod, "watchtap").map_err(|error| format!("{error:#}"))?;
        let begin = if log.starts_with('{') { Some(0) } else { log.find("\n{") };
        let begin = begin.ok_or_else(|| format!("no object in {log}"))?;
        let objects = serde_json::Deserializer::from_str(&log[begin..]).into_iter().next();
        report = Some(objects.ok_or("no object")?.map_err(|error| format!("{error} in {log}"))?);
        Ok(())
    });
    report.unwrap()
}
