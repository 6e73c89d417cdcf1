//! The test setup: a demo server, its kubeconfig, and a client that acts as the user of a controller.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use observer_demo::{DemoConfig, DemoServer};
use observer_tests::{Client, wait_within};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Limit of every wait.
const LIMIT: Duration = Duration::from_mins(1);
/// Interval at which an object is read, since a controller does not report that it has finished.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The widgets of the default namespace.
pub(super) const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

pub(super) struct Stage {
    _server: DemoServer,
    client: Client,
    folder: TempDir,
}

impl Stage {
    pub(super) fn start() -> Self {
        let server = DemoServer::start(DemoConfig::default()).unwrap();
        let client = Client::of_server(&format!("https://{}", server.address()), server.ca_pem(), server.token()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kubeconfig");
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).unwrap();
        file.write_all(server.kubeconfig().as_bytes()).unwrap();
        Self { _server: server, client, folder }
    }

    /// Like [`Stage::start`], with a custom resource that has a status.
    pub(super) fn with_widgets() -> Self {
        let stage = Self::start();
        stage.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &definition());
        stage
    }

    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    /// Creates an object in a collection.
    #[track_caller]
    pub(super) fn create(&self, collection: &str, object: &Value) {
        self.client.post(collection, object).unwrap().success().unwrap();
    }

    #[track_caller]
    pub(super) fn delete(&self, path: &str) {
        self.client.raw("DELETE", path, &[], b"").unwrap().success().unwrap();
    }

    /// Merges fields into an object.
    #[track_caller]
    pub(super) fn change(&self, path: &str, fields: &Value) {
        let headers = [("Content-Type", "application/merge-patch+json")];
        self.client.raw("PATCH", path, &headers, fields.to_string().as_bytes()).unwrap().success().unwrap();
    }

    /// Waits until the answer to a GET satisfies a condition; `None` stands for 404.
    #[track_caller]
    pub(super) fn until(&self, path: &str, condition: impl Fn(Option<&Value>) -> bool) -> Option<Value> {
        let started = Instant::now();
        loop {
            let response = self.client.raw("GET", path, &[], b"").unwrap();
            let found = (response.status != 404).then(|| response.json().unwrap());
            if condition(found.as_ref()) {
                return found;
            }
            assert!(started.elapsed() < LIMIT, "{path} stays {found:#?}");
            thread::sleep(BETWEEN_LOOKS);
        }
    }

    /// Starts a controller, which stops at the end of its standard input.
    pub(super) fn run(&self, command: &mut Command) -> Controller {
        let command = command.env("KUBECONFIG", self.kubeconfig()).env("HOME", self.folder.path());
        Controller(command.stdin(Stdio::piped()).spawn().unwrap())
    }
}

/// A running controller; it is killed when it is dropped.
pub(super) struct Controller(Child);

impl Controller {
    #[track_caller]
    pub(super) fn stop(mut self) {
        drop(self.0.stdin.take());
        assert!(wait_within(&mut self.0, LIMIT).unwrap().success());
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        // It may have ended already.
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// A widget of this size.
pub(super) fn widget(name: &str, size: u32) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": size}})
}

/// The definition of widgets.
pub(super) fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
                "subresources": {"status": {}},
            }],
        },
    })
}
