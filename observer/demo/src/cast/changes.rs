//! The demo's clients that write, with kube-rs. The other clients see these changes.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::Client;
use kube::api::{Api, Patch, PatchParams, PostParams};
use serde_json::json;
use tokio::time::sleep;

use super::kube_clients::report;
use super::populate::{CONFIG_MAPS, PODS};

/// Number of large config maps, written in turn.
const LARGE: usize = 4;

/// Changes a pod and a config map each time.
pub(super) async fn change(client: Client, every: Duration) {
    let (pods, config_maps) = (Api::<Pod>::namespaced(client.clone(), "default"), Api::<ConfigMap>::namespaced(client, "default"));
    for round in 0_usize.. {
        let label = Patch::Merge(json!({"metadata": {"labels": {"round": round.to_string()}}}));
        report(pods.patch(&format!("web-{}", round % PODS), &PatchParams::default(), &label).await.map(drop));
        let data = Patch::Merge(json!({"data": {"replicas": (round % 5).to_string()}}));
        report(config_maps.patch(&format!("settings-{}", round % CONFIG_MAPS), &PatchParams::default(), &data).await.map(drop));
        sleep(every).await;
    }
}

/// Writes large objects.
pub(super) async fn write(client: Client, every: Duration, kib: u32) {
    let config_maps = Api::<ConfigMap>::namespaced(client, "kube-system");
    for round in 0_usize.. {
        let name = format!("archive-{}", round % LARGE);
        let page = char::from(b'a' + u8::try_from(round % 26).unwrap_or(0)).to_string().repeat(kib as usize * 1024);
        let data = Patch::Merge(json!({"data": {"page": page}}));
        let written = config_maps.patch(&name, &PatchParams::default(), &data).await;
        if matches!(&written, Err(kube::Error::Api(refused)) if refused.code == 404) {
            let large =
                ConfigMap { metadata: kube::api::ObjectMeta { name: Some(name), ..Default::default() }, ..Default::default() };
            report(config_maps.create(&PostParams::default(), &large).await.map(drop));
            continue;
        }
        report(written.map(drop));
        sleep(every).await;
    }
}
