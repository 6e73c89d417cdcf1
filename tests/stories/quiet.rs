//! No false alarm: healthy informers of an unchanged resource, while leases are written as in every cluster.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use observer_tests::{CacheClient, ClientGo, HttpVersion, ListForm, Minor};
use serde_json::json;

use super::stage::{NAMESPACE, Stage, quiet_cluster};

/// Seconds of quiet.
const SECONDS: &str = "WATCHTAP_TESTS_QUIET_SECONDS";
/// Longer than the three minutes after which a silent watch may be deaf.
const USUALLY: u64 = 240;
/// Interval at which a leader renews its lease.
const RENEWAL: Duration = Duration::from_secs(2);

#[test]
fn quiet_informers_raise_no_finding() -> Result<()> {
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], 10)?)?;
    let clients = [
        (CacheClient::Informer(ClientGo::V0_37, HttpVersion::Two), ListForm::Usual),
        (CacheClient::Informer(ClientGo::V0_37, HttpVersion::One), ListForm::Plain),
        (CacheClient::Informer(ClientGo::V0_15, HttpVersion::Two), ListForm::Usual),
        (CacheClient::KubeRs, ListForm::Streaming),
    ];
    let mut players = clients.into_iter().map(|(client, form)| stage.enter(client, form)).collect::<Result<Vec<_>>>()?;

    let (quiet, began) = (seconds()?, Instant::now());
    let lease = format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases");
    stage.cluster.client().post(&lease, &json!({"metadata": {"name": "leader"}}))?.success()?;
    while began.elapsed() < quiet {
        let renewal = json!({"metadata": {"annotations": {"renewed": began.elapsed().as_millis().to_string()}}}).to_string();
        let headers = [("Content-Type", "application/merge-patch+json")];
        stage.cluster.client().raw("PATCH", &format!("{lease}/leader"), &headers, renewal.as_bytes())?.success()?;
        // Nothing can be awaited: the test is that nothing happens.
        sleep(RENEWAL);
    }

    let reading = stage.reading()?;
    // Without findings, the report has no such field.
    ensure!(reading.report["findings"].as_array().is_none_or(Vec::is_empty), "{}", reading.text);
    ensure!(reading.report["reflectors"].as_array().is_some_and(|rows| rows.len() == players.len()), "{}", reading.text);
    ensure!(stage.events()?.all("trouble-began").count() == 0, "nothing began");
    stage.all_have_the_next_write(&mut players)?;
    println!("{} clients, {} s of quiet, no finding", players.len(), quiet.as_secs());
    stage.close()
}

fn seconds() -> Result<Duration> {
    let Ok(text) = std::env::var(SECONDS) else { return Ok(Duration::from_secs(USUALLY)) };
    Ok(Duration::from_secs(text.parse().with_context(|| format!("{SECONDS}={text}"))?))
}
