//! The counters of the demo server's `/metrics`, with the names and labels of kube-apiserver 1.34.
//!
//! kubernetes/apiserver pkg/storage/{cacher,etcd3}/metrics/metrics.go and pkg/endpoints/metrics/metrics.go v0.34.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use observer_core::k8s::Verb;

use super::api::Resource;

/// Maximum number of combinations of labels. The number of resources and verbs keeps the actual number far below.
const MOST_SERIES: usize = 5_000;

/// Counters and gauges by name and labels.
#[derive(Debug, Default)]
pub(super) struct Counters {
    series: BTreeMap<(&'static str, String), u64>,
}

/// The outcome of a consistent read from the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConsistentRead {
    /// The cache answered.
    FromCache,
    /// The cache did not catch up, so the store answered.
    FellBack,
    /// Neither the cache nor the store answered.
    Failed,
}

impl Counters {
    /// Counts a list that the cache answered, with the numbers of objects visited and returned.
    pub(super) fn cache_list(&mut self, resource: &Resource, fetched: usize, returned: usize) {
        let indexed = format!("{},index=\"\"", labels(resource));
        self.add("apiserver_cache_list_total", indexed.clone(), 1);
        self.add("apiserver_cache_list_fetched_objects_total", indexed, fetched);
        self.add("apiserver_cache_list_returned_objects_total", labels(resource), returned);
    }

    /// Counts a list that reached the store, with the numbers of objects read, evaluated and returned.
    pub(super) fn storage_list(&mut self, resource: &Resource, fetched: usize, evaluated: usize, returned: usize) {
        self.add("apiserver_storage_list_total", labels(resource), 1);
        self.add("apiserver_storage_list_fetched_objects_total", labels(resource), fetched);
        self.add("apiserver_storage_list_evaluated_objects_total", labels(resource), evaluated);
        self.add("apiserver_storage_list_returned_objects_total", labels(resource), returned);
    }

    /// Counts requests of one operation to the store. The number of recorded durations is the same. Older servers have only that
    /// metric.
    pub(super) fn etcd(&mut self, resource: &Resource, operation: &str, requests: usize) {
        let labels = format!("{},operation=\"{operation}\"", labels(resource));
        self.add("etcd_request_duration_seconds_count", labels.clone(), requests);
        self.add("etcd_requests_total", labels, requests);
    }

    /// Counts a watch of the store as one gRPC message that was sent. kube-apiserver does not count such watches by resource.
    pub(super) fn store_watch(&mut self) {
        let labels = "grpc_method=\"Watch\",grpc_service=\"etcdserverpb.Watch\",grpc_type=\"bidi_stream\"";
        self.add("grpc_client_msg_sent_total", labels.to_owned(), 1);
    }

    /// Counts initial events that a cache made for a watch.
    pub(super) fn initial_events(&mut self, resource: &Resource, events: usize) {
        if events > 0 {
            self.add("apiserver_init_events_total", labels(resource), events);
        }
    }

    /// Counts a request for the current revision, which kube-apiserver counts as a get and as a list.
    pub(super) fn current_revision(&mut self, resource: &Resource) {
        self.etcd(resource, "get", 1);
        self.storage_list(resource, 0, 0, 0);
    }

    /// Counts a consistent read by its outcome.
    pub(super) fn consistent_read(&mut self, resource: &Resource, outcome: ConsistentRead) {
        let (success, fallback) = match outcome {
            ConsistentRead::FromCache => (true, false),
            ConsistentRead::FellBack => (true, true),
            ConsistentRead::Failed => (false, true),
        };
        let labels = format!("{},fallback=\"{fallback}\",success=\"{success}\"", labels(resource));
        self.add("apiserver_watch_cache_consistent_read_total", labels, 1);
    }

    /// Counts that a cache was filled.
    pub(super) fn cache_filled(&mut self, resource: &Resource) {
        self.add("apiserver_watch_cache_initializations_total", labels(resource), 1);
        self.etcd(resource, "list", 1);
        self.storage_list(resource, 0, 0, 0);
        self.store_watch();
    }

    /// Counts an event of a resource, and the watches that it was dispatched to.
    pub(super) fn dispatched(&mut self, resource: &Resource, watches: usize) {
        self.add("apiserver_watch_cache_events_received_total", labels(resource), 1);
        self.add("apiserver_watch_cache_events_dispatched_total", labels(resource), watches);
    }

    /// Counts watches that the server ended because their client was too slow.
    pub(super) fn terminated_watches(&mut self, resource: &Resource, watches: usize) {
        self.add("apiserver_terminated_watchers_total", labels(resource), watches);
    }

    /// Counts an answered request.
    pub(super) fn request(&mut self, verb: Verb, resource: &Resource, subresource: &str, code: u16) {
        let verb = match verb {
            Verb::Create => "POST".to_owned(),
            Verb::Update => "PUT".to_owned(),
            Verb::Get
            | Verb::List
            | Verb::Watch
            | Verb::Patch
            | Verb::Delete
            | Verb::DeleteCollection
            | Verb::Proxy
            | Verb::Other => verb.as_str().to_ascii_uppercase(),
        };
        let labels = format!(
            "code=\"{code}\",group=\"{}\",resource=\"{}\",subresource=\"{subresource}\",verb=\"{verb}\",version=\"{}\"",
            resource.group, resource.name, resource.version
        );
        self.add("apiserver_request_total", labels, 1);
    }

    /// Formats the counters and `gauges`, which are current values, in Prometheus' text format.
    pub(super) fn text(&self, gauges: &[(&'static str, String, u64)]) -> String {
        let mut all: BTreeMap<(&str, &str), u64> =
            self.series.iter().map(|((name, labels), value)| ((*name, labels.as_str()), *value)).collect();
        all.extend(gauges.iter().map(|(name, labels, value)| ((*name, labels.as_str()), *value)));
        let mut text = String::new();
        let mut last = "";
        for ((name, labels), value) in all {
            if name != last {
                let (family, kind) = match name.strip_suffix("_count") {
                    Some(family) => (family, "summary"),
                    None => (name, if name.ends_with("_total") { "counter" } else { "gauge" }),
                };
                // Writing to a String cannot fail.
                let _written = writeln!(text, "# TYPE {family} {kind}");
                last = name;
            }
            let _written = writeln!(text, "{name}{{{labels}}} {value}");
        }
        text
    }

    fn add(&mut self, name: &'static str, labels: String, count: usize) {
        let is_new = !self.series.contains_key(&(name, labels.clone()));
        if is_new && self.series.len() >= MOST_SERIES {
            return;
        }
        let value = self.series.entry((name, labels)).or_default();
        *value = value.saturating_add(count as u64);
    }
}

/// The labels of a resource: `group="apps",resource="deployments"`.
pub(super) fn labels(resource: &Resource) -> String {
    format!("group=\"{}\",resource=\"{}\"", resource.group, resource.name)
}
