//! Too many of something: thirty agents that list at once, with a watch and without, and a process with a watch for each Secret.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use observer_tests::{Cluster, Minor, go_controllers};
use serde_json::json;

use super::first_screen::{Started, first_lines_have};
use crate::stage::{NAMESPACE, Stage, quiet_cluster};

const AGENTS: usize = 30;
const PODS: usize = 20 * AGENTS;

/// Creates pods on as many nodes as there are agents.
fn create_pods(cluster: &Cluster) -> Result<()> {
    let pods = cluster.client_for_bulk()?;
    for number in 0..PODS {
        let spec = json!({"nodeName": format!("node-{}", number % AGENTS), "containers": [{"name": "web", "image": "web:1"}]});
        let pod = json!({"metadata": {"name": format!("web-{number}")}, "spec": spec});
        pods.post(&format!("/api/v1/namespaces/{NAMESPACE}/pods"), &pod)?.success()?;
    }
    Ok(())
}

fn kubectl(kubeconfig: &Path, arguments: &[&str]) -> Result<Started> {
    let mut kubectl = Command::new("kubectl");
    kubectl.args(arguments).env("KUBECONFIG", kubeconfig).stdin(Stdio::null()).stdout(Stdio::null());
    Ok(Started(kubectl.spawn().context("cannot start kubectl")?))
}

#[test]
fn thirty_agents_that_start_together_are_a_rollout() -> Result<()> {
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], 1)?)?;
    create_pods(&stage.cluster)?;
    let (kubeconfig, _) = stage.own_client()?;
    let agents = (0..AGENTS).map(|number| {
        let selector = format!("--field-selector=spec.nodeName=node-{number}");
        kubectl(&kubeconfig, &["get", "pods", "--all-namespaces", "--watch", &selector])
    });
    let _agents = agents.collect::<Result<Vec<_>>>()?;
    let reading = stage.reading_when(|reading| reading.text.contains("[rollout:"))?;
    first_lines_have(&reading, "listed by clients that started at the same time")?;
    stage.close()
}

#[test]
fn thirty_agents_that_only_list_read_all_pods_from_etcd_for_each_node() -> Result<()> {
    // With this gate on, as by default from 1.31, the watch cache answers such lists.
    let mut stage = Stage::set(quiet_cluster(Minor(31), &["--feature-gates=ConsistentListFromCache=false"], 1)?)?;
    create_pods(&stage.cluster)?;
    let (kubeconfig, _) = stage.own_client()?;
    // A list without a selector shows how many pods there are.
    kubectl(&kubeconfig, &["get", "--raw", "/api/v1/pods?resourceVersion=0"])?.succeeds()?;
    let before = stage.cluster.counters("pods")?;
    let agents = (0..AGENTS).map(|number| {
        kubectl(&kubeconfig, &["get", "--raw", &format!("/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-{number}")])
    });
    agents.collect::<Result<Vec<_>>>()?.into_iter().try_for_each(Started::succeeds)?;
    let read = stage.cluster.counters("pods")? - before;
    ensure!(read.etcd_lists == i64::try_from(AGENTS)?, "the server's own counters: {read:?}");
    let words = format!("{AGENTS} lists of pods with a selector");
    let reading = stage.reading_when(|reading| reading.text.contains(&words))?;
    first_lines_have(&reading, "read all objects from etcd")?;
    let seen = format!("1 list read all {PODS} objects from etcd to return {}", PODS / AGENTS);
    ensure!(reading.text.contains(&seen), "{seen:?} is not in\n{}", reading.text);
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
