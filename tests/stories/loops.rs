//! S10: clients that list instead of watching, and watches that a gateway ends early.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, PodTemplate};
use kube::Api;
use kube::api::ListParams;
use observer_tests::{Act, CacheClient, ClientGo, HttpHop, HttpVersion, ListForm, Minor, kube_client};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::stage::{NAMESPACE, Player, Reading, Stage, quiet_cluster};

#[test]
fn pollers_and_hot_loops_are_reported_with_their_interval() -> Result<()> {
    const EVERY: Duration = Duration::from_millis(1_500);
    /// An odd number of intervals, so the median is one of them.
    const POLLS: usize = 6;
    const HOT: usize = 30;
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], 10)?)?;
    let (kubeconfig, user) = stage.own_client()?;
    let runtime = Runtime::new()?;
    let client = runtime.block_on(kube_client(&kubeconfig, None))?;
    let (polled, looped) = runtime.block_on(async {
        let config_maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
        let mut polled = Vec::new();
        for _ in 0..POLLS {
            polled.push(Instant::now());
            config_maps.list(&ListParams::default()).await?;
            tokio::time::sleep(EVERY).await;
        }
        let templates: Api<PodTemplate> = Api::namespaced(client.clone(), NAMESPACE);
        let mut looped = Vec::new();
        for _ in 0..HOT {
            looped.push(Instant::now());
            templates.list(&ListParams::default()).await?;
        }
        Ok::<_, anyhow::Error>((polled, looped))
    })?;
    ensure!(stage.server_saw_of(&user)?.lists() == POLLS + HOT);

    // These clients have no log. The last lists may be reported shortly after the client has them. In the first minute, a poller
    // could also be a wait.
    let expected = [("polls", "configmaps", polled), ("hot-loop", "podtemplates", looped)];
    let reading = stage.reading_when(|reading| {
        expected.iter().all(|(_, resource, own)| polling_of(reading, resource).is_some_and(|polling| polling["lists"] == own.len()))
    })?;
    ensure!(reading.finding("poller", "").is_err(), "{}", reading.text);
    let finding = reading.finding("hot-loop", "")?;
    ensure!(finding["resource"] == "podtemplates" && reading.text.contains("[hot-loop:"), "{}", reading.text);
    for (of_kind, resource, own) in expected {
        let (polling, median) = (polling_of(&reading, resource).context("a row")?, median_interval(&own));
        ensure!(polling["kind"] == of_kind, "{polling}");
        let every = Duration::from_micros(polling["every_us"].as_u64().context("a pace")?);
        ensure!(every.abs_diff(median) < Duration::from_millis(250), "one every {median:?}, and not every {every:?}");
    }
    stage.close()
}

/// The `polling` member of the resource's row in the report.
fn polling_of<'reading>(reading: &'reading Reading, resource: &str) -> Option<&'reading Value> {
    let rows = reading.report["reflectors"].as_array()?;
    Some(&rows.iter().find(|row| row["resource"] == resource)?["polling"])
}

/// The median of the last intervals, of as many as watchtap uses.
fn median_interval(times: &[Instant]) -> Duration {
    const LOOKED_AT: usize = 16;
    let last = &times[times.len().saturating_sub(LOOKED_AT + 1)..];
    let mut intervals: Vec<Duration> = last.windows(2).map(|pair| pair[1] - pair[0]).collect();
    intervals.sort_unstable();
    intervals[intervals.len() / 2]
}

#[test]
fn repeatedly_cut_watches_are_reported_as_short() -> Result<()> {
    let cluster = quiet_cluster(Minor::DEFAULT, &[], 10)?;
    let hop = HttpHop::start(cluster.socket_address(), cluster.ca_pem())?;
    let mut stage = Stage::behind(cluster, hop.address(), hop.ca_pem())?;
    let players = [ClientGo::V0_18, ClientGo::V0_37]
        .map(|release| stage.send(CacheClient::Informer(release, HttpVersion::Two), ListForm::Usual))
        .into_iter()
        .collect::<Result<Vec<Player>>>()?;
    // This acts as a gateway that ends long requests, with a very short limit.
    let mut opened = 0;
    let is_found = |stage: &Stage| -> Result<bool> {
        let reading = stage.reading()?;
        Ok(players.iter().all(|player| reading.finding("short-watches", &player.program).is_ok()))
    };
    for _ in 0..40 {
        let events = stage.events_when(|events| events.all("watch-opened").count() > opened)?;
        opened = events.all("watch-opened").count();
        hop.happen(Act::EndWatches);
        if is_found(&stage)? {
            break;
        }
    }
    let reading = stage.reading()?;
    let events = stage.events()?;
    for player in &players {
        let finding = reading.finding("short-watches", &player.program)?;
        ensure!(finding["advice"].as_str().is_some_and(|advice| advice.contains("proxy")), "{finding:#}");
        ensure!(
            events.of(&player.program, "relist-began").all(|began| began["cause"]["name"] == "very-short-watch"),
            "{}",
            events.summary()
        );
    }
    stage.close()
}
