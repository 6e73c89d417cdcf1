//! A demo server and a client of it.

use std::thread;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use observer_demo::{DemoConfig, DemoHandle, DemoServer};
use observer_tests::{Client, ListCounters, Metrics, Response};
use serde_json::{Value, json};

/// Limit of every wait.
pub(super) const LIMIT: Duration = Duration::from_secs(20);

/// A running demo server and a client of it.
pub(super) struct DemoFixture {
    pub(super) server: DemoServer,
    pub(super) client: Client,
}

impl DemoFixture {
    pub(super) fn start() -> Self {
        Self::with(DemoConfig::default())
    }

    pub(super) fn with(config: DemoConfig) -> Self {
        let server = DemoServer::start(config).unwrap();
        let client = Client::of_server(&format!("https://{}", server.address()), server.ca_pem(), server.token()).unwrap();
        Self { server, client }
    }

    pub(super) fn handle(&self) -> DemoHandle {
        self.server.handle()
    }

    /// Sends a GET; accepts any status.
    #[track_caller]
    pub(super) fn get(&self, path: &str) -> Response {
        self.client.raw("GET", path, &[], b"").unwrap()
    }

    /// Creates a config map in the default namespace.
    #[track_caller]
    pub(super) fn create(&self, name: &str) -> Value {
        let object = json!({"metadata": {"name": name, "labels": {"name": name}}, "data": {"key": "value"}});
        self.client.post(CONFIGMAPS, &object).unwrap().success().unwrap().json().unwrap()
    }

    /// Updates it and returns the new object.
    #[track_caller]
    pub(super) fn touch(&self, name: &str, value: &str) -> Value {
        let headers = [("Content-Type", "application/merge-patch+json")];
        let change = json!({"data": {"key": value}}).to_string();
        let object = format!("{CONFIGMAPS}/{name}");
        self.client.raw("PATCH", &object, &headers, change.as_bytes()).unwrap().success().unwrap().json().unwrap()
    }

    /// Reads a watch on a thread of its own; returns all of its events.
    pub(super) fn watch(&self, query: &str) -> JoinHandle<Vec<Value>> {
        let open = self.handle().open_watches();
        let (client, path) = (self.client.clone(), format!("{CONFIGMAPS}?watch=true&{query}"));
        let reading = thread::spawn(move || events(&client.raw("GET", &path, &[], b"").unwrap()));
        let handle = self.handle();
        until(|| handle.open_watches() > open || reading.is_finished());
        reading
    }

    pub(super) fn counters(&self, resource: &str) -> ListCounters {
        ListCounters::of(&Metrics::parse(&self.get("/metrics").text()).unwrap(), resource)
    }
}

pub(super) const CONFIGMAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The events of an ended watch.
#[track_caller]
pub(super) fn events(response: &Response) -> Vec<Value> {
    assert_eq!(response.status, 200, "{}", response.text());
    response.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Types and names, as in `ADDED a`.
pub(super) fn summary(events: &[Value]) -> Vec<String> {
    let name = |event: &Value| event["object"]["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    events.iter().map(|event| format!("{} {}", event["type"].as_str().unwrap(), name(event)).trim_end().to_owned()).collect()
}

#[track_caller]
pub(super) fn names(list: &Response) -> Vec<String> {
    let list = list.json().unwrap();
    list["items"]
        .as_array()
        .unwrap_or_else(|| panic!("{list}"))
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
}

#[track_caller]
pub(super) fn revision(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

#[track_caller]
pub(super) fn until(condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < LIMIT, "it did not happen within {LIMIT:?}");
        thread::sleep(Duration::from_millis(5));
    }
}
