//! A controller with the Python client: it watches, and patches the metadata and the status.

use std::fs;
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::stage::{Stage, WIDGETS, widget};

/// The release of the client, from the Python registry.
const CLIENT: &str = "kubernetes==37.0.2";

/// A controller as in many operators: it adds a finalizer, writes a status, and removes the finalizer on deletion.
const CONTROLLER: &str = "
import os, sys, threading
from kubernetes import client, config, watch
def end():
    sys.stdin.read()
    os._exit(0)
threading.Thread(target=end, daemon=True).start()
config.load_kube_config()
api = client.CustomObjectsApi()
WIDGETS = ('example.com', 'v1', 'default', 'widgets')
for event in watch.Watch().stream(api.list_namespaced_custom_object, *WIDGETS):
    metadata, spec = event['object']['metadata'], event['object']['spec']
    if event['type'] == 'DELETED':
        continue
    if 'deletionTimestamp' in metadata:
        api.patch_namespaced_custom_object(*WIDGETS, metadata['name'], {'metadata': {'finalizers': None}})
    elif not metadata.get('finalizers'):
        api.patch_namespaced_custom_object(*WIDGETS, metadata['name'], {'metadata': {'finalizers': ['example.com/python']}})
    else:
        body = [{'op': 'add', 'path': '/status', 'value': {'size': spec['size']}}]
        kind = 'application/json-patch+json'
        api.patch_namespaced_custom_object_status(*WIDGETS, metadata['name'], body, _content_type=kind)
";

#[test]
fn python_client_watches_and_patches() {
    let Some(packages) = packages() else { return };
    let stage = Stage::with_widgets();
    let controller = stage.run(Command::new("python3").args(["-c", CONTROLLER]).env("PYTHONPATH", packages));
    stage.create(WIDGETS, &widget("one", 2));
    let path = format!("{WIDGETS}/one");
    let served = stage.until(&path, |one| one.is_some_and(|one| one["status"]["size"] == 2)).unwrap();
    assert_eq!(served["metadata"]["finalizers"], json!(["example.com/python"]));
    stage.change(&path, &json!({"spec": {"size": 7}}));
    stage.until(&path, |one| one.is_some_and(|one| one["status"]["size"] == 7));
    stage.delete(&path);
    stage.until(&path, |one| one.is_none());
    controller.stop();
}

/// A folder with the client, filled once per machine. `None`, with a message, if the download fails.
fn packages() -> Option<PathBuf> {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let folder = all.join(CLIENT);
    if !folder.exists() {
        fs::create_dir_all(&all).unwrap();
        let filling = tempfile::tempdir_in(&all).unwrap();
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-warn-conflicts", "--target"])
            .arg(filling.path())
            .arg(CLIENT);
        if !pip.status().unwrap().success() {
            writeln!(stdout().lock(), "left out: {CLIENT} cannot be had from its registry").unwrap();
            return None;
        }
        fs::rename(filling.keep(), &folder).unwrap();
    }
    Some(folder)
}
