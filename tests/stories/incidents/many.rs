//! Too many of something: thirty agents that list at once, and a process with a watch for each Secret.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use observer_tests::{Minor, go_controllers};
use serde_json::json;

use super::first_screen::{Started, first_lines_have};
use crate::stage::{NAMESPACE, Stage, quiet_cluster};

#[test]
fn thirty_agents_that_start_together_are_a_rollout() -> Result<()> {
    const AGENTS: usize = 30;
    const PODS_OF_EACH: usize = 20;
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], 1)?)?;
    let pods = stage.cluster.client_for_bulk()?;
    for number in 0..AGENTS * PODS_OF_EACH {
        let spec = json!({"nodeName": format!("node-{}", number % AGENTS), "containers": [{"name": "web", "image": "web:1"}]});
        let pod = json!({"metadata": {"name": format!("web-{number}")}, "spec": spec});
        pods.post(&format!("/api/v1/namespaces/{NAMESPACE}/pods"), &pod)?.success()?;
    }
    let (kubeconfig, _) = stage.own_client()?;
    let agents = (0..AGENTS).map(|number| {
        let mut agent = Command::new("kubectl");
        let selector = format!("--field-selector=spec.nodeName=node-{number}");
        agent.args(["get", "pods", "--all-namespaces", "--watch", &selector]).env("KUBECONFIG", &kubeconfig);
        Ok(Started(agent.stdin(Stdio::null()).stdout(Stdio::null()).spawn().context("cannot start kubectl")?))
    });
    let _agents = agents.collect::<Result<Vec<_>>>()?;
    let reading = stage.reading_when(|reading| reading.text.contains("[rollout:"))?;
    first_lines_have(&reading, "listed by clients that started at the same time")?;
    stage.close()
}

#[test]
fn process_with_a_watch_for_each_secret_has_many_watches() -> Result<()> {
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], 1)?)?;
    let (kubeconfig, _) = stage.own_client()?;
    let mut kubelet = Command::new(go_controllers()?);
    kubelet.args(["secrets", NAMESPACE, "300"]).env("KUBECONFIG", kubeconfig);
    let _kubelet = Started(kubelet.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?);
    stage.events_when(|events| events.all("watch-opened").count() > 0)?;
    let reading = stage.reading_when(|reading| reading.text.contains("300 open watches of single objects"))?;
    first_lines_have(&reading, "300 open watches of single objects (secrets)")?;
    stage.close()
}
