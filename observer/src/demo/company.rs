//! The demo's clients, each a real one with a connection of its own: watchers and a controller of kube-rs, pollers, and somebody who makes
//! changes.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use futures_util::StreamExt;
use http::header::{HeaderValue, USER_AGENT};
use k8s_openapi::api::core::v1::{ConfigMap, Event, Pod};
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher::{self, watcher};
use kube::{Client, ResourceExt};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::rollout::finish_rollouts;

/// How many pods the demo has, and configmaps.
const PODS: usize = 120;
const CONFIG_MAPS: usize = 24;
/// Page size of the client that pages.
const PAGE: u32 = 50;

/// Puts in what the demo is about, by way of the server's own kubeconfig.
pub async fn furnish(kubeconfig: &Path) -> Result<()> {
    let client = client(kubeconfig, "demo-furnisher/1.0").await?;
    let (pods, config_maps, events) = (
        Api::<Pod>::namespaced(client.clone(), "default"),
        Api::<ConfigMap>::namespaced(client.clone(), "default"),
        Api::<Event>::namespaced(client, "default"),
    );
    let parameters = PostParams::default();
    for number in 0..PODS {
        pods.create(&parameters, &pod(number)?).await?;
    }
    for number in 0..CONFIG_MAPS {
        let config_map = json!({"metadata": {"name": format!("settings-{number}")}, "data": {"replicas": "1"}});
        config_maps.create(&parameters, &serde_json::from_value(config_map)?).await?;
    }
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let event = json!({
        "metadata": {"name": "web-0.started"}, "reason": "Started", "message": "Started container web", "type": "Normal",
        "firstTimestamp": now, "lastTimestamp": now, "count": 1, "source": {"component": "kubelet"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web-0"},
    });
    events.create(&parameters, &serde_json::from_value(event)?).await?;
    Ok(())
}

/// Runs all clients by way of `kubeconfig` until it is dropped; `speed` times as busy as usual. Ends with an error when one cannot begin.
pub async fn play(kubeconfig: PathBuf, speed: u32) -> Result<()> {
    let second = Duration::from_secs(1) / speed;
    let mut cast = JoinSet::new();
    cast.spawn(watch_pods(client(&kubeconfig, "mesh-agent/1.9").await?));
    cast.spawn(reconcile(client(&kubeconfig, "settings-controller/0.4").await?));
    cast.spawn(finish_rollouts(client(&kubeconfig, "rollout-controller/0.2").await?));
    cast.spawn(poll(client(&kubeconfig, "dashboard/2.1").await?, second * 5, ListParams::default()));
    cast.spawn(poll(client(&kubeconfig, "cost-exporter/0.9").await?, second * 7, ListParams::default().match_any()));
    cast.spawn(page(client(&kubeconfig, "inventory/3.0").await?, second * 11));
    cast.spawn(poll_events(client(&kubeconfig, "alert-mailer/1.2").await?, second * 13));
    cast.spawn(change(client(&kubeconfig, "deployer/5.5").await?, second * 2));
    while let Some(ended) = cast.join_next().await {
        ended.context("a client of the demo failed")?;
    }
    Ok(())
}

async fn client(kubeconfig: &Path, name: &'static str) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).context("cannot read the demo's kubeconfig")?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    // Nothing of the demo leaves this machine, whatever proxy the environment names.
    config.proxy_url = None;
    config.headers.push((USER_AGENT, HeaderValue::from_static(name)));
    Ok(Client::try_from(config)?)
}

/// A watcher as a node agent has it. Its errors are what the demo is about, and it goes on after each.
async fn watch_pods(client: Client) {
    let mut events = pin!(watcher(Api::<Pod>::all(client), watcher::Config::default()));
    while let Some(event) = events.next().await {
        if let Err(error) = event {
            tracing::debug!(%error, "the demo's watcher");
            sleep(Duration::from_millis(200)).await;
        }
    }
}

async fn reconcile(client: Client) {
    let config_maps = Api::<ConfigMap>::all(client);
    let reconciler = |_config_map: Arc<ConfigMap>, _context: Arc<()>| async { Ok::<_, watcher::Error>(Action::await_change()) };
    let controller = Controller::new(config_maps, watcher::Config::default());
    let retry = |_config_map: Arc<ConfigMap>, _error: &watcher::Error, _context: Arc<()>| Action::requeue(Duration::from_secs(1));
    controller.run(reconciler, retry, Arc::new(())).for_each(|_reconciled| std::future::ready(())).await;
}

async fn poll(client: Client, period: Duration, parameters: ListParams) {
    let pods = Api::<Pod>::all(client);
    loop {
        report(pods.list(&parameters).await.map(drop));
        sleep(period).await;
    }
}

async fn poll_events(client: Client, period: Duration) {
    let events = Api::<Event>::all(client);
    loop {
        report(events.list(&ListParams::default()).await.map(drop));
        sleep(period).await;
    }
}

/// Lists page by page.
async fn page(client: Client, period: Duration) {
    let pods = Api::<Pod>::all(client);
    loop {
        let mut parameters = ListParams::default().limit(PAGE);
        loop {
            let page = pods.list(&parameters).await;
            let next = page.as_ref().ok().and_then(|page| page.metadata.continue_.clone()).filter(|token| !token.is_empty());
            report(page.map(drop));
            let Some(next) = next else { break };
            parameters = parameters.continue_token(&next);
        }
        sleep(period).await;
    }
}

/// Makes the changes that the others see.
async fn change(client: Client, period: Duration) {
    let (pods, config_maps) = (Api::<Pod>::namespaced(client.clone(), "default"), Api::<ConfigMap>::namespaced(client, "default"));
    for round in 0_usize.. {
        let label = Patch::Merge(json!({"metadata": {"labels": {"round": round.to_string()}}}));
        let patched = pods.patch(&format!("web-{}", round % PODS), &PatchParams::default(), &label).await;
        report(patched.map(|pod| drop(pod.name_any())));
        let data = Patch::Merge(json!({"data": {"replicas": (round % 5).to_string()}}));
        report(config_maps.patch(&format!("settings-{}", round % CONFIG_MAPS), &PatchParams::default(), &data).await.map(drop));
        sleep(period).await;
    }
}

/// A failed request is told by watchtap; the client that made it tries again at its next turn.
fn report(outcome: kube::Result<()>) {
    if let Err(error) = outcome {
        tracing::debug!(%error, "a client of the demo");
    }
}

fn pod(number: usize) -> Result<Pod> {
    Ok(serde_json::from_value(json!({
        "metadata": {"name": format!("web-{number}"), "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "example.com/web:1.0"}]},
    }))?)
}
