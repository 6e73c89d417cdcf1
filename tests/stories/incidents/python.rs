//! Watches of the Python client that never get a state, or get it again and again.

use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use observer_tests::{Minor, Signal, python_packages};
use serde_json::Value;

use super::first_screen::{Started, first_lines_have, troubles};
use crate::stage::{NAMESPACE, Stage, quiet_cluster};

/// Lists once, and after a line of input watches from that revision whatever happens, as Airflow's pod watcher did (apache/airflow
/// issue 23521). After another line it makes a new list.
const POD_WATCHER: &str = "
import queue, sys, threading, time
from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException
lines = queue.Queue()
threading.Thread(target=lambda: [lines.put(line) for line in sys.stdin], daemon=True).start()
config.load_kube_config()
api = client.CoreV1Api()
api.api_client.user_agent = 'pod-watcher/1.0'
listed = lambda: api.list_namespaced_config_map(sys.argv[1]).metadata.resource_version
revision = listed()
print('listed', flush=True)
lines.get()
while True:
    try:
        for event in watch.Watch().stream(api.list_namespaced_config_map, sys.argv[1], resource_version=revision, timeout_seconds=5):
            pass
    except ApiException as error:
        if error.status != 410:
            raise
    if not lines.empty():
        lines.get()
        revision = listed()
    time.sleep(0.2)
";
const PROGRAM: &str = "pod-watcher/1.0";

#[test]
fn python_client_on_an_expired_revision_is_in_a_loop_until_it_lists() -> Result<()> {
    let Some(packages) = python_packages()? else { return Ok(()) };
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], 10)?)?;
    let (kubeconfig, _) = stage.own_client()?;
    let mut python = Command::new("python3");
    python.args(["-c", POD_WATCHER, NAMESPACE]).env("PYTHONPATH", packages).env("KUBECONFIG", kubeconfig);
    let mut watcher = Started(python.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?);
    stage.events_when(|events| events.of(PROGRAM, "request").any(|request| request["verb"] == "list"))?;
    // After a restart, the watch caches begin at the present revision, so they do not have an older one.
    stage.write()?;
    stage.cluster.stop_api_server(Signal::Kill)?;
    stage.cluster.wait_stopped()?;
    stage.cluster.start_api_server()?;
    stage.write()?;

    watcher.line("watch")?;
    let events = stage.events_when(|events| troubles(events, "trouble-began", "expired-loop") > 0)?;
    let refused = events.of(PROGRAM, "watch-ended").filter(|watch| watch["watch"]["error"]["code"] == 410).count();
    ensure!(refused >= 3, "{}", events.summary());
    let reading = stage.reading_when(|reading| reading.finding("expired-loop", PROGRAM).is_ok())?;
    let finding = reading.finding("expired-loop", PROGRAM)?;
    ensure!(finding["until"] == Value::Null, "it lasts: {finding:#}");
    first_lines_have(&reading, "relist after a 410")?;

    watcher.line("list")?;
    stage.events_when(|events| troubles(events, "trouble-ended", "expired-loop") > 0)?;
    stage.reading_when(|reading| reading.finding("expired-loop", PROGRAM).is_ok_and(|finding| finding["until"] != Value::Null))?;
    drop(watcher);
    stage.close()
}

/// Watches without a revision, for a second each, as examples of the client do.
const RESTARTED: &str = "
import sys
from kubernetes import client, config, watch
config.load_kube_config()
api = client.CoreV1Api()
api.api_client.user_agent = 'label-syncer/1.0'
while True:
    for event in watch.Watch().stream(api.list_namespaced_config_map, sys.argv[1], timeout_seconds=1):
        pass
";

#[test]
fn python_watches_without_a_revision_are_relists() -> Result<()> {
    const SYNCER: &str = "label-syncer/1.0";
    let Some(packages) = python_packages()? else { return Ok(()) };
    let mut stage = Stage::set(quiet_cluster(Minor::DEFAULT, &[], 10)?)?;
    let (kubeconfig, _) = stage.own_client()?;
    let mut python = Command::new("python3");
    python.args(["-c", RESTARTED, NAMESPACE]).env("PYTHONPATH", packages).env("KUBECONFIG", kubeconfig);
    let _syncer = Started(python.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?);
    stage.events_when(|events| events.all("watch-opened").count() > 0)?;
    let reading = stage.reading_when(|reading| reading.finding("full-state-by-watch", SYNCER).is_ok())?;
    first_lines_have(&reading, "watch from the last resourceVersion")?;
    stage.close()
}
