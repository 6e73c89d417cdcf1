//! A demo with relists of each kind, and all that a collector received of it.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use observer_tests::scrape::Scraper;
use observer_tests::{Collected, OtelCollector, Port};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::demo::{Demo, Event, events};

/// Slow lists and refused watches have spans, and the relists after them link to these. A stalled client needs attention.
/// All clients leave three seconds before the end: a client that leaves within two seconds of it counts as connected.
const SCRIPT: &str = "\
0s start reflectors old-app/0.1 client-go=1.15 watches=pods,configmaps
0s start reflectors new-app/1.0 client-go=1.36 watches=pods,deployments
0s start poller dashboard/2.0 lists=pods every=1s
0s start changer deployer/1.1 every=500ms
0s start slow-reader lazy/1.0 watches=configmaps
0s start writer loader/1.0 every=200ms kib=200
500ms slow 20kB for=4s
500ms expire pods
5s answer 503 for=1s
5s end-watches
8s stop old-app/0.1
8s stop new-app/1.0
8s stop dashboard/2.0
8s stop deployer/1.1
8s stop lazy/1.0
8s stop loader/1.0
11s print all clients have left
";

/// The story, played once for all tests.
pub(super) static STORY: LazyLock<Story> = LazyLock::new(Story::play);

pub(super) struct Story {
    /// The events of `--events`.
    pub(super) events: Vec<Event>,
    /// The lines of `--lines`.
    pub(super) lines: Vec<String>,
    /// The samples of `/metrics` when all clients had left.
    pub(super) page: BTreeMap<String, f64>,
    pub(super) report: Value,
    pub(super) collected: Collected,
}

impl Story {
    fn play() -> Self {
        let (port, folder) = (Port::reserve().unwrap(), TempDir::new().unwrap());
        let collector = OtelCollector::start(&port, folder.path(), "collector").unwrap();
        let flags = ["--otlp-spans", "--metrics", "127.0.0.1:0", "--lines", "--events", "@folder/events"];
        let mut demo = Demo::start(SCRIPT, collector.url(), &flags);
        let scraper = Scraper::announced_in(&demo.message_with("metrics: ")).unwrap();
        demo.message_with("all clients have left");
        let page = settled_page(scraper);
        let (report, lines) = demo.finish();
        let events = events(demo.file("events").lines());
        Self { events, lines, page, report, collected: collector.stop().unwrap() }
    }

    /// The log records, in order.
    pub(super) fn records(&self) -> Vec<Value> {
        self.collected.records().concat()
    }

    /// The events with this name, in order.
    pub(super) fn events_named(&self, name: &str) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(move |event| event["event"] == name)
    }
}

/// The page once no request is under way and no connection is open, so that its numbers no longer change.
fn settled_page(scraper: Scraper) -> BTreeMap<String, f64> {
    let until = Instant::now() + Duration::from_mins(1);
    loop {
        let page = scraper.scrape().unwrap();
        let is_settled = ["watchtap_requests_in_flight", "watchtap_watches_open", "watchtap_connections_open"]
            .iter()
            .all(|name| page.count(name, "").unwrap() == 0);
        if is_settled || Instant::now() > until {
            return page.samples().unwrap().into_iter().map(|(series, number)| (series, number.parse().unwrap())).collect();
        }
    }
}

/// Attributes in the JSON form of OTLP, by name.
pub(super) fn attributes(of: &Value) -> BTreeMap<String, Value> {
    let attributes = of["attributes"].as_array().into_iter().flatten();
    attributes.map(|one| (one["key"].as_str().unwrap().to_owned(), plain(&one["value"]))).collect()
}

/// A value without its type: OTLP's `AnyValue` in JSON is an object with one field, and integers are strings.
fn plain(value: &Value) -> Value {
    let (kind, value) = value.as_object().unwrap().iter().next().unwrap();
    let elements = || value["values"].as_array().into_iter().flatten();
    match kind.as_str() {
        "stringValue" | "boolValue" => value.clone(),
        "intValue" => json!(value.as_str().unwrap().parse::<i64>().unwrap()),
        "doubleValue" => json!(value.as_f64().unwrap()),
        "arrayValue" => elements().map(plain).collect(),
        "kvlistValue" => elements().map(|one| (one["key"].as_str().unwrap().to_owned(), plain(&one["value"]))).collect(),
        other => panic!("{other}: {value}"),
    }
}
