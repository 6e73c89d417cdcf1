//! Watches of events by fabric8's Java client, from a revision that etcd has compacted.
//!
//! kube-apiserver answers 410, for events as for any resource (kubernetes/apiserver `pkg/storage/etcd3/watcher.go` `startWatching`).
//! The front end of GKE ends such a watch without an event (fabric8io/kubernetes-client pull request 7898), as the hop does here.

use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use observer_tests::{Cluster, HttpHop, Minor, Of, Scripted, ScriptedReply, java_event_watcher};
use serde_json::{Value, json};

use super::first_screen::{Started, first_lines_have, troubles};
use crate::stage::{NAMESPACE, Stage, quiet_cluster};

const PROGRAM: &str = "order-monitor/1.0";

#[test]
fn java_client_on_a_compacted_revision_of_events_is_in_a_loop_until_it_lists() -> Result<()> {
    let (cluster, revision) = cluster_with_compacted_events()?;
    let mut stage = Stage::set(cluster)?;
    let Some(mut monitor) = started(&mut stage, &revision)? else { return Ok(()) };
    let events = stage.events_when(|events| troubles(events, "trouble-began", "expired-loop") > 0)?;
    let refused = events.of(PROGRAM, "watch-ended").filter(|watch| watch["watch"]["error"]["code"] == 410).count();
    ensure!(refused >= 3, "{}", events.summary());
    let reading = stage.reading_when(|reading| reading.finding("expired-loop", PROGRAM).is_ok())?;
    first_lines_have(&reading, "relist after a 410")?;

    monitor.line("list")?;
    stage.events_when(|events| troubles(events, "trouble-ended", "expired-loop") > 0)?;
    drop(monitor);
    stage.close()
}

#[test]
fn java_client_repeats_a_watch_that_ends_in_silence_until_it_lists() -> Result<()> {
    let (cluster, revision) = cluster_with_compacted_events()?;
    let hop = HttpHop::start(cluster.socket_address(), cluster.ca_pem())?;
    let mut stage = Stage::behind(cluster, hop.address(), hop.ca_pem())?;
    hop.script(Some(Scripted { of: Of::Watches, answer: ScriptedReply::EmptyWatch, times: usize::MAX }));
    let Some(mut monitor) = started(&mut stage, &revision)? else { return Ok(()) };
    let events = stage.events_when(|events| troubles(events, "trouble-began", "silent-expired") > 0)?;
    ensure!(events.all("upgraded").count() >= 3, "its watches are over WebSocket: {}", events.summary());
    let reading = stage.reading_when(|reading| reading.finding("silent-expired", PROGRAM).is_ok())?;
    let finding = reading.finding("silent-expired", PROGRAM)?;
    ensure!(finding["until"] == Value::Null, "it lasts: {finding:#}");
    first_lines_have(&reading, "relist after a watch that ends at once without an event")?;

    monitor.line("list")?;
    stage.events_when(|events| troubles(events, "trouble-ended", "silent-expired") > 0)?;
    drop(monitor);
    stage.close()
}

/// A cluster, and a revision of an event that its etcd no longer has.
fn cluster_with_compacted_events() -> Result<(Cluster, String)> {
    let cluster = quiet_cluster(Minor::DEFAULT, &[], 1)?;
    let path = format!("/api/v1/namespaces/{NAMESPACE}/events");
    let about = json!({"kind": "ConfigMap", "namespace": NAMESPACE, "name": "cm-0"});
    let happen = |number: usize| {
        let event = json!({"metadata": {"name": format!("order-{number}")}, "involvedObject": about, "reason": "Ordered"});
        cluster.client().post(&path, &event)?.success()?.json()
    };
    let first = happen(0)?;
    (1..3).try_for_each(|number| happen(number).map(drop))?;
    cluster.compact_etcd()?;
    let revision = first["metadata"]["resourceVersion"].as_str().context("an event has a version")?.to_owned();
    Ok((cluster, revision))
}

fn started(stage: &mut Stage, revision: &str) -> Result<Option<Started>> {
    let Some(mut monitor) = java_event_watcher()? else { return Ok(None) };
    let (kubeconfig, _) = stage.own_client()?;
    monitor.args([NAMESPACE, revision]).env("KUBECONFIG", kubeconfig);
    Ok(Some(Started(monitor.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?)))
}
