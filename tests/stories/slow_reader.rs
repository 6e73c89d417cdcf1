//! S12: a client process is stopped and does not read; the server terminates its watch.

use anyhow::{Context, Result, ensure};
use observer_tests::{CacheClient, ClientGo, HttpVersion, ListForm, Minor};
use rustix::process::Signal as ToClient;
use serde_json::json;

use super::stage::{NAMESPACE, Stage, quiet_cluster};

/// Bytes per write.
const SIZE: usize = 300 * 1024;
/// More than all buffers between server and client hold.
const WRITES: usize = 300;

#[test]
fn slow_reader_and_its_termination_by_the_server_are_reported() -> Result<()> {
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], 5)?)?;
    let mut player = stage.enter(CacheClient::Informer(ClientGo::V0_18, HttpVersion::Two), ListForm::Usual)?;
    let client = stage.cluster.client_for_bulk()?;
    let given_up = || -> Result<f64> {
        Ok(stage.cluster.metrics()?.value("apiserver_terminated_watchers_total", &[("resource", "configmaps")]))
    };
    let (path, before) = (format!("/api/v1/namespaces/{NAMESPACE}/configmaps"), given_up()?);
    client.post(&path, &json!({"metadata": {"name": "large"}}))?.success()?;
    player.process.signal(ToClient::STOP)?;
    for time in 0..WRITES {
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"},
            "data": {"time": time.to_string(), "large": "x".repeat(SIZE)}});
        let json_body = [("Content-Type", "application/json")];
        client.raw("PUT", &format!("{path}/large"), &json_body, object.to_string().as_bytes())?.success()?;
        if given_up()? > before {
            break;
        }
    }
    ensure!(given_up()? > before, "{WRITES} writes of {SIZE} bytes are not enough");
    let events = stage.events_when(|events| events.count(&player.program, "stalled") > 0)?;
    let stalled = events.of(&player.program, "stalled").next().context("a stall")?;
    ensure!(["stream-window", "connection-window", "socket"].iter().any(|by| stalled["by"] == *by), "{stalled:#}");

    player.process.signal(ToClient::CONT)?;
    let version = stage.write()?;
    player.process.has(&version)?;
    let events = stage.events_when(|events| events.count(&player.program, "stall-ended") > 0)?;
    let ended = events.of(&player.program, "stall-ended").next().context("its end")?;
    ensure!(ended["lasted_us"].as_u64() >= Some(1_000_000), "{ended:#}");
    let reading =
        stage.reading_when(|reading| reading.reflector(&player).is_ok_and(|row| row["ended_stalled"].as_u64() >= Some(1)))?;
    let row = reading.reflector(&player)?;
    ensure!(row["stalls"].as_u64() >= Some(1), "{row:#}");
    stage.close()
}
