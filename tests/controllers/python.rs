//! A controller with the Python client: it watches, and patches the metadata and the status.

use std::process::Command;

use observer_tests::python_packages;
use serde_json::json;

use super::stage::{Stage, WIDGETS, widget};

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
    let Some(packages) = python_packages().unwrap() else { return };
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
