//! S14: a client watches its own writes; the reported time until a write returns equals the client's own measurement.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::TryStreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ListParams, PostParams, WatchEvent, WatchParams};
use kube::{Api, ResourceExt};
use observer_tests::{Minor, kube_client};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::stage::{NAMESPACE, Reading, Stage, quiet_cluster};

const WRITES: usize = 20;

#[test]
fn propagation_of_own_writes_matches_the_client() -> Result<()> {
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], 3)?)?;
    let (kubeconfig, _) = stage.own_client()?;
    let runtime = Runtime::new()?;
    let client = runtime.block_on(kube_client(&kubeconfig, None))?;
    let config_maps: Api<ConfigMap> = Api::namespaced(client, NAMESPACE);
    let longest = runtime.block_on(write_and_wait(&config_maps))?;

    let row = |reading: &Reading| reading.report["propagation"][0].clone();
    let reading = stage.reading_when(|reading| row(reading)["writes"].as_u64() >= Some(WRITES as u64))?;
    let row = row(&reading);
    ensure!(row["writes"] == WRITES && row["resource"] == "configmaps", "{row:#}");
    let micros = |of: &Value| of.as_u64().map(Duration::from_micros).context("a time");
    let (median, max) = (micros(&row["median_us"])?, micros(&row["max_us"])?);
    // Rounded to two significant digits, so up to a tenth more.
    ensure!(median <= max && max <= longest.mul_f64(1.1), "the client waited for {longest:?} at most: {row:#}");
    stage.close()
}

/// Writes objects one by one, each after the watch has returned the previous one; returns the longest time from request to event.
async fn write_and_wait(config_maps: &Api<ConfigMap>) -> Result<Duration> {
    let revision = config_maps.list(&ListParams::default()).await?.metadata.resource_version.context("a revision")?;
    let events = config_maps.watch(&WatchParams::default(), &revision).await?;
    let mut events = std::pin::pin!(events);
    let mut longest = Duration::ZERO;
    for number in 0..WRITES {
        let object: ConfigMap = serde_json::from_value(serde_json::json!({"metadata": {"name": format!("own-{number}")}}))?;
        let asked = Instant::now();
        let made = config_maps.create(&PostParams::default(), &object).await?;
        while let Some(event) = events.try_next().await? {
            let is_it = matches!(&event, WatchEvent::Added(object) if object.resource_version() == made.resource_version());
            if is_it {
                break;
            }
        }
        longest = longest.max(asked.elapsed());
    }
    Ok(longest)
}
