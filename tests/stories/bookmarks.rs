//! S13: bookmarks of an otherwise idle watch: their interval, how far the last one advanced the client, and how far behind the
//! client is in between.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::TryStreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{ListParams, WatchEvent, WatchParams};
use observer_tests::{CacheClient, ClientGo, HttpVersion, ListForm, Minor, kube_client};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::stage::{Reading, Stage, quiet_cluster};

/// A namespace without writes.
const QUIET: &str = "quiet";

#[test]
fn bookmarks_of_an_idle_watch_match_those_of_the_client() -> Result<()> {
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], 5)?)?;
    stage.cluster.create_configmaps(QUIET, 2)?;
    let (kubeconfig, _) = stage.own_client()?;
    let runtime = Runtime::new()?;
    let (sender, mut bookmarks) = mpsc::channel(8);
    let watching = runtime.spawn(async move { watch(&kubeconfig, sender).await });
    // Another watch shows watchtap the resource's current revision.
    let mut busy = stage.enter(CacheClient::Informer(ClientGo::V0_18, HttpVersion::Two), ListForm::Usual)?;

    // A server sends bookmarks only after writes.
    stage.events_when(|sender| sender.all("watch-opened").count() == 2)?;
    stage.write()?;
    let Some(first) = bookmarks.blocking_recv() else { return runtime.block_on(watching)?.context("no bookmark") };
    let written = stage.write()?;
    busy.process.has(&written)?;
    let own = |reading: &Reading| reading.reflector_of("").cloned().unwrap_or_default();
    let reading = stage.reading_when(|reading| {
        let row = own(reading);
        row["bookmarks"] == 1 && row["behind"] != 0
    })?;
    let row = own(&reading);
    let behind = written.parse::<u64>()? - first.revision;
    ensure!(row["resource_version"] == first.revision && row["behind"] == behind, "{behind} behind {written}: {row:#}");

    let second = bookmarks.blocking_recv().context("a second bookmark")?;
    let reading = stage.reading_when(|reading| own(reading)["bookmarks"] == 2)?;
    let row = own(&reading);
    ensure!(row["resource_version"] == second.revision && row["behind"] == 0, "{second:?}: {row:#}");
    let every = Duration::from_micros(row["bookmark_every_us"].as_u64().context("a pace")?);
    ensure!(every.abs_diff(second.at - first.at) < Duration::from_millis(500), "{:?} and not {every:?}", second.at - first.at);
    ensure!(row["last_bookmark"].is_string() && row["events"] == 0, "{row:#}");
    stage.close()
}

/// A bookmark as the client received it.
#[derive(Debug)]
struct Bookmark {
    at: Instant,
    revision: u64,
}

/// Lists, watches from there, and sends each bookmark to `sender`.
async fn watch(kubeconfig: &Path, sender: mpsc::Sender<Bookmark>) -> Result<()> {
    const LONG: u32 = 290;
    let config_maps: Api<ConfigMap> = Api::namespaced(kube_client(kubeconfig, None).await?, QUIET);
    let list = config_maps.list(&ListParams::default()).await?;
    let revision = list.metadata.resource_version.context("a list has a revision")?;
    let events = config_maps.watch(&WatchParams::default().timeout(LONG), &revision).await?;
    let mut events = std::pin::pin!(events);
    while let Some(event) = events.try_next().await? {
        if let WatchEvent::Bookmark(bookmark) = event {
            sender.send(Bookmark { at: Instant::now(), revision: bookmark.metadata.resource_version.parse()? }).await?;
        }
    }
    Ok(())
}
