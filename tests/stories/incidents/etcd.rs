//! etcd stops for some seconds, and etcd is restored from a backup while clients watch.

use std::process::{Command, Stdio};
use std::thread::{scope, sleep};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use observer_tests::{CacheClient, ClientGo, HttpVersion, ListForm, Minor, Signal};

use super::first_screen::{first_lines_have, troubles};
use crate::stage::{NAMESPACE, Stage, quiet_cluster};

/// Lists without a revision.
fn kubectl_get(stage: &mut Stage) -> Result<Command> {
    let (kubeconfig, _) = stage.own_client()?;
    let mut get = Command::new("kubectl");
    get.args(["get", "configmaps", "--namespace", NAMESPACE]).env("KUBECONFIG", kubeconfig).stdout(Stdio::null());
    Ok(get)
}

#[test]
fn consistent_read_while_etcd_is_stopped_perhaps_fell_back() -> Result<()> {
    /// Longer than the three seconds for which a consistent read waits for the watch cache.
    const STOPPED: Duration = Duration::from_secs(4);
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], 10)?)?;
    let mut get = kubectl_get(&mut stage)?;
    ensure!(get.status()?.success(), "kubectl lists, and keeps its discovery");
    stage.cluster.signal_etcd(Signal::Stop)?;
    let listed = scope(|scope| {
        let listing = scope.spawn(|| get.status());
        // What is tested is a time: the API server waits meanwhile.
        sleep(STOPPED);
        let continued = stage.cluster.signal_etcd(Signal::Continue);
        continued.and_then(|()| Ok(listing.join().ok().context("a thread panicked")??))
    })?;
    ensure!(listed.success(), "the list is answered late");
    let reading = stage.reading_when(|reading| reading.text.contains("consistent-read-fell-back"))?;
    first_lines_have(&reading, "waited 3 s or more for it")?;
    stage.close()
}

#[test]
fn watch_is_ahead_of_a_restored_etcd_until_its_client_restarts() -> Result<()> {
    let mut cluster = quiet_cluster(Minor::DEFAULT, &[], 10)?;
    cluster.back_up_etcd()?;
    let mut stage = Stage::set(cluster)?;
    let client = CacheClient::Informer(ClientGo::V0_37, HttpVersion::Two);
    let mut player = stage.enter(client, ListForm::Plain)?;
    // Ahead of any revision that the restored etcd reaches during the test.
    stage.cluster.create_configmaps(NAMESPACE, 400)?;
    let version = stage.write()?;
    player.process.has(&version)?;
    let opened = stage.events()?.all("watch-opened").count();

    stage.cluster.stop_api_server(Signal::Kill)?;
    stage.cluster.wait_stopped()?;
    stage.cluster.restore_etcd()?;
    stage.cluster.start_api_server()?;
    stage.events_when(|events| events.all("watch-opened").count() > opened)?;
    // A list of the newest state shows the server's revision.
    ensure!(kubectl_get(&mut stage)?.status()?.success(), "kubectl lists");
    stage.events_when(|events| troubles(events, "trouble-began", "watch-ahead-of-server") > 0)?;
    let reading = stage.reading_when(|reading| reading.finding("watch-ahead-of-server", &player.program).is_ok())?;
    first_lines_have(&reading, "for a revision that the API server has not reached")?;
    stage.close()
}
